/* Sorts the findings of every report: by the strength of their evidence, then those that name what
 * one place lacks, then by id. Lines and files do not count, so the first finding is the best
 * proven one, wherever it is. The order uses only what a JSON report has, so merged, old and new
 * reports have the same order. */
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"
#include "util/str.h"

/* Was recovery run on a crash state, and did it fail? (The crash of a race has no command: recovery
 * only read what may be lost.) */
static bool is_proven(const struct bug *b)
{
	return b->severity == BUG_CORRECTNESS && b->crash && b->crash->command;
}

/* Did recovery fail, and had it read something that was lost? Or does it fail at every start, even
 * if nothing is lost? */
static bool is_proven_by_data(const struct bug *b)
{
	return is_proven(b) &&
	       (!bug_is_kind(b, "recovery-failure") || b->crash->failure_point == 0);
}

/* Does recovery read the bytes, without being seen to fail? */
static bool is_read(const struct bug *b)
{
	return b->severity == BUG_CORRECTNESS && (b->use == BUG_USE_READS || b->crash);
}

/* Is it unknown whether recovery reads the bytes? It was not watched, or the finding is not about a
 * store. */
static bool is_open(const struct bug *b)
{
	return b->severity == BUG_CORRECTNESS && !bug_is_last(b);
}

static bool is_overwritten(const struct bug *b)
{
	return bug_is_last(b) && b->use == BUG_USE_OVERWRITES;
}

static bool is_performance(const struct bug *b)
{
	return b->severity == BUG_PERFORMANCE;
}

static bool is_porting(const struct bug *b)
{
	return b->severity == BUG_PORTING;
}

/* Strongest evidence first. A finding belongs to the first row that is true, or else behind all of
 * them. */
static bool (*const evidence[])(const struct bug *b) = {
	is_proven_by_data, is_proven,   is_read,        is_open,
	is_overwritten,    bug_is_last, is_performance, is_porting,
};

static size_t level_of(const struct bug *b)
{
	size_t i = 0;

	while (i < sizeof evidence / sizeof *evidence && !evidence[i](b))
		i++;
	return i;
}

/* Does the finding name two stores and what is wrong between them, but no place that lacks
 * something? If another bug is the reason, that one names its place. */
static bool is_between_stores(const struct bug *b)
{
	return bug_is_kind(b, "ordering") || bug_is_kind(b, "atomicity");
}

/* Compares names of tests. A bug that is not from a report of several tests has none. */
static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_entries(const void *left, const void *right)
{
	const struct report_entry *a = *(struct report_entry *const *)left,
				  *b = *(struct report_entry *const *)right;
	const size_t x = level_of(&a->bug), y = level_of(&b->bug);
	int c = x != y ? (x < y ? -1 : 1) : is_between_stores(&a->bug) - is_between_stores(&b->bug);

	c = c ? c : strcmp(a->bug.id, b->bug.id);
	c = c ? c : compare_text(a->bug.test, b->bug.test);
	return c ? c : strcmp(a->key, b->key);
}

void order_sort(struct report_entry **list, size_t n)
{
	if (n)
		qsort(list, n, sizeof *list, compare_entries);
}

/* ---- the findings of one place ---- */

static bool is_same_place(const struct bug *a, const struct bug *b)
{
	return !bug_is_last(a) && !bug_is_last(b) && str_same(a->test, b->test) &&
	       bug_is_same_line(bug_frame(a), bug_frame(b));
}

static uint64_t place_hash(const struct bug *b)
{
	const struct bug_frame *f = bug_frame(b);

	return hash_mix(hash_text(f && f->file ? f->file : ""), f ? f->line : 0);
}

struct report_spot *report_spots(const struct report *r)
{
	const size_t n = r->bugs.n;
	struct report_spot *spots = xcalloc(n, sizeof *spots);
	struct map latest = { 0 }; /* hash of a place → index of its last finding so far, plus 1 */

	for (size_t i = 0; i < n; i++) {
		const struct bug *b = &r->bugs.at[i]->bug;
		const uint64_t hash = place_hash(b);
		const size_t before = (uintptr_t)map_get(&latest, hash);

		spots[i] = (struct report_spot){ .is_first = true, .next = SIZE_MAX };
		if (before && is_same_place(&r->bugs.at[before - 1]->bug, b)) {
			spots[before - 1].next = i;
			spots[i].is_first = false;
		}
		if (!bug_is_last(b))
			map_set(&latest, hash, (void *)(uintptr_t)(i + 1));
	}
	map_release(&latest);
	return spots;
}
