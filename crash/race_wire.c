/* See race_wire.h. */
#include "crash/race_wire.h"

void race_put(struct wire *m, const struct race *r)
{
	wire_number(m, r->part);
	wire_number(m, r->pc);
	wire_number(m, r->store.seq);
	wire_number(m, r->store.site);
	wire_number(m, r->kind);
	for (int i = 0; i < 2; i++) {
		wire_number(m, r->commits[i].seq);
		wire_number(m, r->commits[i].site);
	}
	wire_number(m, r->is_ranged);
	wire_number(m, r->is_certain);
	wire_number(m, r->state);
	wire_number(m, r->point);
	wire_number(m, r->seq);
	wire_number(m, r->count);
	wire_number(m, r->addr);
	wire_number(m, r->len_bytes);
	wire_string(m, r->values);
	wire_string(m, r->outcome);
	wire_number(m, r->stack.n);
	for (size_t i = 0; i < r->stack.n; i++)
		wire_number(m, r->stack.at[i]);
}

void race_get(struct wire *m, struct race *r)
{
	*r = (struct race){ .part = (enum recovery_part)(wire_get_number(m) % PART_N) };
	r->pc = wire_get_number(m);
	r->store.seq = wire_get_number(m);
	r->store.site = (uint32_t)wire_get_number(m);
	r->kind = (enum race_kind)wire_get_number(m);
	for (int i = 0; i < 2; i++) {
		r->commits[i].seq = wire_get_number(m);
		r->commits[i].site = (uint32_t)wire_get_number(m);
	}
	r->is_ranged = wire_get_number(m);
	r->is_certain = wire_get_number(m);
	r->state = (enum race_state)wire_get_number(m);
	r->point = wire_get_number(m);
	r->seq = wire_get_number(m);
	r->count = wire_get_number(m);
	r->addr = wire_get_number(m);
	r->len_bytes = (uint32_t)wire_get_number(m);
	r->values = wire_get_string(m);
	r->outcome = wire_get_string(m);
	for (uint64_t n = wire_get_number(m); n > 0 && !m->is_bad; n--)
		*vec_add(&r->stack) = wire_get_number(m);
}

void race_merge(struct crash_result *result, struct race *r)
{
	for (size_t i = 0; i < result->races.n; i++) {
		struct race *known = &result->races.at[i], earlier;
		bool is_better = known->is_certain == r->is_certain ? r->point < known->point : r->is_certain;

		if (!race_same(known, r))
			continue;
		if (known->state != r->state) /* one saw it only where nothing is wrong with it */
			is_better = known->state == RACE_ATOMIC;
		else
			r->count = known->count += r->count;
		r->is_certain = known->is_certain |= r->is_certain;
		if (is_better) {
			earlier = *r;
			*r = *known;
			*known = earlier;
		}
		race_release(r);
		return;
	}
	*vec_add(&result->races) = *r;
}
