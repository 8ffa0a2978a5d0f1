/* Finds an input that takes the same path up to a step and then the other side. The query contains
 * only earlier conditions that share input bytes with the step's, directly or through others; all
 * other bytes keep their values. Answers are remembered. */
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

/* Finds an input for the other side of the step, and writes it to `input`. `input` stays unchanged
 * if there is none. For a jump, the given targets are excluded, and the one that it took. */
enum solver_answer flipper_ask(struct flipper *f, const struct path *p, size_t step,
			       const uint64_t *targets, size_t ntargets, uint8_t *input,
			       size_t len_bytes);
/* Finds an input for the other side without the conditions that exclude it: the program may get
 * there by another path, or not. */
/* Asks whether an earlier step has the same condition. */
bool flipper_is_repeated(struct flipper *f, const struct path *p, size_t step);
enum solver_answer flipper_guess(struct flipper *f, const struct path *p, size_t step,
				 uint8_t *input, size_t len_bytes);
/* Says that this byte must keep its value in every input. */
void flipper_fix(struct flipper *f, uint64_t index, uint8_t value);
/* Gives the index of the first input byte that the expression uses; UINT32_MAX if it uses none. */
uint32_t flipper_byte(struct flipper *f, uint32_t id);
/* Asks whether all fixed bytes (flipper_fix()) have their values in this input. */
bool flipper_allows(const struct flipper *f, const uint8_t *input, size_t len_bytes);
const struct flip_stats *flipper_stats(const struct flipper *f);

#endif
