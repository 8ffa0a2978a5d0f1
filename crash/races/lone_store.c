/* Finds out whether one store, which replaced a word atomically, is everything that a crash here
 * can lose. The word must have had a meaningful value before: stored to, or in the file from the
 * start, or acknowledged. The last is about the 0 of a new file: if the program acknowledged
 * something after all other stores, the state without this store is one that it called complete.
 * Memory that an allocator gave out has no value, and blocks whose bytes were all stored to are
 * forgotten; so if there is an allocator, the answer is no. It is also no if there are commit
 * variables: an inferred one is exempt from the decisions of others, so its role must be known. */
#include "crash/races/lone_store.h"

struct doubtful {
	size_t n;
	struct model_store last;
};

static void note_doubtful(const struct model_store *s, void *arg)
{
	struct doubtful *d = arg;

	d->n++;
	d->last = *s;
}

static bool is_word(const struct model_store *s)
{
	return s->size_bytes <= 8 && s->addr / 8 == (s->addr + s->size_bytes - 1) / 8;
}

/* The store is the only one since the failure point before. */
static bool is_acknowledged_without(const struct walk *w, const struct model_store *s)
{
	return w->last_acknowledged_seq && w->last_acknowledged_seq < s->seq;
}

static bool had_content(const struct walk *w, const struct model_store *s)
{
	if (plan_is_initial(w->plan, PMT_FILE(s->addr)) || is_acknowledged_without(w, s))
		return true;
	for (uint32_t i = 0; i < s->size_bytes; i++)
		if (!shadow_byte(w->shadow, s->addr + i).is_stored_again)
			return false;
	return true;
}

bool lone_store_find(const struct walk *w, uint64_t nstores_before, struct model_store *store)
{
	struct doubtful d = { 0 };

	if (w->nstores - nstores_before != 1 || shadow_has_blocks(w->shadow) ||
	    w->plan->commits.n > 0 || shadow_commits(w->shadow)->vars.n > 0 ||
	    !model_is_exact(w->model))
		return false;
	model_each(w->model, 0, UINT64_MAX, note_doubtful, &d);
	*store = d.last;
	return d.n == 1 && is_word(&d.last) && had_content(w, &d.last) &&
	       !plan_is_unkept(w->plan, d.last.seq);
}
