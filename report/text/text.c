/* Writes the report for people, one block per bug:
 *
 *	app.c:41: missing-flush: this store is never flushed; the later fence does not help
 *	    40 | 	n->value = v;
 *	    41 | 	n->next = head;
 *	       | 	        ^
 *	  store at update (app.c:41)
 *	        by main (app.c:77)
 *	  Write the line back (clwb, pmem_flush) after the store and before the fence.
 *	  seen 12 times, first at event 17; id 8f3c5d0a12b4c6e8
 *
 * Columns are counted as characters, so a caret below East Asian text may stand too far left. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/text.h"
#include "util/str.h"

#define EXCERPT_BEFORE 1      /* lines shown above the line of the bug, and */
#define EXCERPT_VERBOSE 2     /* with --verbose */
#define EXCERPT_MAX_BYTES 200 /* per line; generated sources have very long ones */
#define OBJECTS_SHOWN 5
#define PATHS_SHOWN 4 /* per bug, besides the first */
#define SCHEDULES_SHOWN 8

enum style { STYLE_PLACE, STYLE_ERROR, STYLE_WARNING, STYLE_CARET, STYLE_DIM };

static void style_begin(const struct text *t, enum style s)
{
	static const char *const sequence[] = {
		[STYLE_PLACE] = "\33[1m",      [STYLE_ERROR] = "\33[1;31m",
		[STYLE_WARNING] = "\33[1;35m", [STYLE_CARET] = "\33[1;32m",
		[STYLE_DIM] = "\33[2m",
	};

	if (t->o->colour)
		fputs(sequence[s], t->f);
}

static void style_end(const struct text *t)
{
	if (t->o->colour)
		fputs("\33[0m", t->f);
}

static void put_kind(const struct text *t, const struct bug *b)
{
	style_begin(t, b->severity == BUG_CORRECTNESS ? STYLE_ERROR : STYLE_WARNING);
	text_put(t, b->kind);
	style_end(t);
	fputs(": ", t->f);
	text_put(t, b->message);
	putc('\n', t->f);
}

static void put_title(const struct text *t, const struct bug *b)
{
	const struct bug_frame *frame = bug_frame(b);

	style_begin(t, STYLE_PLACE);
	if (!frame || !text_place(t, frame))
		fputs("??", t->f);
	fputs(": ", t->f);
	style_end(t);
	put_kind(t, b);
}

/* Prints blanks as wide as the first n bytes of the line. Tabs stay tabs, so that any tab stops
 * give the right place. */
static void put_indent(const struct text *t, const char *line, size_t n)
{
	size_t len, columns;

	for (; n; line += len, n -= len) {
		len = escape_utf8_len(line, n);
		len = len ? len : 1;
		columns = escape_text(NULL, line, len);
		if (*line == '\t')
			putc('\t', t->f);
		else
			fprintf(t->f, "%*s", (int)columns, "");
	}
}

static void put_caret(const struct text *t, const char *line, size_t len, uint32_t column)
{
	size_t n = column && column <= len ? column - 1 : 0;

	if (n == 0) /* the column is unknown, or belongs to another version of the file */
		while (n < len && (line[n] == ' ' || line[n] == '\t'))
			n++;
	if (n >= len)
		return;
	style_begin(t, STYLE_DIM);
	fprintf(t->f, "%6s |", "");
	style_end(t);
	putc(' ', t->f);
	put_indent(t, line, n);
	style_begin(t, STYLE_CARET);
	putc('^', t->f);
	style_end(t);
	putc('\n', t->f);
}

/* Prints the line that the report has kept, as the source file cannot be read. */
static void put_kept_line(const struct text *t, const struct bug_frame *frame)
{
	if (!frame->text)
		return;
	style_begin(t, STYLE_DIM);
	fprintf(t->f, "%6" PRIu32 " |", frame->line);
	style_end(t);
	putc(' ', t->f);
	text_put(t, frame->text);
	putc('\n', t->f);
}

/* Prints the source line of a location. The first location also gets the lines around it and a
 * caret. */
static void put_excerpt(const struct text *t, const struct bug_frame *frame, bool is_first)
{
	const uint32_t before = !is_first ? 0 : t->o->verbose ? EXCERPT_VERBOSE : EXCERPT_BEFORE;
	uint32_t first, n;
	size_t len;

	if (!frame || !frame->file)
		return;
	if (!source_line(t->r->sources, frame->file, frame->line, &len)) {
		put_kept_line(t, frame);
		return;
	}
	first = frame->line > before ? frame->line - before : 1;
	for (n = first; n <= frame->line; n++) {
		const char *line = source_line(t->r->sources, frame->file, n, &len);

		len = len < EXCERPT_MAX_BYTES ? len : EXCERPT_MAX_BYTES;
		style_begin(t, STYLE_DIM);
		fprintf(t->f, "%6" PRIu32 " |", n);
		style_end(t);
		if (len)
			putc(' ', t->f);
		escape_text(t->f, line, len);
		putc('\n', t->f);
		if (n == frame->line && (is_first || t->o->verbose))
			put_caret(t, line, len, frame->column);
	}
}

static void put_platforms(const struct text *t, const struct bug *b)
{
	char *text = platforms_text(t->r, b);

	if (text) {
		fputs("  ", t->f);
		text_put(t, text);
		putc('\n', t->f);
		free(text);
	}
}

/* Prints in one line a finding that recovery does not rely on. is_first: a heading for all of them
 * comes first. */
static void put_last(const struct text *t, const struct bug *b, bool is_first)
{
	if (is_first && !t->o->quiet)
		fputs("This recovery did not read these in these runs (for example locks, counters or links that it rebuilds):\n",
		      t->f);
	put_title(t, b);
}

static void put_sentence(const struct text *t, const char *before, const char *text)
{
	fprintf(t->f, "  %s", before);
	text_put(t, text);
	fputs(".\n", t->f);
}

/* Prints why the finding is only a warning, and what was not decided. */
static void put_doubts(const struct text *t, const struct bug *b)
{
	if (b->reason)
		put_sentence(t, "Only a warning: ", b->reason);
	if (b->undecided_by)
		put_sentence(t,
			     "Not decided: it depends on a file that crash states do not follow, ",
			     b->undecided_by);
	if (b->may_share_cause[0])
		put_sentence(t, "It may have the same cause as finding ", b->may_share_cause);
}

static bool is_same_consequence(const struct bug *a, const struct bug *b)
{
	const struct bug_frame *x = bug_frame(a), *y = bug_frame(b);

	return a->takes_all == b->takes_all && strcmp(a->kind, b->kind) == 0 &&
	       strcmp(a->message, b->message) == 0 && (x == y || bug_is_same_line(x, y));
}

/* Counts the consequences that look like this one, which is the first of them; 0: it is not the
 * first. */
static size_t count_alike(const struct bug *b, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < b->nconsequences; k++)
		if (is_same_consequence(&b->consequences[i], &b->consequences[k])) {
			if (k < i)
				return 0;
			n++;
		}
	return n;
}

static void put_consequence(const struct text *t, const struct bug *b, size_t ntimes)
{
	const struct bug_frame *frame = bug_frame(b);

	fputs("    ", t->f);
	if (!frame || !text_place(t, frame))
		fputs("??", t->f);
	fputs(": ", t->f);
	text_put(t, b->kind);
	fputs(": ", t->f);
	text_put(t, b->message);
	if (ntimes > 1)
		fprintf(t->f, " (%zu times)", ntimes);
	putc('\n', t->f);
}

/* Prints one line for each consequence, or for all that look the same: it vanishes with its cause,
 * or with all causes. */
static void put_consequences(const struct text *t, const struct bug *b)
{
	/* the window says it all */
	if (bug_has_window(b) && !t->o->verbose)
		return;
	for (int takes_all = 0; takes_all < 2; takes_all++) {
		const size_t n = bug_nconsequences(b, takes_all);

		if (n)
			fprintf(t->f, "  %s %zu more finding%s:\n", bug_explains(takes_all), n,
				n == 1 ? "" : "s");
		for (size_t i = 0; i < b->nconsequences; i++) {
			const size_t nalike =
				b->consequences[i].takes_all == takes_all ? count_alike(b, i) : 0;

			if (nalike)
				put_consequence(t, &b->consequences[i], nalike);
		}
	}
}

/* Prints the column of the path's store, if the path has another store of the same line than the
 * bug. */
static void put_other_column(const struct text *t, const struct bug *b, const struct bug_path *p)
{
	const struct bug_frame *own = b->nlocations ? bug_location_frame(&b->locations[0]) : NULL,
			       *other = own ? bug_location_frame(&p->locations[0]) : NULL;

	if (other && other->column != own->column)
		fprintf(t->f, " at column %" PRIu32, other->column);
}

/* Prints how recovery ends on the states of this path, if it ends in another way or in another
 * function than for the bug. */
static void put_other_end(const struct text *t, const struct bug *b, const struct bug_path *p)
{
	const char *function;

	if (!b->crash || !p->crash || !b->crash->outcome || !p->crash->outcome)
		return;
	function = text_death(t, p->crash);
	if (strcmp(b->crash->outcome, p->crash->outcome) != 0) {
		fputs(": ", t->f);
		text_put(t, p->crash->outcome);
	} else if (function && text_death(t, b->crash) &&
		   strcmp(function, text_death(t, b->crash)) != 0) {
		fputs(": recovery dies in ", t->f);
		text_put(t, function);
	}
}

static void put_paths(const struct text *t, const struct bug *b)
{
	size_t i;

	for (i = 1; i < b->npaths && i <= PATHS_SHOWN; i++) {
		const struct bug_path *p = &b->paths[i];

		fputs("  also", t->f);
		put_other_column(t, b, p);
		if (b->nlocations)
			text_callers(t, &p->locations[0]);
		if (p->count > 1)
			fprintf(t->f, ", %" PRIu64 " times", p->count);
		put_other_end(t, b, p);
		putc('\n', t->f);
	}
	if (i < b->npaths)
		fprintf(t->f, "  and by %zu more call paths\n", b->npaths - i);
}

/* Names the first schedules that show the bug, and the trace of one. */
static void put_schedules(const struct text *t, const struct bug_schedules *s)
{
	fputs(s->n == 1 ? "  in schedule " : "  in schedules ", t->f);
	for (size_t i = 0; i < s->n && i < SCHEDULES_SHOWN; i++)
		fprintf(t->f, "%s%" PRIu32, i ? ", " : "", s->seen[i]);
	if (s->n > SCHEDULES_SHOWN)
		fprintf(t->f, " and %zu more", s->n - SCHEDULES_SHOWN);
	if (s->trace) {
		fputs("; trace: ", t->f);
		text_put(t, s->trace);
	}
	putc('\n', t->f);
}

/* Prints what follows the title. has_line: the source line was printed already, by an earlier
 * finding of the line. */
static void put_body(const struct text *t, const struct bug *b, bool has_line)
{
	const char *advice = report_advice(t->r, b);
	size_t i;

	for (i = 0; i < b->nlocations; i++) {
		if (i > 0 || !has_line)
			put_excerpt(t, bug_location_frame(&b->locations[i]), i == 0);
		text_stack(t, b->locations, i);
	}
	put_paths(t, b);
	if (b->crash)
		text_crash(t, b->crash);
	if (b->schedules)
		put_schedules(t, b->schedules);
	if (b->input) {
		fputs("  input: ", t->f);
		text_put(t, b->input->file);
		fputs("\n  again: ", t->f);
		text_put(t, b->input->command);
		putc('\n', t->f);
	}
	if (advice) {
		fputs("  ", t->f);
		text_put(t, advice);
		putc('\n', t->f);
	}
	put_platforms(t, b);
	put_doubts(t, b);
	put_consequences(t, b);
	style_begin(t, STYLE_DIM);
	if (b->count > 1)
		fprintf(t->f, "  seen %" PRIu64 " times", b->count);
	else
		fputs("  seen once", t->f);
	if (b->first_seq)
		fprintf(t->f, ", %sat event %" PRIu64, b->count > 1 ? "first " : "", b->first_seq);
	fprintf(t->f, "; id %s", b->id);
	style_end(t);
	putc('\n', t->f);
}

/* Prints all findings of a line, beginning with the first. */
static void put_entry(const struct text *t, const struct report_spot *spots, size_t i)
{
	for (size_t k = i; k != SIZE_MAX; k = spots[k].next) {
		const struct bug *b = report_bug(t->r, k);

		if (k == i || t->o->quiet) {
			put_title(t, b);
		} else {
			fputs("and ", t->f);
			put_kind(t, b);
		}
		if (!t->o->quiet)
			put_body(t, b, k != i);
	}
	if (!t->o->quiet)
		putc('\n', t->f);
}

static bool is_packaged(const char *object)
{
	return strncmp(object, "/usr/lib", 8) == 0 || strncmp(object, "/lib", 4) == 0 ||
	       strncmp(object, "/usr/bin", 8) == 0;
}

/* Does the report show a line of this file? Then the file has debug information, but not for all
 * that was linked into it, such as a standard library; -g does not change that. */
static bool has_lines(const struct report *r, const char *object)
{
	for (size_t i = 0; i < report_nbugs(r); i++) {
		const struct bug *b = report_bug(r, i);

		for (size_t k = 0; k < b->nlocations; k++)
			for (size_t j = 0; j < b->locations[k].nframes; j++) {
				const struct bug_frame *f = &b->locations[k].frames[j];

				if (f->object && f->line && strcmp(f->object, object) == 0)
					return true;
			}
	}
	return false;
}

/* Prints, if bugs have no line, which files lack debug info, and what to do. */
static void put_hint(const struct text *t)
{
	VEC(const char *) objects = { 0 };
	bool some_packaged = false, some_own = false;
	size_t i, k;

	for (i = 0; i < report_nbugs(t->r); i++) {
		const struct bug_frame *frame = bug_frame(report_bug(t->r, i));

		if (!frame || (frame->file && frame->line) || !frame->object)
			continue;
		for (k = 0; k < objects.n && strcmp(objects.at[k], frame->object) != 0; k++)
			;
		if (k == objects.n && !has_lines(t->r, frame->object))
			*vec_add(&objects) = frame->object;
	}
	for (k = 0; k < objects.n; k++) {
		some_packaged |= is_packaged(objects.at[k]);
		some_own |= !is_packaged(objects.at[k]);
	}
	for (k = 0; k < objects.n && k < OBJECTS_SHOWN; k++) {
		fputs(k ? ", " : "No source lines for ", t->f);
		text_put(t, path_below(objects.at[k], t->o->cwd));
	}
	if (objects.n > OBJECTS_SHOWN)
		fprintf(t->f, " and %zu more", objects.n - OBJECTS_SHOWN);
	if (objects.n)
		fprintf(t->f,
			": no debug information, or built again after the recording. To see them, %s%s%s, then record again.\n",
			some_own ? "compile with -g" : "", some_own && some_packaged ? " or " : "",
			some_packaged ? "install the -dbgsym packages" : "");
	vec_release(&objects);
}

/* Prints one line for each unflushed store; they are no bugs. */
static void put_unflushed(const struct text *t)
{
	for (size_t i = 0; i < report_nunflushed(t->r); i++) {
		const struct bug *b = report_unflushed(t->r, i);
		const struct bug_frame *frame = bug_frame(b);

		if (i == 0)
			fprintf(t->f, "%s:\n", ending_unflushed(t->r));
		fputs("  ", t->f);
		if (!frame || !text_place(t, frame))
			fputs("??", t->f);
		fputs(": ", t->f);
		text_put(t, b->message);
		if (b->count > 1)
			fprintf(t->f, ", %" PRIu64 " times", b->count);
		putc('\n', t->f);
	}
}

static void put_ending(const struct text *t)
{
	if (!t->r->has_ending)
		return;
	text_put(t, t->r->ending.text);
	fputs(".\n", t->f);
	put_unflushed(t);
}

/* Prints a decimal number; a very long one is shortened. */
static void put_count(const struct text *t, const char *decimal)
{
	size_t n = strlen(decimal);

	if (n > 15)
		fprintf(t->f, "about %c.%ce%zu", decimal[0], decimal[1], n - 1);
	else
		text_put(t, decimal);
}

static void put_folded(const struct text *t)
{
	for (size_t i = 0; i < t->r->folded.n; i++) {
		char *text = folded_text(&t->r->folded.at[i]);

		text_put(t, text);
		fputs(".\n", t->f);
		free(text);
	}
}

static void put_wrappers(const struct text *t)
{
	char *text = wrappers_text(t->r);

	if (!text)
		return;
	text_put(t, text);
	fputs(".\n", t->f);
	free(text);
}

/* Prints "2 bugs, 1 performance note". Only correctness findings are called bugs. */
static void put_tally(const struct text *t)
{
	static const char *const words[BUG_SEVERITIES] = { "bug", "performance note",
							   "porting note", "warning" };
	const size_t nunread = report_count_unread(t->r);

	if (report_nbugs(t->r) == 0) {
		fputs("No bugs found", t->f);
		return;
	}
	for (enum bug_severity s = BUG_CORRECTNESS; s < BUG_SEVERITIES; s++) {
		const size_t n = report_count(t->r, s) - (s == BUG_CORRECTNESS ? nunread : 0);

		if (n || s == BUG_CORRECTNESS)
			fprintf(t->f, "%s%zu %s%s", s ? ", " : "", n, words[s], n == 1 ? "" : "s");
	}
	if (nunread)
		fprintf(t->f, ", and %zu that this recovery did not read in these runs", nunread);
}

static void put_windows(FILE *f, const struct report_coverage *c)
{
	uint64_t tenths;

	if (!c->runs || !c->shared_runs)
		return;
	tenths = (10 * (c->runs + c->shared_runs) + c->runs / 2) / c->runs;
	fprintf(f, "One recovery run stands for %" PRIu64 ".%" PRIu64 " failure points.\n",
		tenths / 10, tenths % 10);
}

static void put_summary(const struct text *t)
{
	const struct report_coverage *c = &t->r->coverage;
	char *depth = depth_text(c), *platform = platform_text(t->r);

	put_tally(t);
	if (t->r->nsuppressed || t->r->nknown)
		fprintf(t->f, " (hidden: %zu suppressed, %zu in the baseline)", t->r->nsuppressed,
			t->r->nknown);
	if (t->r->nlesser)
		fprintf(t->f, " (hidden by --severity: %zu)", t->r->nlesser);
	for (size_t i = 0; i < t->r->platforms.n; i++) {
		fputs(i ? ", " : ", on ", t->f);
		text_put(t, t->r->platforms.at[i]);
	}
	if (platform && !t->r->platforms.n) {
		fputs(", on ", t->f);
		text_put(t, platform);
	}
	free(platform);
	if (t->r->has_coverage)
		fprintf(t->f, ", in %" PRIu64 " events", c->events);
	if (c->inputs)
		fprintf(t->f, " of runs on %" PRIu64 " inputs", c->inputs);
	if (c->schedules.recorded)
		fprintf(t->f, " %s %" PRIu64 " schedules", c->inputs ? "under" : "of",
			c->schedules.different);
	if (c->runs)
		fprintf(t->f, " and %" PRIu64 " recovery runs at %" PRIu64 " failure points",
			c->runs, c->failure_points);
	if (c->states && c->states_all) {
		fputs(", which stand for ", t->f);
		if (strcmp(c->states, c->states_all) == 0) {
			fputs("all", t->f);
		} else {
			put_count(t, c->states);
			fputs(" of ", t->f);
			put_count(t, c->states_all);
		}
		fputs(" crash states", t->f);
	}
	fputs(".\n", t->f);
	put_windows(t->f, c);
	if (depth) {
		text_put(t, depth);
		fputs(".\n", t->f);
	}
	free(depth);
	if ((report_count(t->r, BUG_CORRECTNESS) == 0 || c->not_asked) &&
	    report_not_covered(t->r)) {
		text_put(t, report_not_covered(t->r));
		fputs(".\n", t->f);
	}
	put_folded(t);
	put_wrappers(t);
	if (c->attributed_without_run)
		fprintf(t->f,
			"Counted for a finding without a run to prove it: %" PRIu64
			" failing states that lose and keep the same stores, and end in the same way.\n",
			c->attributed_without_run);
	if (c->note) {
		text_put(t, c->note);
		fputs(".\n", t->f);
	}
	if (t->r->has_coverage && !c->is_complete) {
		fputs("The analysis is incomplete", t->f);
		if (c->why_incomplete) {
			fputs(": ", t->f);
			text_put(t, c->why_incomplete);
		}
		fputs(".\n", t->f);
	}
}

void report_text_bug(FILE *f, const struct report *r, const struct report_options *o,
		     const struct bug *b)
{
	const struct text t = { f, r, o };

	put_title(&t, b);
	if (o->quiet)
		return;
	put_body(&t, b, false);
	putc('\n', f);
}

void report_text_summary(FILE *f, const struct report *r, const struct report_options *o)
{
	const struct text t = { f, r, o };

	put_hint(&t);
	put_ending(&t);
	put_summary(&t);
}

static void put_failure(const struct text *t)
{
	fputs("It failed: ", t->f);
	text_put(t, t->r->failure.text);
	fputs(".\n", t->f);
}

/* Prints each test as if it had run alone, then a line for each. */
static void put_tests(FILE *f, const struct report *r, const struct report_options *o)
{
	for (size_t i = 0; i < r->tests.n; i++) {
		const struct text t = { f, r->tests.at[i], o };

		if (!o->quiet) {
			style_begin(&t, STYLE_PLACE);
			fprintf(f, "== test ");
			text_put(&t, t.r->project.test);
			fputs(" ==\n", f);
			style_end(&t);
		}
		if (t.r->has_coverage || !t.r->failure.what)
			report_text(f, t.r, o);
		else if (!o->quiet)
			put_failure(&t);
		if (!o->quiet)
			putc('\n', f);
	}
	for (size_t i = 0; i < r->tests.n && !o->quiet; i++) {
		const struct text t = { f, r->tests.at[i], o };

		text_put(&t, t.r->project.test);
		fputs(": ", f);
		if (report_nbugs(t.r) || !t.r->failure.what) {
			put_tally(&t);
			fputs(t.r->failure.what ? ". " : ".\n", f);
		}
		if (t.r->failure.what)
			put_failure(&t);
	}
}

static void put_findings(const struct text *t)
{
	struct report_spot *spots = report_spots(t->r);
	bool is_last, was_last = false;

	for (size_t i = 0; i < report_nbugs(t->r); i++, was_last = is_last) {
		is_last = bug_is_last(report_bug(t->r, i));
		if (was_last && !is_last && !t->o->quiet)
			putc('\n', t->f);
		if (is_last)
			put_last(t, report_bug(t->r, i), !was_last);
		else if (spots[i].is_first)
			put_entry(t, spots, i);
	}
	if (was_last && !t->o->quiet)
		putc('\n', t->f);
	free(spots);
}

void report_text(FILE *f, const struct report *r, const struct report_options *o)
{
	const struct text t = { f, r, o };

	if (r->tests.n) {
		put_tests(f, r, o);
		return;
	}
	put_findings(&t);
	if (!o->quiet)
		report_text_summary(f, r, o);
}
