/* Finds what a run read of lost and surviving stores, and lets stores of a place return. A line's
 * content is a prefix of its stores (on amd64), so older stores of the line return with a newer
 * one. */
#include "crash/search/undo.h"

#include <stdlib.h>

#include "crash/states/states_of_stores.h"
#include "crash/search/surroundings.h"

static void add_loss(const struct model_lost *s, void *arg)
{
	*vec_add((store_list *)arg) = (struct crash_store){ s->seq, site_id(s->site) };
}

static void losses_of(const struct explorer *e, const struct state_line *l, uint32_t content,
		      store_list *out)
{
	out->n = 0;
	if (content + 1 < l->ncontents)
		model_each_lost(e->walk->model, l->addr, state_content(&e->set, l, content),
				add_loss, out);
}

static const struct crash_store *find_place(const store_list *list, uint32_t site)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].site == site)
			return &list->at[i];
	return NULL;
}

static bool has_store(const store_list *list, uint64_t seq)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].seq == seq)
			return true;
	return false;
}

static void add_place(store_list *list, const struct crash_store *s)
{
	struct crash_store *known = (struct crash_store *)find_place(list, s->site);

	if (!known)
		*vec_add(list) = *s;
	else if (s->seq < known->seq)
		known->seq = s->seq;
}

static int compare_place(const void *a, const void *b)
{
	const struct crash_store *x = a, *y = b;

	return (x->site > y->site) - (x->site < y->site);
}

static void sort(store_list *list, int (*compare)(const void *, const void *))
{
	if (list->n > 0)
		qsort(list->at, list->n, sizeof *list->at, compare);
}

/* ---- what was read ---- */

static uint32_t oldest_left(const struct state_line *l, const uint64_t *left)
{
	uint32_t oldest = 0;

	while (!bit_get(left + l->set, oldest))
		oldest++;
	return oldest;
}

void read_places_find(const struct explorer *e, const uint64_t *left, struct read_places *out)
{
	store_list all = { 0 }, lost = { 0 };

	*out = (struct read_places){ 0 };
	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		if (states_left(l, left) == l->ncontents)
			continue;
		losses_of(e, l, states_newest_left(l, left), &lost);
		for (size_t k = 0; k < lost.n; k++)
			add_place(&out->lost, &lost.at[k]);
		losses_of(e, l, 0, &all);
		losses_of(e, l, oldest_left(l, left), &lost);
		for (size_t k = 0; k < all.n; k++)
			if (!has_store(&lost, all.at[k].seq))
				add_place(&out->survived, &all.at[k]);
	}
	vec_release(&all);
	vec_release(&lost);
	sort(&out->lost, crash_store_order);
	sort(&out->survived, compare_place);
}

void read_places_release(struct read_places *p)
{
	vec_release(&p->lost);
	vec_release(&p->survived);
}

/* ---- undoing ---- */

/* Finds the content that loses most among those that have the place's stores and lose nothing that
 * the present one keeps. */
static uint32_t content_with(const struct explorer *e, const struct state_line *l, uint32_t content,
			     uint32_t site, store_list *lost)
{
	for (uint32_t c = content + 1; c + 1 < l->ncontents; c++) {
		if (!states_loses(&e->set, e->walk->model, l, content, c, false))
			continue;
		losses_of(e, l, c, lost);
		if (!find_place(lost, site))
			return c;
	}
	lost->n = 0;
	return l->ncontents - 1;
}

void undo_place(const struct explorer *e, uint32_t site, uint64_t *state, store_list *returned)
{
	store_list before = { 0 }, after = { 0 };

	returned->n = 0;
	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		const uint32_t content = states_newest_left(l, state);
		const struct crash_store *first;

		losses_of(e, l, content, &before);
		sort(&before, crash_store_order);
		first = find_place(&before, site);
		if (!first)
			continue;
		states_only(l, state, content_with(e, l, content, site, &after));
		for (size_t k = 0; k < before.n && before.at[k].seq < first->seq; k++)
			if (!has_store(&after, before.at[k].seq))
				add_place(returned, &before.at[k]);
	}
	sort(returned, crash_store_order);
	vec_release(&before);
	vec_release(&after);
}

bool state_loses_place(const struct explorer *e, const uint64_t *state, uint32_t site)
{
	store_list lost = { 0 };
	bool is_lost = false;

	for (size_t i = 0; i < e->set.lines.n && !is_lost; i++) {
		losses_of(e, &e->set.lines.at[i], states_newest_left(&e->set.lines.at[i], state),
			  &lost);
		is_lost = find_place(&lost, site) != NULL;
	}
	vec_release(&lost);
	return is_lost;
}
