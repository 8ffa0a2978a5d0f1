/* Which input makes given expressions true or false. The solver is Z3, in a shared object of its
 * own that only `pmend explore` opens: loading it takes a moment, which other commands need not pay
 * for. */
#ifndef EXPLORE_SOLVER_H
#define EXPLORE_SOLVER_H

#include "explore/expr/expr.h"
#include "util/error.h"

enum solver_answer { SOLVER_NO, SOLVER_YES, SOLVER_UNKNOWN /* out of time */ };

struct solver_term {
	uint32_t id; /* an expression of one bit */
	bool is_true;
};

/* Called for each byte of the input that the terms are about. */
typedef void (*solver_assign)(void *arg, uint64_t index, uint8_t value);

struct solver;

struct solver_api {
	/* each query's */
	struct solver *(*open)(const struct expr_pool *pool, unsigned timeout_ms);
	void (*close)(struct solver *s);
	enum solver_answer (*ask)(struct solver *s, const struct solver_term *terms, size_t n,
				  solver_assign assign, void *arg);
	/* All of the first terms, and as many as possible of the others: those that contradict are
	 * left out. */
	enum solver_answer (*ask_most)(struct solver *s, const struct solver_term *terms,
				       size_t nmust, size_t n, solver_assign assign, void *arg);
};

#define SOLVER_SYMBOL "pmend_solver" /* a struct solver_api in the shared object */

extern const char solver_todo[]; /* what brings a solver that cannot be loaded */

/* The one in the shared object of that name. It stays loaded. NULL with an error. */
const struct solver_api *solver_api_load(const char *path, struct error *err);

#endif
