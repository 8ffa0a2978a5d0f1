/* Finds an input that makes given expressions true or false. The solver is Z3, in a shared object
 * that only `pmend explore` opens, because loading Z3 takes a moment. */
#ifndef EXPLORE_SOLVER_H
#define EXPLORE_SOLVER_H

#include "explore/expr/expr.h"
#include "util/error.h"

enum solver_answer { SOLVER_NO, SOLVER_YES, SOLVER_UNKNOWN /* out of time */ };

struct solver_term {
	uint32_t id; /* an expression that is 1 bit wide */
	bool is_true;
};

/* Called for each input byte that the terms use. */
typedef void (*solver_assign)(void *arg, uint64_t index, uint8_t value);

struct solver;

struct solver_api {
	/* timeout_ms limits each query */
	struct solver *(*open)(const struct expr_pool *pool, unsigned timeout_ms);
	void (*close)(struct solver *s);
	enum solver_answer (*ask)(struct solver *s, const struct solver_term *terms, size_t n,
				  solver_assign assign, void *arg);
	/* Solves the first nmust terms and as many of the others as possible; contradicting ones
	 * are left out. */
	enum solver_answer (*ask_most)(struct solver *s, const struct solver_term *terms,
				       size_t nmust, size_t n, solver_assign assign, void *arg);
};

#define SOLVER_SYMBOL "pmend_solver" /* the struct solver_api in the shared object */

extern const char solver_todo[]; /* how to install a missing solver */

/* Loads the shared object of that name, which stays loaded. NULL with err if that fails. */
const struct solver_api *solver_api_load(const char *path, struct error *err);

#endif
