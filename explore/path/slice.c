/* Finds the conditions that are related to a step. Input bytes that one condition uses together are
 * united into a group (union-find); a condition is related if its bytes are in the step's group. */
#include "explore/path/slice.h"

#include <stdlib.h>
#include <string.h>

struct bytes_of { /* the input bytes that an expression uses */
	size_t n;
	uint32_t index[];
};

void slice_release(struct slice *s)
{
	for (size_t i = 0; i < s->bytes.room; i++)
		free(s->bytes.slots[i].value);
	map_release(&s->bytes);
	vec_release(&s->fixed);
	vec_release(&s->terms);
	vec_release(&s->seen);
	vec_release(&s->todo);
	vec_release(&s->found);
	vec_release(&s->group);
}

static const struct bytes_of *bytes_of(struct slice *s, uint32_t root)
{
	struct bytes_of *b = map_get(&s->bytes, root);

	if (b)
		return b;
	while (s->seen.n <= expr_count(s->pool))
		*vec_add(&s->seen) = 0;
	s->round++;
	s->found.n = s->todo.n = 0;
	*vec_add(&s->todo) = root;
	while (s->todo.n) {
		uint32_t id = s->todo.at[--s->todo.n];
		const struct expr *e = expr_at(s->pool, id);

		if (s->seen.at[id] == s->round)
			continue;
		s->seen.at[id] = s->round;
		if (e->op == EXPR_INPUT)
			*vec_add(&s->found) = (uint32_t)e->k;
		for (unsigned i = 0; i < expr_nargs(e->op); i++)
			*vec_add(&s->todo) = e->arg[i];
	}
	b = xmalloc(sizeof *b + s->found.n * sizeof b->index[0]);
	b->n = s->found.n;
	if (b->n)
		memcpy(b->index, s->found.at, b->n * sizeof b->index[0]);
	map_set(&s->bytes, root, b);
	return b;
}

/* ---- groups of bytes ---- */

static uint32_t group_of(struct slice *s, uint32_t byte)
{
	while (s->group.n <= byte) {
		uint32_t own = (uint32_t)s->group.n;

		*vec_add(&s->group) = own;
	}
	while (s->group.at[byte] != byte) {
		s->group.at[byte] = s->group.at[s->group.at[byte]];
		byte = s->group.at[byte];
	}
	return byte;
}

static void groups_join(struct slice *s, const struct bytes_of *b)
{
	for (size_t i = 1; i < b->n; i++) {
		uint32_t x = group_of(s, b->index[0]), y = group_of(s, b->index[i]);

		s->group.at[x] = y;
	}
}

uint32_t slice_byte(struct slice *s, uint32_t id)
{
	const struct bytes_of *b = bytes_of(s, id);
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < b->n; i++)
		if (b->index[i] < first)
			first = b->index[i];
	return first;
}

bool slice_is_about(struct slice *s, uint32_t byte)
{
	return s->own != UINT32_MAX && group_of(s, byte) == s->own;
}

bool slice_has(const struct slice *s, struct solver_term t)
{
	for (size_t i = 0; i < s->terms.n; i++)
		if (s->terms.at[i].id == t.id && s->terms.at[i].is_true == t.is_true)
			return true;
	return false;
}

static void fixed_add(struct slice *s, uint32_t group)
{
	for (size_t i = 0; i < s->fixed.n; i++) {
		const struct slice_byte *a = &s->fixed.at[i];

		if (group_of(s, (uint32_t)a->index) == group)
			*vec_add(&s->terms) =
				(struct solver_term){ expr_binary(s->pool, EXPR_EQ, 8,
								  expr_input(s->pool, a->index, 0),
								  val_const(a->value))
							      .id,
						      true };
	}
}

void slice_make(struct slice *s, const struct path *p, size_t step, bool has_pins)
{
	uint32_t group;

	s->group.n = 0;
	for (size_t i = 0; i <= step; i++)
		groups_join(s, bytes_of(s, p->steps.at[i].term.id));
	s->terms.n = s->nfixed = 0;
	s->own = UINT32_MAX;
	if (bytes_of(s, p->steps.at[step].term.id)->n == 0)
		return;
	group = group_of(s, bytes_of(s, p->steps.at[step].term.id)->index[0]);
	s->own = group;
	fixed_add(s, group);
	s->nfixed = s->terms.n;
	for (size_t i = 0; i < step; i++) {
		const struct bytes_of *b = bytes_of(s, p->steps.at[i].term.id);

		if (p->steps.at[i].kind == PATH_TARGET)
			continue;
		if (!has_pins &&
		    (p->steps.at[i].kind == PATH_ADDRESS || p->steps.at[i].kind == PATH_JUMP))
			continue;
		if (b->n && group_of(s, b->index[0]) == group && !slice_has(s, p->steps.at[i].term))
			*vec_add(&s->terms) = p->steps.at[i].term;
	}
}
