/* The other side of a branch: an input that takes the same path up to a step and then goes the
 * other way. Of the conditions before, only those are asked that share input bytes with it,
 * directly or by way of others; all other bytes stay. Answers are remembered. */
#ifndef EXPLORE_FLIP_H
#define EXPLORE_FLIP_H

#include "explore/path/path.h"

struct flipper;

struct flip_stats {
	uint64_t queries, cached, no, unknown;
	double solver_s;
};

struct flipper *flipper_new(const struct solver_api *api, struct expr_pool *pool,
			    unsigned timeout_ms);
void flipper_free(struct flipper *f);

/* Changes the bytes of input. For a jump, the targets given are ruled out, too (besides the one it
 * went to). */
enum solver_answer flipper_ask(struct flipper *f, const struct path *p, size_t step,
			       const uint64_t *targets, size_t ntargets, uint8_t *input,
			       size_t len_bytes);
/* Leaves conditions out that rule the other side out: the program may get there by another path, or
 * not. */
/* a step before has the same condition */
bool flipper_is_repeated(struct flipper *f, const struct path *p, size_t step);
enum solver_answer flipper_guess(struct flipper *f, const struct path *p, size_t step,
				 uint8_t *input, size_t len_bytes);
/* This byte of every input is to stay what it is. */
void flipper_fix(struct flipper *f, uint64_t index, uint8_t value);
/* one of the input that the expression is about; UINT32_MAX: none */
uint32_t flipper_byte(struct flipper *f, uint32_t id);
/* it is so in this one */
bool flipper_allows(const struct flipper *f, const uint8_t *input, size_t len_bytes);
const struct flip_stats *flipper_stats(const struct flipper *f);

#endif
