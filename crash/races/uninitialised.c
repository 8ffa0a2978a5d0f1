/* Finds reads of memory that an allocator handed out and that was never stored to. The evidence comes from the allocator: PMDK announces each block to memcheck, and
 * zeroed or constructed memory is stored to before anybody can reach it. */
#include "crash/races/uninitialised.h"

#include "crash/races/readers.h"

#define LINES_MAX 512u /* watched at a failure point */
#define FINDINGS_MAX 4096u

struct found {
	struct race race;
	uint64_t seen_at; /* failure point */
};

struct uninitialised {
	const struct race_options *o;
	VEC(struct found) list;
};

struct uninitialised *uninitialised_new(const struct race_options *o)
{
	struct uninitialised *u = xcalloc(1, sizeof *u);

	u->o = o;
	return u;
}

void uninitialised_free(struct uninitialised *u)
{
	for (size_t i = 0; i < u->list.n; i++)
		race_release(&u->list.at[i].race);
	vec_release(&u->list);
	free(u);
}

static void watch(uint64_t addr, uint64_t mask, void *arg)
{
	struct explorer *e = arg;

	states_watch(&e->set, &e->walk->image, addr, mask);
}

/* An object is most likely read without content soon after it was published; the end of the walk shows what never got any. Bytes that nobody
 * ever stores to, behind the end of what was asked for, would close their pages for every access all the time. */
void uninitialised_begin_point(struct explorer *e)
{
	shadow_each_uninitialised(e->walk->shadow, e->walk->is_over ? 0 : e->walk->recent_seq, LINES_MAX, watch, e);
}

/* The block, if all that a plain load reads is without content. */
static const struct shadow_block *block_of(const struct explorer *e, const struct run_decision *d)
{
	const uint64_t addr = e->set.lines.at[d->line].addr + d->at;
	const struct shadow_block *b = NULL;

	if (d->access_bytes > 8 || (uint32_t)__builtin_popcountll(d->mask) != d->access_bytes)
		return NULL;
	for (uint64_t m = d->mask; m; m &= m - 1) {
		b = shadow_uninitialised(e->walk->shadow, addr + (uint64_t)__builtin_ctzll(m));
		if (!b)
			return NULL;
	}
	return b;
}

void uninitialised_note(struct uninitialised *u, const struct explorer *e, const struct run_decision *d, enum recovery_part part,
			bool is_porting, const struct verdict *v)
{
	const struct shadow_block *b = d->nvalues == 1 && runner_is_judged(e->runner, d) ? block_of(e, d) : NULL;
	struct race key = { .kind = RACE_UNINITIALISED, .state = RACE_BUG, .is_porting = is_porting };
	struct found *f = NULL;

	if (!b || b->given.is_trusted || reader_is_libc(e->runner, recovery_command(e->recovery, part), d))
		return;
	key.store = (struct crash_store){ b->given.seq, b->given.site ? b->given.site->id : 0 };
	if (!race_set_reader(&key, u->o, e, part, d))
		return;
	for (size_t i = 0; i < u->list.n && !f; i++)
		if (race_same(&u->list.at[i].race, &key))
			f = &u->list.at[i];
	if (!f && u->list.n < FINDINGS_MAX) {
		race_describe(&key, e, d, d->mask, v);
		f = vec_add(&u->list);
		*f = (struct found){ .race = key };
	}
	if (!f)
		return;
	if (e->walk->point < f->race.point) {
		race_describe(&f->race, e, d, d->mask, v);
		f->race.store = key.store;
	}
	f->race.is_porting &= is_porting;
	f->race.count += f->seen_at != e->walk->point;
	f->seen_at = e->walk->point;
}

size_t uninitialised_n(const struct uninitialised *u)
{
	return u->list.n;
}

const struct race *uninitialised_at(const struct uninitialised *u, size_t i)
{
	return &u->list.at[i].race;
}

void uninitialised_seen(const struct uninitialised *s, uint64_t point, seen_list *list)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.at[i].seen_at == point)
			*vec_add(list) = i;
}

void uninitialised_see(struct uninitialised *s, uint64_t point, const seen_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		s->list.at[list->at[i]].seen_at = point;
}
