/* Keeps the call paths to a bug. Findings of one kind at the same lines are one bug, whichever
 * functions called them. The bug keeps each call path with its own count; the first one seen gives
 * the bug its stacks. */
#include "report/internal.h"

#include <string.h>

static struct report_path *path_find(const struct report_entry *e, const char *key)
{
	for (size_t i = 0; i < e->paths.n; i++)
		if (strcmp(e->paths.at[i].key, key) == 0)
			return &e->paths.at[i];
	return NULL;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void path_merge(struct report *r, struct report_path *own, const struct bug_path *p,
		       enum paths_counts how)
{
	if (how == PATHS_ADD_UP) {
		own->path.count = sum(own->path.count, p->count);
		own->path.executions = sum(own->path.executions, p->executions);
	} else if (p->count > own->path.count) {
		own->path.count = p->count;
	}
	if (p->first_seq < own->path.first_seq)
		own->path.first_seq = p->first_seq;
	if (!own->path.crash)
		own->path.crash = bug_crash_copy(&r->arena, p->crash);
}

static void path_add(struct report *r, struct report_entry *e, const struct bug *b,
		     const struct bug_path *p, enum paths_counts how)
{
	struct bug one = *b;
	struct report_path *own;
	char *key;

	one.locations = p->locations;
	one.nlocations = p->nlocations;
	key = ident_path_key(&one);
	own = path_find(e, key);
	if (own) {
		path_merge(r, own, p, how);
	} else {
		own = vec_add(&e->paths);
		*own = (struct report_path){ .key = arena_text(&r->arena, key), .path = *p };
		own->path.locations = bug_locations_copy(&r->arena, p->locations, p->nlocations);
		own->path.crash = bug_crash_copy(&r->arena, p->crash);
	}
	free(key);
}

void paths_add(struct report *r, struct report_entry *e, const struct bug *b, enum paths_counts how)
{
	const struct bug_path own = { .locations = b->locations,
				      .nlocations = b->nlocations,
				      .count = b->count ? b->count : 1,
				      .executions = b->executions,
				      .first_seq = b->first_seq,
				      .crash = b->crash };

	if (b->npaths == 0)
		path_add(r, e, b, &own, how);
	for (size_t i = 0; i < b->npaths; i++)
		path_add(r, e, b, &b->paths[i], how);
}

void paths_add_entry(struct report *r, struct report_entry *e, const struct report_entry *other)
{
	for (size_t i = 0; i < other->paths.n; i++)
		path_add(r, e, &other->bug, &other->paths.at[i].path, PATHS_LARGEST);
}

void paths_add_evidence(struct report *r, struct report_entry *e, const struct bug *b)
{
	char *key = ident_path_key(b);
	struct report_path *own = path_find(e, key);

	if (own && !own->path.crash)
		own->path.crash = bug_crash_copy(&r->arena, b->crash);
	free(key);
}

/* Makes the list of an entry's call paths for its bug. A bug with only one path gets no list. */
void paths_finish(struct report *r, struct report_entry *e)
{
	struct bug_path *list;

	if (e->paths.n < 2)
		return;
	list = arena_alloc(&r->arena, e->paths.n * sizeof *list);
	for (size_t i = 0; i < e->paths.n; i++)
		list[i] = e->paths.at[i].path;
	e->bug.paths = list;
	e->bug.npaths = e->paths.n;
}

bool bug_is_same_path(const struct bug *a, const struct bug *b)
{
	char *x = ident_functions(a), *y = ident_functions(b);
	bool is_same = strcmp(x, y) == 0;

	free(x);
	free(y);
	return is_same;
}
