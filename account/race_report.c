/* Turns unsafe reads of recovery into bugs of a report, or into evidence for a failing state that
 * lost the same store. A pair of a reading line and a storing line is one bug, whatever function
 * called them. */
#include "account/race_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "crash/setup/crash_command.h"
#include "account/race_text.h"
#include "account/recovery_symbols.h"
#include "crash/states/plan.h"

#define NOTED_MAX 8

static bool is_bug(const struct race *r)
{
	return r->state == RACE_BUG || r->state == RACE_UNKNOWN;
}

/* Is the race only a warning, because it is unknown whether recovery uses the data? */
static bool is_warning(const struct race *r)
{
	return r->kind == RACE_UNINITIALISED && r->state == RACE_UNTRIED;
}

bool race_report_has_bugs(const struct crash_result *c)
{
	for (size_t i = 0; i < c->races.n; i++)
		if (is_bug(&c->races.at[i]))
			return true;
	return false;
}

/* ---- the reader ---- */

typedef VEC(struct frame) frame_list;

/* Finds the frames of the reader. is_whole: its whole stack; otherwise as much as is needed to see
 * which frame is shown. */
static size_t find_reader(const struct crash_account *t, const struct race *r, bool is_whole,
			  frame_list *out)
{
	for (size_t i = 0;
	     i < r->stack.n && (is_whole || !locate_has_shown(t->locator, out->at, out->n)); i++) {
		const struct symbol *list;
		size_t n = recovery_symbols(t->result, r->part, t->symbols, r->stack.at[i], i > 0,
					    &list);

		for (size_t k = 0; k < n; k++)
			*vec_add(out) = (struct frame){ .symbol = &list[k], .pc = r->stack.at[i] };
	}
	return out->n ? locate_shown(t->locator, out->at, out->n) : 0;
}

/* Gives a place as text, for example "main.c:14 (recover)"; free() it. */
static char *place_text(const struct symbol *s)
{
	const char *slash = s->file ? strrchr(s->file, '/') : NULL;

	if (!s->file)
		return xasprintf("%s+0x%" PRIx64, s->object ? s->object : "?", s->offset);
	return xasprintf("%s:%" PRIu32 "%s%s%s", slash ? slash + 1 : s->file, s->line,
			 s->function ? " (" : "", s->function ? s->function : "",
			 s->function ? ")" : "");
}

static char *reader_text(const struct crash_account *t, const struct race *r)
{
	frame_list frames = { 0 };
	size_t shown = find_reader(t, r, false, &frames);
	char *text = frames.n ? place_text(frames.at[shown].symbol) : xstrdup("?");

	vec_release(&frames);
	return text;
}

/* ---- races for stores that failing states lost ---- */

static bool same_line(const struct crash_account *t, uint32_t a, uint32_t b)
{
	const struct frame *x, *y;
	struct symbol first;

	if (a == b)
		return true;
	x = locate(t->locator, plan_site(t->plan, a));
	if (!x)
		return false;
	first = *x->symbol;
	y = locate(t->locator, plan_site(t->plan, b));
	return y && first.line && first.line == y->symbol->line && first.file && y->symbol->file &&
	       strcmp(first.file, y->symbol->file) == 0;
}

/* Does the failing state lose what the race is for? Data that is uncommitted or stale may also have
 * survived in it. */
static bool is_same_loss(const struct crash_account *t, const struct race *r,
			 const struct crash_bug *b)
{
	for (size_t i = 0; i < b->lost.n; i++)
		if (same_line(t, b->lost.at[i].site, r->store.site))
			return true;
	for (size_t i = 0; race_is_semantic(r) && i < b->survived.n; i++)
		if (same_line(t, b->survived.at[i].site, r->store.site))
			return true;
	return false;
}

static char *stored_text(const struct crash_account *t, const struct race *r)
{
	const struct frame *store = locate(t->locator, plan_site(t->plan, r->store.site));

	return store ? place_text(store->symbol) : xstrdup("?");
}

char *race_report_evidence(const struct crash_account *t, const struct crash_bug *b)
{
	const struct crash_result *c = t->result;
	bool is_told[2] = { false, false }; /* tell one race, and one read of inconsistent data */
	char *text = NULL;

	for (size_t i = 0; i < c->races.n; i++) {
		const struct race *r = &c->races.at[i];
		char *reader, *longer, *what;

		if (!is_bug(r) || r->kind == RACE_UNINITIALISED || is_told[race_is_semantic(r)] ||
		    !is_same_loss(t, r, b))
			continue;
		is_told[race_is_semantic(r)] = true;
		reader = reader_text(t, r);
		what = stored_text(t, r);
		longer =
			race_is_semantic(r)
				? xasprintf(
					  "%s%srecovery reads what %s stored at %s, where it is %s by its commit variable",
					  text ? text : "", text ? "; " : "", what, reader,
					  r->kind == RACE_STALE ? "stale" : "uncommitted")
				: xasprintf("%s%srecovery reads it at %s, where it can be %s",
					    text ? text : "", text ? "; " : "", reader, r->values);
		free(reader);
		free(what);
		free(text);
		text = longer;
	}
	return text;
}

/* ---- bugs ---- */

typedef VEC(struct bug_frame) bug_frames;

static void add_frames(bug_frames *out, const struct frame *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct bug_frame *f = vec_add(out);

		*f = bug_frame_of(list[i].symbol);
		f->is_signal = list[i].is_signal;
	}
}

/* Gives the command that replays this read. Recovery did not fail, so the command lists its
 * choices. */
static char *show_command(const struct crash_setup *s, uint64_t point, const char *trace)
{
	static const char begin[] = "pmend crash";
	char *state = xasprintf("%" PRIu64, point), *plain = crash_command_replay(s, state, trace);
	char *command = xasprintf("%s --show-choices%s", begin, plain + strlen(begin));

	free(state);
	free(plain);
	return command;
}

/* Adds a place where the recorded program stored to the bug's locations. */
static void add_store(struct bug *b, struct bug_location *where, bug_frames *frames,
		      const char *role, const struct crash_account *t, struct crash_store at)
{
	const struct trace_site *site = plan_site(t->plan, at.site);
	const struct frame *list;
	size_t n = site ? locate_stack(t->locator, site, &list) : 0;

	if (n == 0)
		return;
	where[b->nlocations++] = (struct bug_location){ .role = role,
							.shown = locate_place(t->locator, list, n),
							.nframes = n,
							.seq = t->is_first ? at.seq : 0,
							.site = t->is_first ? at.site : 0 };
	where[b->nlocations - 1].nsetters =
		where[b->nlocations - 1].shown - locate_shown(t->locator, list, n);
	add_frames(frames, list, n);
}

static const char *kind_of(const struct race *r)
{
	if (r->is_porting)
		return "porting";
	return r->kind == RACE_UNDURABLE ? "cross-failure-race"
	       : race_is_semantic(r)     ? "cross-failure-semantic"
					 : "uninitialised-read";
}

static void add_race(const struct crash_account *t, const struct race *r, const char *values)
{
	char *command = show_command(t->setup, r->point, t->trace),
	     *message = race_message(t->plan, r, values);
	struct bug_crash crash = { .failure_point = r->point,
				   .outcome = r->outcome,
				   .replay = command,
				   .seq = t->is_first ? r->seq : 0 };
	frame_list reader = { 0 };
	bug_frames frames = { 0 };
	struct bug_location where[4] = { { .role = "read" } };
	struct bug b = { .kind = kind_of(r),
			 .severity = bug_kind_find(kind_of(r))->severity,
			 .message = message,
			 .count = r->count,
			 .first_seq = r->store.seq,
			 .locations = where,
			 .nlocations = 1,
			 .crash = &crash };
	size_t at = 0;

	if (is_warning(r)) {
		b.severity = BUG_WARNING;
		b.reason =
			"whether recovery uses these bytes is not known: the budget ended before it was run with others there, or it does not end twice in the same way";
	}
	where[0].shown = find_reader(t, r, true, &reader);
	where[0].nframes = reader.n;
	add_frames(&frames, reader.at, reader.n);
	add_store(&b, where, &frames, r->kind == RACE_UNINITIALISED ? "allocation" : "store", t,
		  r->store);
	if (r->commits[0].seq)
		add_store(&b, where, &frames, "commit", t, r->commits[0]);
	if (r->commits[1].seq)
		add_store(&b, where, &frames, "commit-before", t, r->commits[1]);
	for (size_t i = 0; i < b.nlocations; at += where[i++].nframes)
		where[i].frames = where[i].nframes ? frames.at + at : NULL;
	report_add(t->report, &b);
	vec_release(&frames);
	vec_release(&reader);
	free(command);
	free(message);
}

/* Are two races the same bug? A reading and a storing line are one bug, whoever calls them. */
static bool is_same_bug(const struct crash_account *t, const struct race *a, const struct race *b)
{
	char *x, *y;
	bool is_same;

	if ((a->kind == RACE_UNINITIALISED) != (b->kind == RACE_UNINITIALISED) ||
	    a->part != b->part || !same_line(t, a->store.site, b->store.site))
		return false;
	x = reader_text(t, a);
	y = reader_text(t, b);
	is_same = strcmp(x, y) == 0;
	free(x);
	free(y);
	return is_same;
}

/* Is a race with the same lines, but another caller, a bug? */
static bool is_bug_elsewhere(const struct crash_account *t, const struct race *r)
{
	for (size_t i = 0; i < t->result->races.n; i++)
		if (is_bug(&t->result->races.at[i]) && is_same_bug(t, r, &t->result->races.at[i]))
			return true;
	return false;
}

/* Adds one race as a bug, with all races that are the same bug; nothing if a failing state reports
 * it. */
static void add_once(const struct crash_account *t, size_t i, bool *is_told)
{
	const struct crash_result *c = t->result;
	struct race sum = c->races.at[i];
	const char *values = NULL;
	bool is_failure = false;

	is_told[i] = true;
	if (!is_bug(&sum) && (!is_warning(&sum) || is_bug_elsewhere(t, &sum)))
		return;
	for (size_t k = 0; k < c->bugs.n && !is_failure; k++)
		is_failure = is_same_loss(t, &sum, &c->bugs.at[k]);
	for (size_t k = 0; k < c->races.n; k++) {
		const struct race *r = &c->races.at[k];

		if (is_told[k] || is_warning(r) != is_warning(&sum) ||
		    (!is_bug(r) && !is_warning(r)) || !is_same_bug(t, &sum, r))
			continue;
		sum.is_porting &= r->is_porting;
		if (r->kind == RACE_UNDURABLE && race_is_semantic(&sum))
			values = r->values;
		else
			sum.count += r->count;
		is_told[k] = true;
	}
	if (!is_failure)
		add_race(t, &sum, values);
}

/* Adds the races that are bugs; those about inconsistent data come first. The report then also says
 * of such data that it may not be durable, because durability alone does not fix it. */
void race_report_add(const struct crash_account *t)
{
	const struct crash_result *c = t->result;
	bool *is_told = xcalloc(c->races.n + 1, sizeof *is_told);

	for (size_t i = 0; i < c->races.n; i++)
		if (race_is_semantic(&c->races.at[i]))
			add_once(t, i, is_told);
	for (size_t i = 0; i < c->races.n; i++)
		if (!is_told[i])
			add_once(t, i, is_told);
	free(is_told);
}

/* ---- races that are no bugs ---- */

typedef VEC(char *) texts;

/* Makes "(why) writer, read at reader"; NULL if there is nothing to note. */
static char *noted_text(const struct crash_account *t, const struct race *r)
{
	char *writer, *reader, *both;

	if (is_bug(r) || r->kind != RACE_UNDURABLE ||
	    !locate(t->locator, plan_site(t->plan, r->store.site)) || is_bug_elsewhere(t, r))
		return NULL;
	writer = stored_text(t, r);
	reader = reader_text(t, r);
	both = xasprintf("%s%s, read at %s",
			 r->state == RACE_CHECKSUM   ? "(verified as a whole) "
			 : r->state == RACE_HARMLESS ? "(without effect) "
			 : r->state == RACE_ATOMIC   ? "(one atomic store) "
						     : "",
			 writer, reader);
	free(writer);
	free(reader);
	return both;
}

/* Adds the text, which now belongs to the list. */
static void texts_add(texts *all, char *text)
{
	size_t k = 0;

	while (k < all->n && strcmp(all->at[k], text) != 0)
		k++;
	if (k == all->n)
		*vec_add(all) = text;
	else
		free(text);
}

static char *texts_join(const texts *all, const char *head)
{
	char *text = NULL;

	for (size_t i = 0; i < all->n; i++) {
		char *longer = xasprintf("%s%s%s", i ? text : head, i ? "; " : "", all->at[i]);

		free(text);
		text = longer;
	}
	return text;
}

char *race_report_note(const struct crash_result *c, const struct plan *p,
		       const struct libraries *libraries)
{
	struct crash_account t = { .plan = p,
				   .result = c,
				   .locator = locator_new(p->trace, libraries),
				   .symbols = symbols_new() };
	texts noted = { 0 };
	char *text;

	for (size_t i = 0; i < c->races.n && noted.n < NOTED_MAX; i++) {
		char *one = noted_text(&t, &c->races.at[i]);

		if (one)
			texts_add(&noted, one);
	}
	text = texts_join(
		&noted,
		"Reads taken as intended (inferred commit variables and others): stored at ");
	for (size_t i = 0; i < noted.n; i++)
		free(noted.at[i]);
	vec_release(&noted);
	symbols_free(t.symbols);
	locator_free(t.locator);
	return text;
}
