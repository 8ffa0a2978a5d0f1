/* Finds out what recovery does with the stores of durability bugs. The report lists those last on
 * which recovery does not rely: locks, counters that it computes again, links that it rebuilds. A
 * bug is identified by the event of its first occurrence. */
#include "account/ranking.h"

#include <string.h>

#include "check/usage.h"
#include "crash/indifferent.h"
#include "crash/marks.h"
#include "crash/uses.h"
#include "report/causes.h"
#include "util/map.h"

static bool is_about_durability(const struct bug *b)
{
	static const char *const kinds[] = { "missing-flush", "missing-fence",
					     "missing-flush-fence" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return true;
	return false;
}

static enum bug_use use_of(const struct bug *b, uint64_t first_seq, void *arg)
{
	const struct store_used *u = is_about_durability(b) ? uses_of(arg, first_seq) : NULL;

	if (!u)
		return BUG_USE_UNKNOWN;
	switch (u->use) {
	case STORE_UNTOUCHED: return BUG_USE_NONE;
	case STORE_OVERWRITTEN: return BUG_USE_OVERWRITES;
	case STORE_READ: return BUG_USE_READS;
	}
	return BUG_USE_UNKNOWN;
}

int ranking_tell(struct crash_setup *s, const char *trace, struct report *r, struct error *err)
{
	struct uses uses = { 0 };
	struct plan *p;
	int result;

	if (!report_has(r, is_about_durability))
		return 0;
	p = crash_setup_plan(s, trace, err);
	result = p ? uses_find(p, &s->options, &uses, err) : -1;
	if (result == 0)
		report_rank(r, use_of, &uses);
	uses_release(&uses);
	plan_free(p);
	return result;
}

/* ---- findings that are no bugs ---- */

typedef VEC(uint32_t) site_list;

static bool add_site(uint32_t site, void *arg)
{
	*vec_add((site_list *)arg) = site;
	return true;
}

static bool has_site(const site_list *sites, uint32_t site)
{
	for (size_t i = 0; i < sites->n; i++)
		if (sites->at[i] == site)
			return true;
	return false;
}

/* Lists all words to which the program stored at these places, at any time. */
static void list_stores(const struct plan *p, const site_list *sites, store_asked_list *out)
{
	struct trace *t = trace_cursor(p->trace);
	/* address → length of the last store there plus 1; another length is another word */
	struct map listed = { 0 };
	struct trace_event ev;

	while (trace_next(t, &ev)) {
		if (!trace_is_store(ev.kind) || !ev.site || !has_site(sites, ev.site->id) ||
		    (uintptr_t)map_get(&listed, ev.addr) == (uintptr_t)ev.data_len + 1)
			continue;
		map_set(&listed, ev.addr, (void *)((uintptr_t)ev.data_len + 1));
		*vec_add(out) = (struct store_asked){ ev.addr, ev.seq, (uint32_t)ev.data_len,
						      ev.site->id, STORE_UNTOUCHED };
	}
	map_release(&listed);
	trace_close(t);
}

static bool is_made(const struct map *made, const store_asked_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if ((uintptr_t)map_get(made, list->at[i].addr) < list->at[i].size_bytes)
			return false;
	return true;
}

static void note_made(struct map *made, const store_asked_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if ((uintptr_t)map_get(made, list->at[i].addr) < list->at[i].size_bytes)
			map_set(made, list->at[i].addr, (void *)(uintptr_t)list->at[i].size_bytes);
}

/* Does recovery make the data again? 1: no run read any of it while it could be lost, and the run
 * with nothing lost overwrites all of it before reading it. made: gets the words, address to
 * length. */
static int is_made_again(const struct crash_setup *s, const struct plan *p,
			 const struct crash_result *c, const site_list *sites, struct map *made,
			 struct error *err)
{
	store_asked_list list = { 0 };
	bool is_again, is_sound = false;
	int result = 0;

	list_stores(p, sites, &list);
	is_again = list.n > 0;
	for (size_t i = 0; i < list.n && is_again; i++)
		is_again =
			!counters_have_read(&c->counters, list.at[i].addr, list.at[i].size_bytes);
	if (is_again)
		result = uses_ask(p, &s->options, &list, &is_sound, err);
	for (size_t i = 0; i < list.n; i++)
		is_again &= list.at[i].use == STORE_OVERWRITTEN;
	if (is_again && is_sound)
		note_made(made, &list);
	vec_release(&list);
	return result < 0 ? -1 : is_again && is_sound;
}

static const char made_again[] =
	"recovery makes this data again: it stores all of it before it reads any, and no run read it where it may be lost";

/* Makes a finding about missing durability a warning if recovery makes its words again: they need
 * not be flushed then. */
static void judge_flush(const struct plan *p, struct report *r, size_t i, const struct map *made)
{
	const struct bug *b = report_draft(r, i);
	store_asked_list list = { 0 };
	site_list sites = { 0 };

	if (is_about_durability(b) && b->severity == BUG_CORRECTNESS && !b->crash &&
	    report_each_site(r, i, add_site, &sites))
		list_stores(p, &sites, &list);
	if (list.n > 0 && is_made(made, &list))
		report_demote(r, i, made_again, NULL);
	vec_release(&list);
	vec_release(&sites);
}

static bool is_mark(const struct bug *b, const site_list *sites, const struct marks *marks)
{
	if (b->reason)
		return strcmp(b->reason, usage_mark) == 0;
	for (size_t i = 0; i < sites->n; i++)
		if (!marks_clears(marks, sites->at[i]))
			return false;
	return is_about_durability(b) && !b->crash && sites->n > 0;
}

/* Judges a finding that is only suspected, if recovery can decide it. */
static int judge_draft(const struct crash_setup *s, const struct plan *p,
		       const struct crash_result *c, struct report *r, size_t i,
		       const site_list *sites, const struct marks *marks, struct map *made,
		       struct error *err)
{
	const struct bug *b = report_draft(r, i);
	enum indifference answer = INDIFFERENT_UNKNOWN;
	int result = 0;

	if (is_mark(b, sites, marks))
		result = indifferent_ask(p, &s->options, sites->at, sites->n, &answer, err);
	else if (c->knows_reads && strcmp(b->kind, "tx-store-outside") == 0)
		result = is_made_again(s, p, c, sites, made, err);
	if (result == 1 || (answer == INDIFFERENT_YES && c->bugs.n == 0))
		report_drop(r, i);
	else if (answer == INDIFFERENT_YES)
		report_demote(r, i, usage_mark, NULL);
	else if (answer == INDIFFERENT_NO)
		report_restore(r, i);
	return result < 0 ? -1 : 0;
}

/* ---- conclusions from all runs ---- */

struct reads_asked {
	const struct map *sites;
	bool is_read;
};

static bool ask_site(uint32_t site, void *arg)
{
	struct reads_asked *a = arg;

	a->is_read |= map_get(a->sites, site) != NULL;
	return true;
}

void ranking_settle(const struct crash_setup *s, const struct crash_result *c, struct report *r)
{
	/* after a second crash, recovery may read what the first recovery left alone, and its
	 * places belong to another program */
	const bool is_watched = c->is_watched && s->failures.n < 2;

	for (size_t i = 0; i < report_ndrafts(r); i++) {
		struct reads_asked a = { .sites = &c->reads.sites };

		if (report_each_site(r, i, ask_site, &a) && (a.is_read || is_watched))
			report_rank_explored(r, i, a.is_read, c->is_exhausted);
	}
}

/* ---- files that recovery rebuilds ---- */

/* Did recovery cut off this store, or a part of it, in every run? The part that is left may still
 * be used, so in that case no crash state may have failed. */
static bool is_cut_off(const struct crash_result *c, uint64_t addr, uint64_t len_bytes)
{
	const uint64_t file = PMT_FILE(addr), at = PMT_OFFSET(addr);
	const struct file_cuts *cuts = file < c->reads.files.n ? &c->reads.files.at[file] : NULL;

	return cuts && cuts->n > 0 && cuts->nreads == 0 && at + len_bytes > cuts->kept_bytes &&
	       (at >= cuts->kept_bytes || c->bugs.n == 0);
}

/* Finds places with a store that some run of recovery did not cut off, or that it read before
 * cutting the file. *files: for the other places, by site, the number of their file plus 1. */
static void find_uncut(const struct plan *p, const struct crash_result *c, struct map *uncut,
		       struct map *files)
{
	static const char is_uncut;
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	while (trace_next(t, &ev)) {
		if (!trace_is_store(ev.kind) || !ev.site)
			continue;
		if (is_cut_off(c, ev.addr, ev.data_len))
			map_set(files, ev.site->id, (void *)(uintptr_t)(PMT_FILE(ev.addr) + 1));
		else
			map_set(uncut, ev.site->id, (void *)&is_uncut);
	}
	trace_close(t);
}

struct rebuilt_asked {
	const struct map *uncut, *files;
	uint64_t file; /* 0: none */
};

static bool is_rebuilt(uint32_t site, void *arg)
{
	struct rebuilt_asked *a = arg;

	if (map_get(a->uncut, site) || !map_get(a->files, site))
		return false;
	a->file = (uint64_t)(uintptr_t)map_get(a->files, site) - 1;
	return true;
}

static const char *file_name(const struct plan *p, uint64_t file)
{
	const char *path = file < p->numbered.n ? p->numbered.at[file] : NULL,
		   *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "the file";
}

static bool has_cut(const struct crash_result *c)
{
	for (size_t i = 0; i < c->reads.files.n; i++)
		if (c->reads.files.at[i].n > 0)
			return true;
	return false;
}

void ranking_demote_rebuilt(const struct crash_setup *s, const struct plan *p,
			    const struct crash_result *c, struct report *r)
{
	struct map uncut = { 0 }, files = { 0 };

	if (!c->is_exhausted || !c->is_watched || s->failures.n > 1 || !has_cut(c))
		return;
	find_uncut(p, c, &uncut, &files);
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		const struct bug *b = report_draft(r, i);
		struct rebuilt_asked a = { &uncut, &files, 0 };
		char *why;

		if (b->crash || !is_about_durability(b) || !report_each_site(r, i, is_rebuilt, &a))
			continue;
		why = xasprintf(
			"recovery truncates or removes %s in every run, before it reads anything there that may be lost",
			file_name(p, a.file));
		report_demote(r, i, why, NULL);
		free(why);
	}
	map_release(&uncut);
	map_release(&files);
}

/* Judges a race for a mark that is cleared: the read is harmless if recovery ends the same with the
 * mark and without it. */
static int judge_race(const struct crash_setup *s, const struct plan *p,
		      const struct crash_result *c, struct report *r, size_t i,
		      const struct marks *marks, struct error *err)
{
	const struct bug *b = report_draft(r, i);
	const uint32_t site = b->nlocations == 2 ? b->locations[1].site : 0;
	enum indifference answer = INDIFFERENT_UNKNOWN;

	if (strcmp(b->kind, "cross-failure-race") != 0 || !site || !marks_clears(marks, site))
		return 0;
	if (indifferent_ask(p, &s->options, &site, 1, &answer, err) < 0)
		return -1;
	if (answer == INDIFFERENT_YES && c->bugs.n == 0)
		report_drop(r, i);
	else if (answer == INDIFFERENT_YES)
		report_demote(r, i, usage_mark, NULL);
	return 0;
}

int ranking_excuse(const struct crash_setup *s, const struct plan *p, const struct crash_result *c,
		   struct report *r, struct error *err)
{
	/* marks are tried on states of their own, so not all states need have been explored */
	const bool can_judge = c->is_own && c->is_watched && !c->is_broken_off;
	struct marks marks = { { 0 }, { 0 } };
	struct map made = { 0 };
	int result = 0;

	if (can_judge && report_ndrafts(r) > 0)
		marks_find(p, &marks);
	for (size_t i = report_ndrafts(r); can_judge && i-- > 0 && result >= 0;) {
		site_list sites = { 0 };

		if (report_each_site(r, i, add_site, &sites))
			result = judge_draft(s, p, c, r, i, &sites, &marks, &made, err);
		else
			result = judge_race(s, p, c, r, i, &marks, err);
		vec_release(&sites);
	}
	for (size_t i = 0; made.n > 0 && i < report_ndrafts(r); i++)
		judge_flush(p, r, i, &made);
	map_release(&made);
	marks_release(&marks);
	return result < 0 ? -1 : 0;
}
