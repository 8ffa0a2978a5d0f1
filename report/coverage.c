/* Deep copies of what a report says about how much was looked at. A copy lives in an arena, with all of its strings. */
#include "report/internal.h"

static const struct report_groups *groups_copy(struct arena *a, const struct report_groups *g)
{
	struct report_groups *copy = arena_alloc(a, sizeof *copy);
	struct report_group *list = arena_alloc(a, (g->n + 1) * sizeof *list);

	*copy = *g;
	for (size_t i = 0; i < g->n; i++) {
		list[i] = g->list[i];
		list[i].type = arena_text(a, g->list[i].type);
		list[i].fields = arena_text(a, g->list[i].fields);
		list[i].places = arena_text(a, g->list[i].places);
	}
	copy->list = list;
	return copy;
}

void coverage_copy(struct arena *a, struct report_coverage *copy, const struct report_coverage *c)
{
	*copy = *c;
	copy->why_incomplete = arena_text(a, c->why_incomplete);
	copy->states = arena_text(a, c->states);
	copy->states_all = arena_text(a, c->states_all);
	copy->note = arena_text(a, c->note);
	copy->groups = c->groups ? groups_copy(a, c->groups) : NULL;
}
