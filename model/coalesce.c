/* Forgets states of a line that has too many stores, so that memory stays bounded. The newest store
 * of each site is kept, and every state that is still offered is reachable (model.h, "crash
 * states"). */
#include "model/internal.h"

#include <string.h>

static bool is_flush_between(const struct line *l, const struct store *older,
			     const struct store *newer)
{
	for (const struct pending *p = l->pendings; p; p = p->in_line)
		if (older->seq <= p->upto && p->upto < newer->seq)
			return true;
	return false;
}

/* Joins store i to the next one: from now on a crash loses both or none. Bytes that later stores of
 * the joined run cover can never be seen, and stop being live. */
void store_glue(struct store *at, size_t i, size_t n)
{
	struct store *s = &at[i];

	s->flags |= STORE_GLUED;
	at[i + 1].unit_bytes = 0;
	/* in a partial order, a run counts as before and after all other stores, because its
	 * members may be dropped one by one */
	s->back = at[i + 1].back = 0;
	s->epoch = at[i + 1].epoch = 0;
	for (size_t j = i + 1; j < n && store_live(s); j++) {
		store_set_live(s, store_live(s) & ~store_covered(s, &at[j]));
		if (!store_is_glued(&at[j]))
			break;
	}
}

/* Does the same thread store all bytes of store i again without a fence between, so that only a
 * crash in between shows store i? If parts of the newer store may be lost by themselves (late
 * stores), that holds only if the newer store is a single unit. */
static bool is_stored_again(const struct model *m, const struct store *at, size_t i, size_t n)
{
	for (size_t j = i + 1; j < n; j++)
		if (store_is_unordered(&at[j]) && (!is_late(m) || !at[j].unit_bytes) &&
		    at[j].thread == at[i].thread &&
		    !(store_live(&at[i]) & ~store_covered(&at[i], &at[j])))
			return true;
	return false;
}

#define SEEN_ROOM 1024u

/* A hash table of sites, with about twice as much room as there are stores. */
struct seen {
	const struct trace_site *sites[SEEN_ROOM];
	size_t mask;
};

static void seen_init(struct seen *seen, size_t nstores)
{
	size_t room = 16;

	while (room < 2 * nstores && room < SEEN_ROOM)
		room *= 2;
	memset(seen->sites, 0, room * sizeof *seen->sites);
	seen->mask = room - 1;
}

/* Adds a site to the table. True: the site was in the table already. Two sites may have the same
 * slot: then the table forgets the older one, so line_coalesce() keeps a store needlessly. */
static bool seen_add(struct seen *seen, const struct trace_site *site)
{
	static const struct trace_site unknown;
	const struct trace_site *key = site ? site : &unknown;
	size_t i = (((uintptr_t)key >> 4) * 0x9e3779b1u >> 6) & seen->mask;
	bool was_seen = seen->sites[i] == key;

	seen->sites[i] = key;
	return was_seen;
}

/* Forgets the states between a store and the next one, if the line has a newer store of the same
 * site. */
void line_coalesce(struct model *m, struct line *l)
{
	struct store *at = l->stores;
	size_t n = l->nstores;
	struct seen seen;

	seen_init(&seen, n);
	seen_add(&seen, at[n - 1].site);
	for (size_t i = n - 1; i-- > 0;) {
		if (!seen_add(&seen, at[i].site))
			continue;
		if (store_is_unordered(&at[i])) {
			if (!is_stored_again(m, at, i, n))
				continue;
			store_set_live(&at[i], 0);
		} else {
			if (store_is_unordered(&at[i + 1]) ||
			    is_flush_between(l, &at[i], &at[i + 1]))
				continue;
			store_glue(at, i, n);
		}
		m->is_exact = false;
	}
	line_drop_dead(m, l, true);
	l->floor = 2 * l->nstores;
}
