/* What a report says about how much was looked at: deep copies, which live in an arena with all of their strings, and how deep it went in words. */
#include "report/internal.h"

#include <inttypes.h>
#include <stdio.h>

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

const char *report_not_covered(const struct report *r)
{
	const struct report_coverage *c = &r->coverage;

	if (!r->has_coverage || c->runs || c->failure_points || c->depth.all)
		return NULL;
	return "Ordering and atomicity bugs were not looked for: 'pmend crash' finds them by running recovery on crash states";
}

char *report_depth_text(const struct report *r)
{
	return r->has_coverage ? depth_text(&r->coverage) : NULL;
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

char *depth_text(const struct report_coverage *c)
{
	const struct report_depth *d = &c->depth;
	const struct {
		uint64_t n;
		const char *text;
	} parts[] = {
		{ d->sampled, "had as many runs as --sample allows" },
		{ d->deeper, "had more than their first runs and have states left" },
		{ d->first_runs, "had only their first runs" },
		{ d->not_reached, "were not reached" },
	};
	char *text, *longer;

	if (d->whole == d->all)
		return NULL;
	text = xasprintf("Of %" PRIu64 " failure points, %" PRIu64 " were explored whole", d->all, d->whole);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i].n == 0)
			continue;
		longer = xasprintf("%s, %" PRIu64 " %s", text, parts[i].n, parts[i].text);
		free(text);
		text = longer;
	}
	return text;
}
