/* What flushes and transactions share: bugs, the fixes that are planned for them, and copies of
 * functions. */
#ifndef REPAIR_PLAN_INTERNAL_H
#define REPAIR_PLAN_INTERNAL_H

#include "repair/edit/internal.h"
#include "repair/plan/bug.h"

/* What is to be written back. */
struct range {
	const char *addr, *len;                /* expressions */
	const char *thing, *thing_type;        /* what is stored to, as an lvalue; NULL */
	const char *base, *base_len;           /* the object that it is a member of; NULL */
	const char *base_type, *member;        /* its type and the member's name; NULL */
	uint32_t base_bytes, base_align_bytes; /* of that object; 0: not known */
	/* at most so many are written, inside that object; 0: not known */
	uint32_t bytes;
	/* bytes written directly behind that object, to its array without a length; NULL */
	const char *tail;
	bool is_one_line;                /* aligned so that it cannot cross a line */
	bool is_volatile;                /* no function that flushes takes a pointer to that */
	const struct source_node *names; /* below it are the names that addr and base depend on */
};

enum where {
	AFTER,     /* the statement */
	IN_COMMA,  /* inside the expression */
	IN_RETURN, /* with a temporary */
};

/* One change. */
struct fix {
	size_t bug;
	struct source_unit *unit;
	const struct source_function *function;
	struct file *file;
	enum where where;
	const struct source_node *store;      /* or call, or flush */
	const struct source_node *stmt;       /* the statement that is changed */
	const struct source_node *fence_stmt; /* where the fence goes; NULL: with the flush */
	/* the statement that the fence must come before; NULL: not known */
	const struct source_node *until;
	/* IN_COMMA: what the expression's value is; NULL if nobody asks */
	const char *value;
	struct range range; /* addr NULL: no flush */
	bool needs_flush, needs_fence;
	bool is_dropped; /* another one does it */
	/* the fence after a call that goes to a copy: what it calls may need an order */
	bool is_hoisted;
	bool is_given; /* the store is a call of a callback, which fills the object */
	/* no bug of the report: in a copy of a function, for paths that did not run */
	bool is_extra;
	/* where the store is: its frame, the next are its callers. NULL: not hoisted */
	const struct repair_place *place;
	size_t frame;
	/* a fence alone: the flush that it completes, and what must come later. NULL: it stays
	 * where it is */
	const struct repair_place *flush_place, *later_place;
};

/* A function's copy for persistent memory: what it stores is flushed. */
struct clone {
	struct source_unit *unit;
	const struct source_function *function;
	struct file *file, *copy; /* copy: the same text with the copy's own edits */
	const char *name;         /* NULL: not written yet */
	bool is_there;            /* an earlier mend made it */
	bool is_for_tx;           /* it logs instead, and is called in transactions */
	size_t ninherited;        /* edits that the original has, too */
};

/* Why a function cannot be copied; NULL: it can. */
struct clone_verdict {
	const struct source_function *function;
	const char *why;
};

/* A call that goes to a copy from now on. */
struct redirect {
	size_t bug;
	struct source_unit *unit;
	const struct source_function *function; /* that calls */
	struct file *file;
	const struct source_node *call;
	struct clone *to;
};

struct repair {
	struct codebase *code;
	const struct repair_options *options;
	VEC(const struct repair_bug *) bugs;
	VEC(struct repair_outcome) outcomes;
	VEC(bool) wanted; /* by bug */
	/* by bug: why the change that was planned cannot be written; NULL */
	VEC(const char *) failures;
	VEC(size_t) groups; /* by bug: another one of its group, itself for one of them */
	/* by bug: why what was written does not do, in this and every later plan; NULL */
	VEC(const char *) refused;
	bool has_new_failures;
	/* bugs that a first plan looked at before it was interrupted; SIZE_MAX: it was not */
	size_t nplanned;
	VEC(struct fix) fixes;
	VEC(struct clone *) clones;
	VEC(struct redirect) redirects;
	VEC(struct clone_verdict) verdicts; /* of clone_check.c */
	struct durability *durability;      /* repair/durability/ */
	struct transactions *tx;            /* repair/tx/ */
	struct idioms *idioms;              /* repair/idiom/ */
	VEC(const struct file *) changed;
	size_t nflushes, nfences, nremoved, namended, ntransactions, nlogs;
	/* files that were not compiled with the change, as that was interrupted */
	size_t nunchecked;
};

/* frame.c: fills unit, file, function for frame i of the place. -1 with a reason. */
int fix_enter_frame(struct repair *r, struct fix *x, const struct repair_place *p, size_t i,
		    const char **why);
/* The call of `callee` in frame i, which `at` becomes. NULL with a reason. */
const struct source_node *call_of_frame(struct repair *r, struct fix *at,
					const struct repair_place *p, size_t i, const char *callee,
					const char **why);

/* compiles.c: the first error in what the plan makes of the sources; NULL: they compile as they
 * did. */
const char *compile_error(struct repair *r);

/* groups.c: these two are mended together. */
size_t group_of(const struct repair *r, size_t bug);
void group_join(struct repair *r, size_t a, size_t b);
void group_by_place(struct repair *r);

/* clone_check.c: -1 with a reason if it cannot be done. */
bool clone_is_ours(const struct repair *r, const char *path);
int clone_function_check(struct repair *r, struct source_unit *u, const struct file *f,
			 const struct source_function *fn, const char **why);
int clone_call_check(struct repair *r, const struct source_unit *u, const struct file *f,
		     const struct source_node *call, const struct source_function *callee,
		     const char **why);
bool clone_is_declaration(struct repair *r, const struct source_function *d,
			  const struct source_function *of);
bool clone_is_visible(const struct source_unit *u, const struct file *f,
		      const struct source_node *call, const struct source_function *callee);
/* 0: of an odd form */
uint32_t clone_declaration_end(const struct file *f, const struct source_function *d);
/* where the name is; UINT32_MAX */
uint32_t clone_declarator(const struct file *f, uint32_t from, uint32_t to, const char *name);

/* clone.c */
/* NULL: it has none */
struct clone *clone_find(const struct repair *r, const struct source_function *f, bool is_for_tx);
/* that flushes */
struct clone *clone_get(struct repair *r, struct source_unit *u, struct file *file,
			const struct source_function *f);
struct clone *clone_for_tx(struct repair *r, struct source_unit *u, struct file *file,
			   const struct source_function *f);
void clone_redirect(struct repair *r, size_t bug, const struct fix *at, struct file *file,
		    const struct source_node *call, struct clone *to);
void clone_forget(struct repair *r);
void clone_emit(struct repair *r); /* clone_emit.c: once all fixes are edits */

#endif
