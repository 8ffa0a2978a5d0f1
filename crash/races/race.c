/* Functions for all kinds of races: when two of them are the same, who reads, and what is reported
 * about the first read. */
#include "crash/races/race.h"

#include "crash/races/readers.h"

void race_release(struct race *r)
{
	vec_release(&r->stack);
	free(r->values);
	free(r->outcome);
}

struct race_entry race_key(const struct race *r)
{
	/* uncommitted data becomes stale later, so the two are one bug */
	enum race_kind kind = r->kind == RACE_STALE ? RACE_UNCOMMITTED : r->kind;

	return (struct race_entry){ .pc = r->pc,
				    .part = (uint32_t)r->part,
				    .site = r->store.site,
				    .kind = (uint32_t)kind };
}

bool race_same(const struct race *a, const struct race *b)
{
	return a->part == b->part && a->pc == b->pc && a->store.site == b->store.site &&
	       race_key(a).kind == race_key(b).kind;
}

bool race_set_reader(struct race *r, const struct race_options *o, const struct explorer *e,
		     enum recovery_part part, const struct run_decision *d)
{
	const struct runner_command *command = recovery_command(e->recovery, part);

	r->part = part;
	r->pc = reader_pc(e->runner, command, d);
	return o->is_distrusting || !reader_is_pmdk(e->runner, command, d);
}

void race_describe(struct race *r, const struct explorer *e, const struct run_decision *d,
		   uint64_t mask, const struct verdict *v)
{
	r->stack.n = 0;
	for (uint32_t i = 0; i < d->nframes && i < RUN_STACK; i++)
		*vec_add(&r->stack) = d->stack[i];
	r->point = e->walk->point;
	r->seq = e->walk->seq;
	r->addr = e->set.lines.at[d->line].addr + d->at + (uint64_t)__builtin_ctzll(mask);
	r->len_bytes = 64 - (uint32_t)__builtin_clzll(mask) - (uint32_t)__builtin_ctzll(mask);
	free(r->outcome);
	r->outcome = verdict_text(v);
}

bool race_same_bytes(const uint8_t *a, const uint8_t *b, uint64_t mask)
{
	for (; mask; mask &= mask - 1)
		if (a[__builtin_ctzll(mask)] != b[__builtin_ctzll(mask)])
			return false;
	return true;
}
