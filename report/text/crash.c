/* Prints what happened in a crash state: how recovery ended and what it printed last. If a dump
 * decided, prints the operation in flight, and where the dump differs from those before and after
 * it. */
#include <inttypes.h>
#include <string.h>

#include "report/text/text.h"

#define OUTPUT_LINES 3 /* of recovery's output, the last ones */
#define DIFFERENCES 2
#define LINES_SHOWN 2 /* per dump, in one difference */

/* Prints the last lines of the output, indented; with --verbose, all that was kept. */
static void put_output(const struct text *t, const char *s)
{
	size_t nlines = 0, skip;

	for (const char *p = s; *p; p += strcspn(p, "\n"), p += *p == '\n')
		nlines++;
	skip = !t->o->verbose && nlines > OUTPUT_LINES ? nlines - OUTPUT_LINES : 0;
	for (; *s; nlines--) {
		size_t n = strcspn(s, "\n");

		if (skip > 0) {
			skip--;
		} else {
			fputs("    ", t->f);
			escape_text(t->f, s, n);
			putc('\n', t->f);
		}
		s += n + (s[n] == '\n');
	}
}

/* Prints the lines of one dump at a difference. */
static void put_piece(const struct text *t, const char *name, const char *dump, const char *s)
{
	const int width = 8;

	fprintf(t->f, "    %*s ", -width, name);
	if (!s) {
		fputs(dump && !*dump ? "(an empty dump)\n" : "(no such line)\n", t->f);
		return;
	}
	for (unsigned i = 0; i == 0 || *s; i++) {
		size_t n = strcspn(s, "\n");

		if (i > 0)
			fprintf(t->f, "    %*s ", width, "");
		if (i == LINES_SHOWN && !t->o->verbose) {
			fputs("...\n", t->f);
			return;
		}
		if (n == 0)
			fputs("(an empty line)", t->f);
		escape_text(t->f, s, n);
		putc('\n', t->f);
		s += n + (s[n] == '\n');
	}
}

static void put_difference(const struct text *t, const struct bug_comparison *c,
			   const struct bug_difference *d, bool is_only)
{
	if (!is_only)
		fprintf(t->f, "    line %" PRIu32 ":\n", d->line);
	if (c->before)
		put_piece(t, c->after ? "before:" : "allowed:", c->before, d->before);
	if (c->after)
		put_piece(t, "after:", c->after, d->after);
	put_piece(t, "found:", c->found, d->found);
}

/* Prints 'Operation 3, "put" (annotated), was in flight.' */
static void put_operation(const struct text *t, const struct bug_comparison *c)
{
	if (!c->operation) {
		fputs("  No operation was in flight.", t->f);
		return;
	}
	fprintf(t->f, "  Operation %" PRIu64, c->operation);
	if (c->name) {
		fputs(", \"", t->f);
		text_put(t, c->name);
		putc('"', t->f);
	}
	fputs(c->is_assumed   ? " (assumed: what lies between two outputs of the program)"
	      : c->is_request ? " (assumed: what lies between a request and its answer)"
			      : " (annotated)",
	      t->f);
	if (c->nflying > 1)
		fprintf(t->f, " and %" PRIu64 " more were in flight.", c->nflying - 1);
	else
		fputs(" was in flight.", t->f);
}

static void put_comparison(const struct text *t, const struct bug_comparison *c)
{
	const size_t n = t->o->verbose || c->n < DIFFERENCES ? c->n : DIFFERENCES;

	put_operation(t, c);
	if (c->nallowed > 2)
		fprintf(t->f,
			" %" PRIu64 " states are allowed; the first and the last:", c->nallowed);
	putc('\n', t->f);
	for (size_t i = 0; i < n; i++)
		put_difference(t, c, &c->list[i], c->ndifferences == 1 && c->list[i].line == 1);
	if (c->ndifferences > n)
		fprintf(t->f, "    and %" PRIu64 " more difference%s\n", c->ndifferences - n,
			c->ndifferences - n == 1 ? "" : "s");
	if (c->ndifferences == 0 && c->before)
		fputs("    The dumps differ only in a part that pmend does not keep.\n", t->f);
	else if (c->ndifferences == 0 && c->found)
		put_output(t, c->found);
}

void text_crash(const struct text *t, const struct bug_crash *c)
{
	const struct bug_location died = { .role = "recovery",
					   .frames = c->frames,
					   .nframes = c->nframes };
	const bool has_output = c->output && *c->output && (!c->comparison || t->o->verbose);

	if (c->failure_point)
		fprintf(t->f, "  After a crash at failure point %" PRIu64, c->failure_point);
	else
		fputs("  Without a crash", t->f);
	if (c->command) {
		fputs(", ", t->f);
		text_put(t, c->command);
	}
	if (c->outcome) {
		fputs(": ", t->f);
		text_put(t, c->outcome);
	}
	fputs(has_output ? ". Its output ends with:\n" : ".\n", t->f);
	if (has_output)
		put_output(t, c->output);
	if (c->comparison)
		put_comparison(t, c->comparison);
	if (c->nframes)
		text_stack(t, &died, 0);
	if (c->endings) {
		fputs("  Recovery ends in several ways on states of this bug: ", t->f);
		text_put(t, c->endings);
		fputs(".\n", t->f);
	}
	if (c->torn)
		fprintf(t->f, "  %s.\n", bug_torn_text(c->torn));
	if (c->last_window && c->last_window == c->first_window)
		fprintf(t->f,
			"  Recovery fails at failure point %" PRIu64
			", also with nothing lost. From failure point %" PRIu64 " on it copes.\n",
			c->first_window, c->last_window + 1);
	else if (c->last_window)
		fprintf(t->f,
			"  Recovery fails at failure points %" PRIu64 " to %" PRIu64
			", also with nothing lost. From failure point %" PRIu64 " on it copes.\n",
			c->first_window, c->last_window, c->last_window + 1);
	if (c->varies)
		fputs("  " VARIES_TEXT ".\n", t->f);
	if (c->replay) {
		fputs("  replay: ", t->f);
		text_put(t, c->replay);
		putc('\n', t->f);
	}
}
