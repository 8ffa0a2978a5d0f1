/* What the files of repair/tx/ share: transactions, what they log, and the functions that they call. */
#ifndef REPAIR_TX_INTERNAL_H
#define REPAIR_TX_INTERNAL_H

#include "repair/plan/internal.h"

/* A store that a transaction must undo. */
struct tx_log {
	struct fix x;		/* where it is */
	const char *addr, *len; /* evaluated before the statement */
	const struct source_node *stmt;
	bool is_foreign; /* in a function that the transaction calls, and others may call, too */
	bool is_unsure;	 /* it may be volatile */
	bool is_unseen;	 /* it did not run when it was recorded */
	bool is_dropped; /* logged before */
	bool is_written, is_elsewhere; /* so that no other transaction does it again; another one has */
};

/* Text that is put in the place of [begin, end). */
struct tx_change {
	uint32_t begin, end;
	const char *text;
};

/* A variable that stands for memory that the transaction allocates, from there on. */
struct tx_new {
	const char *name;
	uint32_t at;
};

/* A call path that leads out of the transaction's function: frame `at` is in it. */
struct tx_path {
	const struct repair_place *place;
	size_t at;
};

struct tx {
	VEC(size_t) bugs;
	struct fix x; /* unit, file and function that it is in */
	const struct source_node *block, *first, *last; /* statements of one block */
	bool is_there;	  /* the program has it already: only logs are added */
	bool is_hidden;	  /* but where it begins is not seen, nor whether it always does */
	bool is_of_several; /* its stores come from several executions of the function */
	const char *pool;
	const char *why; /* it cannot be written; NULL */
	VEC(struct tx_log) logs;
	VEC(struct tx_path) paths;
	VEC(struct tx_change) changes;
	VEC(const char *) declarations; /* moved before it */
	VEC(struct tx_new) allocated;
	const char *result_type;	/* of a return inside; NULL: none has a value */
	const char *result, *flag, *label; /* names for returns from inside; NULL if not needed */
	bool returns_at_end;		   /* the last statement is a return */
	const char *error, *aborted;	   /* what is returned after an abort, and the variable that tells; NULL: the program ends */
	const struct source_node *old; /* a transaction of the program among the statements, which becomes this one; NULL */
	uint32_t head_begin, head_end; /* of `old`: from TX_BEGIN to behind the brace */
	uint32_t tail_begin, tail_end; /* from the brace to TX_END, or to the brace behind which it is */
	const char *note; /* for the user; NULL */
};

/* A function that a transaction calls. */
enum tx_way {
	TX_INSIDE,  /* only transactions call it */
	TX_COPIED,  /* others do; the transaction calls a copy */
	TX_GUARDED, /* it cannot be copied */
};
struct tx_callee {
	struct fix x; /* unit, file, function */
	enum tx_way way;
	bool gets_volatile; /* some call passes a variable of the caller */
	struct tx *inner; /* what is changed in it besides logs: allocation. NULL: nothing */
};

struct transactions {
	VEC(struct tx *) list;
	VEC(struct tx_callee) callees;
};

static inline bool tx_holds(const struct tx *t, const struct source_node *n)
{
	return t->first->begin <= n->begin && n->end <= t->last->end;
}

/* tx.c */
void tx_free(struct tx *t);
/* The statement of the function at a line and column; NULL. */
const struct source_node *tx_statement(const struct source_function *fn, const struct file *f, uint32_t line, uint32_t column);
void tx_include(struct tx *t, const struct source_node *n); /* takes one more statement in */
void tx_merge(struct repair *r); /* those that touch become one */
/* Is it in the work of a transaction that the program has? */
bool tx_is_in_work(const struct source_unit *unit, const struct source_function *f, const struct source_node *n);

/* edge.c: moves the ends outwards until they are legal, and notes what is rewritten. -1 with t->why. */
int tx_edges(struct repair *r, struct tx *t);
int tx_close_conditions(struct repair *r, struct tx *t, bool *is_changed); /* ifdef.c: a part of that */
int tx_redirect_returns(struct repair *r, struct tx *t);		   /* returns.c: another one */
/* extend.c: if one transaction is among the statements already, that one grows. */
void tx_extend(struct tx *t);
const char *tx_free_name(struct repair *r, const struct tx *t, const char *name); /* names.c: that the function does not use */
const char *tx_pool(struct repair *r, const struct tx *t);			    /* pool.c; NULL: none is at hand */

/* range.c: addr and len of the log. -1 with a reason. */
int tx_range(struct repair *r, struct tx_log *l, const char **why);
/* log.c */
const char *tx_base_of(const struct source_node *store); /* the variable through which it goes; NULL */
void tx_sort_logs(struct tx *t); /* by place, and without those that others cover */
bool tx_log_covers(const struct tx_log *a, const struct tx_log *b); /* whatever b would log was logged by a */
/* log_find.c: what it must log; calls that become transactional. -1 with t->why. */
int tx_logs(struct repair *r, struct tx *t);
bool tx_is_observed(struct repair *r, const struct tx *t, const struct file *in, const struct source_node *store); /* in this line */

/* callee.c */
struct tx_callee *tx_callee_find(struct repair *r, const struct source_function *f); /* NULL: it is none of them */
struct file *tx_callee_file(struct repair *r, const struct tx_callee *c); /* where it is changed: it may be a copy's */
void tx_callees_release(struct repair *r);
bool tx_is_redirected(const struct repair *r, const struct file *f, const struct source_node *call); /* to a copy that flushes */
/* callee_ways.c: how the functions log that the transactions, those without a `why`, call. */
void tx_callees_find(struct repair *r);
/* callee_copies.c */
void tx_callees_copy(struct repair *r, const struct tx *t);
void tx_callees_redirect(struct repair *r); /* once all have copies */

/* alloc.c */
bool tx_is_allocation(const struct source_node *n); /* a call that allocates or releases on its own */
struct tx *tx_callee_allocations(struct repair *r, const struct tx_callee *c); /* NULL: there are none. With a `why` if they cannot be changed */
int tx_allocations(struct repair *r, struct tx *t);
/* allocated.c */
bool tx_is_ambiguous(const struct tx *t, const char *name, const struct source_node *but); /* something else is assigned to the variable */
void tx_follow_pointers(struct tx *t); /* variables that point to what was allocated */
void tx_drop_allocated(struct repair *r, struct tx *t);
/* abort.c */
const char *tx_error_value(struct repair *r, const struct tx *t); /* NULL: there is none */
const char *tx_ending(struct repair *r, const struct tx *t);	  /* a statement that ends the program */
/* emit.c */
void tx_emit(struct repair *r, struct tx *t);
void tx_emit_callee(struct repair *r, struct tx_callee *c);
void tx_emit_logs(struct repair *r, struct tx *t); /* emit_log.c */

#endif
