/* What the files of repair/tx/ share: transactions, what they log, and the functions that they
 * call. */
#ifndef REPAIR_TX_INTERNAL_H
#define REPAIR_TX_INTERNAL_H

#include "repair/plan/internal.h"

enum {
	/* a member array up to this size is logged whole, even if only elements of it are stored */
	TX_ARRAY_MAX_BYTES = 256,
	/* an object up to this size is logged whole, even if only one field is stored */
	TX_OBJECT_MAX_BYTES = 1024,
};

/* A range that a transaction must log, so that an abort can undo a store. */
struct tx_log {
	struct fix x;           /* the store, its function, and the bug */
	uint32_t line;          /* source line of the store, wherever the log goes */
	const char *addr, *len; /* expressions for the range, evaluated before the statement */
	const char *lvalue;     /* what is stored to, if it is one object; NULL */
	/* for an lvalue that is a member of an object: a pointer to the object, the member, and the
	 * object's typed handle; NULL: it has none */
	const char *object, *member, *handle;
	/* the object is a variable (x.m) and not behind a pointer (p->m) */
	bool is_dot;
	/* if the lvalue is an element of a member array: size of the array; 0: it is none */
	uint32_t array_bytes;
	/* sizes of the member and of its object; 0: unknown */
	uint32_t member_bytes, object_bytes;
	/* the object that a call passes and of which the called function stores a part, as an
	 * lvalue; NULL */
	const char *given;
	const char *text; /* text of the call that logs */
	/* the call with the check of its result; NULL: without a check */
	const char *checked;
	const struct source_node *stmt; /* the statement before which the log goes */
	/* the existing log, which came too late and is removed; NULL: none */
	const struct source_node *moved;
	/* the store's statement, if it is in TX_ONCOMMIT and moves into the work; NULL */
	const struct source_node *late;
	/* an existing log of a part of the range, directly before, which is removed; 0, 0: none */
	uint32_t instead_begin, instead_end;
	/* the log in a function called before that makes this one unnecessary; NULL: none */
	const struct tx_log *by;
	const char *guard; /* why it must test whether a transaction is open; NULL: no test */
	bool is_whole;     /* the call logs the whole object and not just the member */
	bool is_foreign;   /* it is in a function that the transaction calls, and others may call */
	bool is_unsure;    /* the memory may be volatile */
	bool is_unseen;    /* the store was not executed in the recorded run */
	bool is_dropped;   /* the range is logged before, so this log is not written */
	bool is_covered;   /* is_dropped because of another log in its present form */
	/* it is written; another transaction has written it */
	bool is_written, is_elsewhere;
};

/* Text that replaces [begin, end). */
struct tx_change {
	uint32_t begin, end;
	const char *text;
};

/* A variable that stands for memory which the transaction allocates, from offset `at` on. */
struct tx_new {
	const char *name;
	uint32_t at;
};

/* A call path from the transaction to a function that logs: frame `at` is that of the transaction,
 * frame `from` that of the log. */
struct tx_path {
	const struct repair_place *place;
	size_t from, at;
};

struct tx {
	VEC(size_t) bugs;
	VEC(const struct repair_cure *) cures; /* one per bug */
	/* unit, file and function of the transaction */
	struct fix x;
	/* first and last statement, both in `block` */
	const struct source_node *block, *first, *last;
	bool is_there; /* the transaction exists; only logs are added */
	/* it exists, but its beginning is not seen, nor whether it always begins */
	bool is_hidden;
	bool is_of_several; /* the stores are from several executions of the function */
	const char *pool;
	const char *why; /* why it cannot be written; NULL: it can */
	VEC(struct tx_log) logs;
	VEC(struct tx_path) paths;
	VEC(struct tx_change) changes;
	VEC(const char *) declarations; /* declarations to write before it */
	VEC(struct tx_new) allocated;
	VEC(const struct source_node *) needless; /* statements that become unnecessary */
	/* type of the returned value, for returns inside; NULL: no value */
	const char *result_type;
	const char *result, *flag, *label; /* names for the rewritten returns; NULL: not needed */
	bool returns_at_end;               /* its last statement is a return */
	/* the value that is returned after an abort, and the variable that tells of the abort;
	 * NULL: the program ends instead */
	const char *error, *aborted;
	/* the variable that gets the error and is returned; NULL: none */
	const char *variable;
	/* the returned 0 that a new variable replaces; NULL: none */
	const struct source_node *zero;
	/* an existing transaction among the statements, which grows; NULL: none */
	const struct source_node *old;
	uint32_t head_begin, head_end; /* in `old`: from TX_BEGIN to behind the brace */
	/* in `old`: from the closing brace to behind TX_END */
	uint32_t tail_begin, tail_end;
	/* the text between two existing transactions that become one; 0, 0: none */
	uint32_t joint_begin, joint_end;
	/* C++: the beginning of a call that runs a lambda in a transaction, up to the pool; NULL:
	 * the file has no such function */
	const char *wrapper;
	const char *capture; /* the rest of the call's beginning, up to the lambda's brace */
	const char *note;    /* something to tell the user; NULL */
};

/* What the arguments of a call that logs mean. */
enum tx_form {
	FORM_OBJECT,  /* a typed handle: TX_ADD(o) */
	FORM_FIELD,   /* a typed handle and a field: TX_ADD_FIELD(o, f) */
	FORM_POINTER, /* a pointer to what is logged: TX_ADD_DIRECT(p) */
	FORM_MEMBER,  /* a pointer and a member: TX_ADD_FIELD_DIRECT(p, f) */
	FORM_LVALUE,  /* what is logged itself */
	FORM_RANGE,   /* an address and a length: pmemobj_tx_add_range_direct(p, n) */
	/* an untyped handle, an offset and a length: pmemobj_tx_add_range(oid, off, n) */
	FORM_HANDLE,
};
struct tx_how {
	enum tx_form form;
	size_t first, second; /* which arguments are the two that the form names */
};
struct tx_add_call {
	uint32_t begin, end; /* offsets in the file */
	struct tx_how how;
	const char *callee; /* as it is written */
	const char **args;
	size_t nargs;
	bool is_own; /* a function or macro of the program */
	/* the called function, if it remembers what it has logged in this transaction and logs it
	 * once; NULL */
	const struct source_function *once;
};
struct tx_add_calls {
	const struct file *file;
	VEC(struct tx_add_call) list;
};

/* From where a function is called. */
enum tx_callers {
	TX_ONLY_INSIDE,   /* only in transactions */
	TX_SOME_OUTSIDE,  /* also outside of them */
	TX_SOME_VOLATILE, /* only in transactions, but also with volatile memory */
	TX_NOT_KNOWN,
};

/* How a function that a transaction calls gets its logs. */
enum tx_way {
	TX_INSIDE,  /* it is changed itself: only transactions call it */
	TX_COPIED,  /* others call it, too: the transaction calls a copy */
	TX_GUARDED, /* it cannot be copied: it logs if a transaction is open */
};
struct tx_callee {
	struct fix x; /* its unit, file and function */
	enum tx_way way;
	enum tx_callers callers;
	struct tx *inner; /* changes besides logs: its allocations; NULL: none */
};

/* A log that is added to a macro, which stores. */
struct tx_macro_log {
	size_t bug;
	struct file *file;
	struct macro_store store;
	const char *name, *text; /* name of the macro; the call to add */
	bool is_again;           /* another bug adds the same log */
};

/* A log that repeats another one: of new memory, or in a loop. */
struct tx_again {
	size_t bug;
	struct fix x;
	const struct source_node *stmt, *loop;
	/* the variable that stands for new memory, so the log is removed; NULL: the log is in a
	 * loop */
	const char *of_new;
	/* the log's text, which moves before the loop; or the text that replaces the statement */
	const char *text;
	/* text before and behind the loop if a variable sums up; NULL: the log moves */
	const char *before, *behind;
};

struct transactions {
	VEC(struct tx *) list;
	VEC(struct tx_callee) callees;
	VEC(struct tx_add_calls *) add_calls; /* one per file */
	VEC(struct tx_macro_log) macro_logs;
	VEC(struct tx_again) again;
};

static inline bool tx_holds(const struct tx *t, const struct source_node *n)
{
	return t->first->begin <= n->begin && n->end <= t->last->end;
}

/* tx.c: frees a transaction */
void tx_free(struct tx *t);
/* Returns the statement of the function at a line and column; NULL: none. */
const struct source_node *tx_statement(const struct source_function *fn, const struct file *f,
				       uint32_t line, uint32_t column);
/* Asks whether the statement may execute the store under a condition of its own, or repeatedly. */
bool tx_is_conditional(const struct file *f, const struct source_node *stmt,
		       const struct source_node *store);
/* Extends the transaction to this statement. */
void tx_include(struct tx *t, const struct source_node *n);
void tx_merge(struct repair *r); /* Merges transactions that touch. */

/* find.c: asks whether the unit includes libpmemobj's transactions */
bool tx_has_library(const struct source_unit *u);
/* work.c: asks whether the place is in the work of an existing transaction */
bool tx_is_in_work(const struct source_unit *u, const struct file *f,
		   const struct source_function *fn, const struct source_node *place);
/* Asks whether the place is behind the commit or abort of a transaction that has not ended: in
 * TX_ONCOMMIT or the like. */
bool tx_is_over(const struct source_unit *u, const struct source_function *fn,
		const struct source_node *place);
/* Asks whether the call runs the lambda in a transaction. */
bool tx_runs_lambda(const struct source_unit *u, const struct file *f,
		    const struct source_node *call, const struct source_node *lambda);
/* Asks whether the called function begins a transaction. */
bool tx_call_begins(const struct source_unit *u, const struct source_node *call);
/* Asks, if `from` is in the work of a transaction, whether `to` is in the work of the same one. */
bool tx_is_still_open(const struct source_unit *u, const struct source_function *fn,
		      const struct source_node *from, const struct source_node *to);
/* callers.c: says from where the function is called. store: the store that the function must log;
 * NULL: it only calls functions that log */
enum tx_callers tx_callers(struct repair *r, struct source_unit *u, const struct source_function *f,
			   const struct source_node *store);
const char *tx_callers_why(enum tx_callers c);

/* boundaries.c: moves the ends of the transaction outwards until they are legal, and notes which
 * jumps and declarations are rewritten. Returns -1 with t->why. */
int tx_set_boundaries(struct repair *r, struct tx *t);
/* returns.c: moves returns behind the transaction. Returns -1 with t->why */
int tx_redirect_returns(struct repair *r, struct tx *t);
/* extend.c: if one of the statements is itself a transaction of the program, that one grows */
void tx_extend(struct tx *t);
/* Moves a store from TX_ONCOMMIT to the end of the work (l->late). False: impossible. */
bool tx_take_late(const struct tx *t, struct tx_log *l);
/* Says why the store cannot move there after all; NULL: it can. Called when all logs are known. */
const char *tx_late_why(struct repair *r, const struct tx *t, const struct tx_log *l);
void tx_emit_late(struct repair *r, struct tx *t);
/* Joins two transactions of the program, if the statements are these two, with only the first one's
 * abort check between them. */
void tx_join(struct repair *r, struct tx *t);
/* tx.c: returns a name that the function does not use, made from `name` */
const char *tx_free_name(struct repair *r, const struct tx *t, const char *name);
/* pool.c: returns an expression for the pool; NULL: none */
const char *tx_pool(struct repair *r, const struct tx *t);

/* range.c: sets addr, len and lvalue of the log. -1 with a reason. */
int tx_range(struct repair *r, struct tx_log *l, const char **why);
/* Returns the pointer variable to the object of which the store changes a part; NULL: none. */
const char *tx_pointer_of(const struct source_node *store);
/* Asks whether some node of `top` declares or assigns a variable of the expression. */
bool tx_is_changed(const struct source_node *top, const char *expression);
void tx_set_range(struct repair *r, struct tx_log *l, const char *lvalue);

/* add_calls.c: returns the calls of a file that log */
const struct tx_add_calls *tx_add_calls_of(struct repair *r, const struct source_unit *u,
					   struct file *f);
/* Finds the calls in a macro's definition that log. Their arguments are in terms of the macro's
 * parameters, without blanks and without parentheses around names. */
void tx_add_calls_of_macro(struct repair *r, const struct source_macro *m, struct file *f,
			   struct tx_add_calls *all);
const char *tx_bare(struct repair *r, const char *text);
bool tx_add_call_is_whole(const struct tx_add_call *c); /* it logs a whole object */
/* add_form.c */
/* Sets object, member and handle of the log, by taking its lvalue apart. */
void tx_log_split(struct repair *r, struct tx_log *l);
/* Logs the whole array instead of an element, if it is small enough. */
bool tx_log_take_array(struct repair *r, struct tx_log *l);
/* Returns the untyped handle of the log's object; NULL: none. */
const char *tx_log_oid(struct repair *r, const struct tx_log *l);
/* Returns the text of the log. are_several: other members of the object are logged, too; is_all:
 * the log and those of the other members cover the whole object. */
const char *tx_log_form(struct repair *r, const struct tx_add_calls *all, const struct tx_log *l,
			bool are_several, bool is_all, bool *is_whole);
/* add_checked.c: returns the log's call with a check of its result, written as for the function's
 * previous log; NULL: that one has no check */
const char *tx_log_checked(struct repair *r, const struct tx_add_calls *all,
			   const struct tx_log *l);
/* add_move.c: moves an existing log that comes too late; false: there is none */
bool tx_log_move(struct repair *r, const struct tx_add_calls *all, struct tx_log *l);
/* Asks whether the call logs all that the store needs. */
bool tx_add_call_covers(struct repair *r, const struct tx_add_call *c, const struct tx_log *l);
/* add_again.c: writes the changes of logs that repeat others */
void tx_emit_again(struct repair *r);
/* macro_log.c: plans a log in the macro that stores. 1: planned; 0: the macro does not make the
 * store; -1: impossible, with a reason */
int tx_macro_log(struct repair *r, const struct fix *x, const struct repair_frame *at,
		 const char **why);
/* Returns the log that is planned for this bug in a macro; NULL: none. */
const struct tx_macro_log *tx_macro_log_of(const struct repair *r, size_t bug);
void tx_emit_macro_logs(struct repair *r);
/* logged_by_callers.c: asks whether callers of the function log what it stores there */
bool tx_is_logged_by_callers(struct repair *r, const struct tx_log *l);
/* Asks whether the function has allocated, in its transaction, what the expression names. */
bool tx_is_new(const struct source_function *in, const char *what);
/* arguments.c: moves the log out of its function to before the call in frame `outer`; the call's
 * arguments say what is stored. False: they do not */
bool tx_log_outward(struct repair *r, const struct tx_log *l, const struct repair_place *p,
		    size_t outer, struct tx_log *out);
/* Logs a whole object before a call that stores to several parts of it. */
void tx_log_take_given(struct repair *r, struct tx *t);
/* log.c */
/* Returns the variable through which the store goes; NULL: none. */
const char *tx_base_of(const struct source_node *store);
/* Returns the statement in from's block that contains `to` or is `to`, if control cannot reach `to`
 * without having passed `from`. Otherwise NULL. */
const struct source_node *tx_way_from(const struct file *f, const struct source_node *from,
				      const struct source_node *to);
/* Sorts the logs by place, chooses their texts, and drops those that others cover. */
void tx_sort_logs(struct repair *r, struct tx *t);
/* Asks whether log a logs all that log b would log. */
bool tx_log_covers(const struct tx_log *a, const struct tx_log *b);
/* log_find.c: finds what the transaction must log. Returns -1 with t->why. */
int tx_logs(struct repair *r, struct tx *t);
/* Asks whether the recorded run executed a store in this line. */
bool tx_is_observed(const struct tx *t, const struct file *in, const struct source_node *store);

/* callee.c */
/* Finds the function among those that transactions call; NULL: no transaction calls it. */
struct tx_callee *tx_callee_find(struct repair *r, const struct source_function *f);
/* Returns the file in which the function is changed, or that of its copy. */
struct file *tx_callee_file(struct repair *r, const struct tx_callee *c);
void tx_callees_release(struct repair *r);
/* Asks whether the call is already changed to call a copy that flushes. */
bool tx_is_redirected(const struct repair *r, const struct file *f, const struct source_node *call);
/* callee_ways.c: decides how the functions log that transactions call. Only transactions without a
 * `why` count, which can be written. */
void tx_callees_find(struct repair *r);
void tx_callees_copy(struct repair *r, const struct tx *t);
void tx_callees_redirect(struct repair *r); /* after all copies are made */

/* alloc.c */
/* Asks whether the call allocates or releases memory outside of transactions. */
bool tx_is_allocation(const struct source_node *n);
bool tx_allocates(const struct source_function *f); /* it contains such a call */
/* Replaces the allocations of a function that transactions call. Returns what changes, with a `why`
 * if it cannot be changed; NULL: nothing changes. */
struct tx *tx_callee_allocations(struct repair *r, const struct tx_callee *c);
int tx_allocations(struct repair *r, struct tx *t);
/* allocated.c */
/* Asks whether something else than `but` is assigned to the variable, too. */
bool tx_is_ambiguous(const struct tx *t, const char *name, const struct source_node *but);
void tx_follow_pointers(struct tx *t); /* finds variables that point to allocated memory */
void tx_drop_allocated(struct repair *r, struct tx *t);
/* persists.c: finds the persists that a new transaction makes unnecessary */
void tx_persists(struct repair *r, struct tx *t);
bool tx_is_needless(const struct tx *t, const struct source_node *n);
/* abort.c: returns the error value that the function can return after an abort; NULL: none */
const char *tx_error_value(struct repair *r, const struct tx *t); /* NULL: none */
/* Makes the transaction use the error value that other transactions of the file use. */
void tx_follow_custom(struct repair *r, struct tx *t);
/* Returns a statement that ends the program. */
const char *tx_ending(struct repair *r, const struct tx *t);
/* Returns why a new transaction does not suit this file; NULL: it does. */
const char *tx_convention_why(struct repair *r, struct tx *t);
/* wrapper.c: finds how the file writes transactions in C++ */
void tx_find_wrapper(struct repair *r, struct tx *t);
/* add.c: returns the outcome of bug i of t, which a log fixes */
const char *tx_add_outcome(struct repair *r, const struct tx *t, size_t i);
/* emit.c: writes a transaction */
void tx_emit(struct repair *r, struct tx *t);
void tx_emit_callee(struct repair *r, struct tx_callee *c);
/* emit_log.c */
/* Removes text, with its lines if they would be empty. */
void tx_cut(struct file *f, uint32_t begin, uint32_t end);
void tx_emit_logs(struct repair *r, struct tx *t);

#endif
