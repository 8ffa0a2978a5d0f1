/* Finds what lies ahead of the steps of a path, again whenever code was run that is new. A place counts where the path came to it first. */
#include "explore/ahead.h"

void ahead_release(struct ahead *a)
{
	vec_release(&a->steps);
}

/* For the steps before it, the nearer the more. */
static void front_spread(struct ahead *a, const struct graph_front *f, uint32_t at, uint64_t worth)
{
	for (uint32_t i = at; i-- > 0;) {
		uint64_t here = worth / (1 + (uint64_t)(at - i));

		if (!here)
			return;
		if (here > a->steps.at[i].worth)
			a->steps.at[i] = (struct ahead_step){ here, f->block };
	}
}

void ahead_refresh(struct ahead *a, struct graph *g, const struct path *p, uint64_t (*worth)(const struct graph_front *f))
{
	struct graph_front f;

	if (a->version == graph_version(g) + 1)
		return;
	a->steps.n = 0;
	for (size_t i = 0; i < p->steps.n; i++)
		*vec_add(&a->steps) = (struct ahead_step){ 0 };
	for (size_t i = 0; i < p->covered.n; i++)
		if (p->covered.at[i].step && graph_front(g, &p->covered.at[i], &f))
			front_spread(a, &f, p->covered.at[i].step, worth(&f));
	a->version = graph_version(g) + 1;
}
