/* What the files of repair/tx/ share: transactions, what they log, and the functions that they
 * call. */
#ifndef REPAIR_TX_INTERNAL_H
#define REPAIR_TX_INTERNAL_H

#include "repair/plan/internal.h"

enum {
	/* of a member that is logged whole, although only elements of it are stored to */
	TX_ARRAY_MAX_BYTES = 256,
	TX_OBJECT_MAX_BYTES = 1024, /* of an object that is logged whole for one of its fields */
};

/* A store that a transaction must undo. */
struct tx_log {
	struct fix x;           /* where it is; of which bug */
	uint32_t line;          /* of the store, wherever the log is */
	const char *addr, *len; /* evaluated before the statement */
	const char *lvalue;     /* what is stored to, if it is one object; NULL */
	/* of an lvalue that is a member: a pointer to the object, its typed handle. NULL: it has
	 * none */
	const char *object, *member, *handle;
	/* the member is of a variable, not of what it points to */
	bool is_dot;
	/* of the member, an array, of which the lvalue is an element; 0: it is none */
	uint32_t array_bytes;
	/* of the member and of what it is a member of; 0: not known */
	uint32_t member_bytes, object_bytes;
	/* what the function that is called stores to a part of, as an lvalue; NULL */
	const char *given;
	const char *text; /* the call that logs */
	/* the call, and what looks at its result; NULL: nothing does */
	const char *checked;
	const struct source_node *stmt; /* before which it stands */
	/* the statement that logs it too late, and goes; NULL */
	const struct source_node *moved;
	/* the store's statement, which stands behind the commit and moves into the work; NULL */
	const struct source_node *late;
	/* the log of a part of the same, directly before it, which goes; 0, 0: there is none */
	uint32_t instead_begin, instead_end;
	/* the one that makes it needless, in a function that is called before; NULL */
	const struct tx_log *by;
	const char *guard; /* why it must ask whether a transaction is open; NULL: it need not */
	bool is_whole;     /* the call logs the object, not the member */
	bool is_foreign;   /* in a function that the transaction calls, and others may call, too */
	bool is_unsure;    /* it may be volatile */
	bool is_unseen;    /* it did not run when it was recorded */
	bool is_dropped;   /* logged before */
	bool is_covered;   /* ... because another log covers it, as long as that is written so */
	/* so that no other transaction does it again; another one has */
	bool is_written, is_elsewhere;
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

/* A call path that leads out of the transaction's function: frame `at` is in it, and frame `from`
 * is that of the log. */
struct tx_path {
	const struct repair_place *place;
	size_t from, at;
};

struct tx {
	VEC(size_t) bugs;
	VEC(const struct repair_cure *) cures;          /* of the bugs */
	struct fix x;                                   /* unit, file and function that it is in */
	const struct source_node *block, *first, *last; /* statements of one block */
	bool is_there;      /* the program has it already: only logs are added */
	bool is_hidden;     /* but where it begins is not seen, nor whether it always does */
	bool is_of_several; /* its stores come from several executions of the function */
	const char *pool;
	const char *why; /* it cannot be written; NULL */
	VEC(struct tx_log) logs;
	VEC(struct tx_path) paths;
	VEC(struct tx_change) changes;
	VEC(const char *) declarations; /* moved before it */
	VEC(struct tx_new) allocated;
	VEC(const struct source_node *) needless; /* statements that go */
	const char *result_type;                  /* of a return inside; NULL: none has a value */
	const char *result, *flag, *label; /* names for returns from inside; NULL if not needed */
	bool returns_at_end;               /* the last statement is a return */
	/* what is returned after an abort, and the variable that tells; NULL: the program ends */
	const char *error, *aborted;
	/* that gets the error and is returned; NULL: there is none */
	const char *variable;
	const struct source_node *zero; /* that was returned, if the variable is new; NULL */
	/* a transaction of the program among the statements, which becomes this one; NULL */
	const struct source_node *old;
	uint32_t head_begin, head_end; /* of `old`: from TX_BEGIN to behind the brace */
	/* from the brace to TX_END, or to the brace behind which it is */
	uint32_t tail_begin, tail_end;
	/* between two transactions of the program that become one; 0, 0: they are not two */
	uint32_t joint_begin, joint_end;
	/* C++: how the file runs a lambda in a transaction, up to its pool; NULL: it does not */
	const char *wrapper;
	const char *capture; /* ... from behind the pool to behind the brace */
	const char *note;    /* for the user; NULL */
};

/* A call that logs: what it is given. */
enum tx_form {
	FORM_OBJECT,  /* a typed handle */
	FORM_FIELD,   /* a typed handle, a field */
	FORM_POINTER, /* to what is logged */
	FORM_MEMBER,  /* a pointer, a member */
	FORM_LVALUE,  /* what is logged */
	FORM_RANGE,   /* an address, a length */
	FORM_HANDLE,  /* an untyped handle, an offset, a length */
};
struct tx_how {
	enum tx_form form;
	size_t first, second; /* which argument is which */
};
struct tx_add_call {
	uint32_t begin, end; /* in the file */
	struct tx_how how;
	const char *callee; /* as written */
	const char **args;
	size_t nargs;
	bool is_own; /* a function or macro of the program */
	/* a function that remembers what it has logged in this transaction, and does so once;
	 * NULL */
	const struct source_function *once;
};
struct tx_add_calls {
	const struct file *file;
	VEC(struct tx_add_call) list;
};

/* Who calls a function. */
enum tx_callers {
	TX_ONLY_INSIDE,   /* transactions */
	TX_SOME_OUTSIDE,  /* others, too */
	TX_SOME_VOLATILE, /* transactions, with memory that is not persistent, too */
	TX_NOT_KNOWN,
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
	enum tx_callers callers;
	struct tx *inner; /* what is changed in it besides logs: allocation. NULL: nothing */
};

/* A log that stands in a macro, which stores. */
struct tx_macro_log {
	size_t bug;
	struct file *file;
	struct macro_store store;
	const char *name, *text; /* of the macro; the call */
	bool is_again;           /* another bug's is the same */
};

/* A log that repeats another one: of new memory, or in a loop. */
struct tx_again {
	size_t bug;
	struct fix x;
	const struct source_node *stmt, *loop;
	/* the variable that stands for memory that the transaction has allocated: the log goes;
	 * NULL */
	const char *of_new;
	/* the log, which moves before the loop; or what stands in the statement's place */
	const char *text;
	const char *before, *behind; /* the loop, where a variable adds up; NULL */
};

struct transactions {
	VEC(struct tx *) list;
	VEC(struct tx_callee) callees;
	VEC(struct tx_add_calls *) add_calls; /* by file */
	VEC(struct tx_macro_log) macro_logs;
	VEC(struct tx_again) again;
};

static inline bool tx_holds(const struct tx *t, const struct source_node *n)
{
	return t->first->begin <= n->begin && n->end <= t->last->end;
}

/* tx.c */
void tx_free(struct tx *t);
/* The statement of the function at a line and column; NULL. */
const struct source_node *tx_statement(const struct source_function *fn, const struct file *f,
				       uint32_t line, uint32_t column);
/* not always done by the statement, or often */
bool tx_is_conditional(const struct file *f, const struct source_node *stmt,
		       const struct source_node *store);
void tx_include(struct tx *t, const struct source_node *n); /* takes one more statement in */
void tx_merge(struct repair *r);                            /* those that touch become one */

/* find.c: does it include libpmemobj's transactions? */
bool tx_has_library(const struct source_unit *u);
/* work.c: is it in the work of a transaction that the program has? */
bool tx_is_in_work(const struct source_unit *u, const struct file *f,
		   const struct source_function *fn, const struct source_node *place);
/* ... is behind the commit or abort of one that has not ended: TX_ONCOMMIT and the like. */
bool tx_is_over(const struct source_unit *u, const struct source_function *fn,
		const struct source_node *place);
/* in a transaction */
bool tx_runs_lambda(const struct source_unit *u, const struct file *f,
		    const struct source_node *call, const struct source_node *lambda);
/* is there a transaction in what it calls? */
bool tx_call_begins(const struct source_unit *u, const struct source_node *call);
/* Is the transaction in whose work the one place is, if it is in one, that of the other place,
 * too? */
bool tx_is_still_open(const struct source_unit *u, const struct source_function *fn,
		      const struct source_node *from, const struct source_node *to);
/* callers.c; store: what the function must log, NULL if it only calls such functions */
enum tx_callers tx_callers(struct repair *r, struct source_unit *u, const struct source_function *f,
			   const struct source_node *store);
const char *tx_callers_why(enum tx_callers c);

/* edge.c: moves the ends outwards until they are legal, and notes what is rewritten. -1 with
 * t->why. */
int tx_edges(struct repair *r, struct tx *t);
/* returns.c: another one */
int tx_redirect_returns(struct repair *r, struct tx *t);
/* extend.c: if one transaction is among the statements already, that one grows. */
void tx_extend(struct tx *t);
/* ... A store in TX_ONCOMMIT moves to the end of the work: l->late. False: it cannot. */
bool tx_take_late(const struct tx *t, struct tx_log *l);
/* when all are known: why it cannot after all; NULL: it can */
const char *tx_late_why(struct repair *r, const struct tx *t, const struct tx_log *l);
void tx_emit_late(struct repair *r, struct tx *t);
/* ... If its statements are two transactions, and between them only what comes of an abort, they
 * become one. */
void tx_join(struct repair *r, struct tx *t);
/* tx.c: that the function does not use */
const char *tx_free_name(struct repair *r, const struct tx *t, const char *name);
/* pool.c; NULL: none is at hand */
const char *tx_pool(struct repair *r, const struct tx *t);

/* range.c: addr, len and lvalue of the log. -1 with a reason. */
int tx_range(struct repair *r, struct tx_log *l, const char **why);
/* the variable to an object of which it stores to a part; NULL */
const char *tx_pointer_of(const struct source_node *store);
/* a variable in it is declared or assigned there */
bool tx_is_changed(const struct source_node *top, const char *expression);
void tx_set_range(struct repair *r, struct tx_log *l, const char *lvalue);

/* add_calls.c: those of a file */
const struct tx_add_calls *tx_add_calls_of(struct repair *r, const struct source_unit *u,
					   struct file *f);
/* The same in a macro's definition, in the macro's terms, without blanks and without parentheses
 * around names. */
void tx_add_calls_of_macro(struct repair *r, const struct source_macro *m, struct file *f,
			   struct tx_add_calls *all);
const char *tx_bare(struct repair *r, const char *text);
bool tx_add_call_is_whole(const struct tx_add_call *c); /* it logs an object, not a part of one */
/* add_form.c */
/* its object, member and handle */
void tx_log_split(struct repair *r, struct tx_log *l);
/* the whole array instead of an element, if that is not too much */
bool tx_log_take_array(struct repair *r, struct tx_log *l);
/* the untyped handle of its object; NULL */
const char *tx_log_oid(struct repair *r, const struct tx_log *l);
/* are_several: other members, too; is_all: with these, the whole object */
const char *tx_log_form(struct repair *r, const struct tx_add_calls *all, const struct tx_log *l,
			bool are_several, bool is_all, bool *is_whole);
/* add_checked.c: the call with what looks at its result, as the log before it in the function has
 * it; NULL: that has none */
const char *tx_log_checked(struct repair *r, const struct tx_add_calls *all,
			   const struct tx_log *l);
/* add_move.c: a log that comes too late stands in its place; false: there is none */
bool tx_log_move(struct repair *r, const struct tx_add_calls *all, struct tx_log *l);
/* what the store needs */
bool tx_add_call_covers(struct repair *r, const struct tx_add_call *c, const struct tx_log *l);
/* add_again.c */
void tx_emit_again(struct repair *r);
/* macro_log.c: the store is one of a macro's, which must log it. 1: it will, 0: it is none, -1: it
 * cannot, with a reason */
int tx_macro_log(struct repair *r, const struct fix *x, const struct repair_frame *at,
		 const char **why);
/* NULL: it has none */
const struct tx_macro_log *tx_macro_log_of(const struct repair *r, size_t bug);
void tx_emit_macro_logs(struct repair *r);
/* custom.c: do callers of the function log what it stores there? */
bool tx_is_logged_by_callers(struct repair *r, const struct tx_log *l);
/* did the function's transaction allocate what the expression names? */
bool tx_is_new(const struct source_function *in, const char *what);
/* arguments.c: the same range before the call in the frame `outer`, by its arguments. false: they
 * do not tell */
bool tx_log_outward(struct repair *r, const struct tx_log *l, const struct repair_place *p,
		    size_t outer, struct tx_log *out);
/* ... and a whole object before a call that stores to several parts of it */
void tx_log_take_given(struct repair *r, struct tx *t);
/* log.c */
/* the variable through which it goes; NULL */
const char *tx_base_of(const struct source_node *store);
/* The statement of the same block that holds the later one, or is it, if whoever comes there has
 * done the first; NULL. */
const struct source_node *tx_way_from(const struct file *f, const struct source_node *from,
				      const struct source_node *to);
/* by place, as they are written, and without those that others cover */
void tx_sort_logs(struct repair *r, struct tx *t);
/* whatever b would log was logged by a */
bool tx_log_covers(const struct tx_log *a, const struct tx_log *b);
/* log_find.c: what it must log; calls that become transactional. -1 with t->why. */
int tx_logs(struct repair *r, struct tx *t);
/* in this line */
bool tx_is_observed(const struct tx *t, const struct file *in, const struct source_node *store);

/* callee.c */
/* NULL: it is none of them */
struct tx_callee *tx_callee_find(struct repair *r, const struct source_function *f);
/* where it is changed: it may be a copy's */
struct file *tx_callee_file(struct repair *r, const struct tx_callee *c);
void tx_callees_release(struct repair *r);
/* to a copy that flushes */
bool tx_is_redirected(const struct repair *r, const struct file *f, const struct source_node *call);
/* callee_ways.c: how the functions log that the transactions, those without a `why`, call. */
void tx_callees_find(struct repair *r);
void tx_callees_copy(struct repair *r, const struct tx *t);
void tx_callees_redirect(struct repair *r); /* once all have copies */

/* alloc.c */
/* a call that allocates or releases on its own */
bool tx_is_allocation(const struct source_node *n);
bool tx_allocates(const struct source_function *f); /* it has such a call */
/* NULL: there are none. With a `why` if they cannot be changed */
struct tx *tx_callee_allocations(struct repair *r, const struct tx_callee *c);
int tx_allocations(struct repair *r, struct tx *t);
/* allocated.c */
/* something else is assigned to the variable */
bool tx_is_ambiguous(const struct tx *t, const char *name, const struct source_node *but);
void tx_follow_pointers(struct tx *t); /* variables that point to what was allocated */
void tx_drop_allocated(struct repair *r, struct tx *t);
/* persists.c: of a new transaction */
void tx_persists(struct repair *r, struct tx *t);
bool tx_is_needless(const struct tx *t, const struct source_node *n);
/* abort.c */
const char *tx_error_value(struct repair *r, const struct tx *t); /* NULL: there is none */
/* the error that other transactions of the file give */
void tx_follow_custom(struct repair *r, struct tx *t);
/* a statement that ends the program */
const char *tx_ending(struct repair *r, const struct tx *t);
/* why a new one does not fit into this file; NULL: it does */
const char *tx_convention_why(struct repair *r, struct tx *t);
/* wrapper.c: how the file does it in C++ */
void tx_find_wrapper(struct repair *r, struct tx *t);
/* add.c: what became of the bug, by its number in t, that is mended by a log */
const char *tx_add_outcome(struct repair *r, const struct tx *t, size_t i);
/* emit.c */
void tx_emit(struct repair *r, struct tx *t);
void tx_emit_callee(struct repair *r, struct tx_callee *c);
/* emit_log.c */
void tx_cut(struct file *f, uint32_t begin, uint32_t end); /* and the lines that it filled */
void tx_emit_logs(struct repair *r, struct tx *t);

#endif
