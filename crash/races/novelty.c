/* Counts, for each place of the program, the failure points at which a store of it may be lost: the
 * first few deserve more runs than the others. Places that are ignored (PMDK's own) do not
 * count. */
#include "crash/races/novelty.h"

#include "crash/races/race_table.h"

void novelty_release(struct novelty *n)
{
	vec_release(&n->sites);
}

struct step {
	struct novelty *novelty;
	uint64_t point;
	bool is_novel;
};

/* Finds the counter of the store's place; NULL: the place is ignored. */
static struct novelty_site *site_of(struct novelty *n, const struct model_store *s)
{
	const uint32_t number = s->site ? s->site->id : 0;

	if (number < n->nignored && n->ignored[number])
		return NULL;
	while (n->sites.n <= number)
		*vec_add(&n->sites) = (struct novelty_site){ 0 };
	return &n->sites.at[number];
}

static void note_site(const struct model_store *s, void *arg)
{
	struct step *step = arg;
	struct novelty_site *site = site_of(step->novelty, s);

	if (!site || (site->npoints > 0 && site->point == step->point))
		return;
	step->is_novel |= site->npoints < RACE_TRIES;
	site->point = step->point;
	site->npoints++;
}

bool novelty_step(struct novelty *n, const struct walk *w)
{
	struct step step = { n, w->point, false };

	model_each(w->model, 0, UINT64_MAX, note_site, &step);
	return step.is_novel;
}

bool novelty_note(struct novelty *n, const struct model_store *s)
{
	struct novelty_site *site = site_of(n, s);
	const bool is_first = site && !site->is_noted;

	if (is_first)
		site->is_noted = true;
	return is_first;
}
