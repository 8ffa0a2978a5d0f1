/* Follows the decisions of a run, and finds which of the contents left in a line amd64 could leave,
 * too: those whose lost stores are the newest ones. */
#include "crash/races/ported.h"

#include "crash/races/race.h"

void ported_begin(struct ported *p, const struct explorer *e, const uint64_t *before)
{
	*p = (struct ported){ .e = e, .is_possible = true };
	if (model_is_ported(e->walk->model))
		p->left = states_copy(&e->set, before);
}

void ported_end(struct ported *p)
{
	free(p->left);
}

/* Counts the values of the bytes read that amd64 could have: 0, 1, or 2 for more. */
static unsigned count_values(const struct ported *p, const struct state_line *l,
			     const struct run_decision *d)
{
	const struct state_set *s = &p->e->set;
	const uint8_t *first = NULL;

	for (uint32_t c = 0; c < l->ncontents; c++) {
		const uint8_t *content = state_content(s, l, c);

		if (!bit_get(p->left + l->set, c) ||
		    (first && race_same_bytes(content + d->at, first, d->mask)) ||
		    !model_is_in_sequence(p->e->walk->model, l->addr, content))
			continue;
		if (first)
			return 2;
		first = content + d->at;
	}
	return first ? 1 : 0;
}

/* Keeps only the contents with the value that was read. */
static void narrow(struct ported *p, const struct state_line *l, const struct run_decision *d)
{
	const struct state_set *s = &p->e->set;
	const uint8_t *taken = state_content(s, l, d->chosen) + d->at;

	for (uint32_t c = 0; c < l->ncontents; c++)
		if (bit_get(p->left + l->set, c) &&
		    !race_same_bytes(state_content(s, l, c) + d->at, taken, d->mask))
			bit_put(p->left + l->set, c, false);
}

bool ported_step(struct ported *p, const struct run_decision *d)
{
	const struct state_line *l = &p->e->set.lines.at[d->line];
	bool is_ported;

	if (!p->left)
		return false;
	is_ported = !p->is_possible || (d->nvalues > 1 && count_values(p, l, d) < 2);
	if (d->nvalues > 1) {
		narrow(p, l, d);
		p->is_possible &= count_values(p, l, d) > 0;
	}
	return is_ported;
}
