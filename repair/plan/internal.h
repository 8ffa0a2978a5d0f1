/* What flushes and transactions share: the bugs, the fixes planned for them, and copies of
 * functions. */
#ifndef REPAIR_PLAN_INTERNAL_H
#define REPAIR_PLAN_INTERNAL_H

#include "repair/edit/internal.h"
#include "repair/plan/bug.h"

/* The bytes to write back. */
struct range {
	const char *addr, *len;         /* expressions for address and length */
	const char *thing, *thing_type; /* the stored lvalue and its type; NULL: unknown */
	/* the object of which the lvalue is a member, its address and size; NULL: none */
	const char *base, *base_len;
	/* type of that object, and the member's name; NULL: none */
	const char *base_type, *member;
	uint32_t base_bytes, base_align_bytes; /* size and alignment of that object; 0: unknown */
	/* how many bytes are written in that object, at most; 0: unknown */
	uint32_t bytes;
	/* number of bytes written directly behind that object, to its array without length; NULL:
	 * none */
	const char *tail;
	bool is_one_line; /* it is aligned so that it cannot cross a line */
	/* the address needs a cast: no function that flushes takes a pointer to volatile */
	bool is_volatile;
	/* the tree below this node has the names on which addr and base depend */
	const struct source_node *names;
};

enum where {
	AFTER,     /* behind the statement */
	IN_COMMA,  /* inside the expression, behind a comma */
	IN_RETURN, /* in a return statement; needs a temporary */
};

/* One planned flush, fence or both. */
struct fix {
	size_t bug;
	struct source_unit *unit;
	const struct source_function *function;
	struct file *file;
	enum where where;
	/* the store; or the call or the flush that takes its place */
	const struct source_node *store;
	const struct source_node *stmt;       /* the statement behind which the fix goes */
	const struct source_node *fence_stmt; /* where the fence goes; NULL: with the flush */
	/* the statement before which the fence must come; NULL: unknown */
	const struct source_node *until;
	/* for IN_COMMA: text of the expression's value; NULL: nobody uses it */
	const char *value;
	struct range range; /* addr is NULL: no flush */
	bool needs_flush, needs_fence;
	bool is_dropped; /* another fix does the same */
	/* it is the fence behind a call of a copy, inside which an order may matter */
	bool is_hoisted;
	bool is_given; /* the store is the call of a callback that fills the object (callback.c) */
	/* it belongs to no bug: a store in a copy, on a path that did not run */
	bool is_extra;
	/* the stack of the store, whose frame is number `frame`. NULL: the fix does not move any
	 * more */
	const struct repair_place *place;
	size_t frame;
	/* for a fence alone: the flush that it completes, and what must come later. NULL: it does
	 * not move */
	const struct repair_place *flush_place, *later_place;
};

/* A copy of a function for persistent memory, which flushes what it stores. */
struct clone {
	struct source_unit *unit;
	const struct source_function *function;
	struct file *file, *copy; /* copy: the same text with the copy's own edits */
	const char *name;         /* NULL: not written yet */
	bool is_there;            /* an earlier fix wrote it */
	bool is_for_tx;           /* it logs instead, and is called in transactions */
	size_t ninherited;        /* how many of its edits the original has, too */
};

/* Remembers why a function cannot be copied; NULL: it can. */
struct clone_verdict {
	const struct source_function *function;
	const char *why;
};

/* A call that is changed to call a copy. */
struct redirect {
	size_t bug;
	struct source_unit *unit;
	const struct source_function *function; /* the function that calls */
	struct file *file;
	const struct source_node *call;
	struct clone *to;
};

struct repair {
	struct codebase *code;
	const struct repair_options *options;
	VEC(const struct repair_bug *) bugs;
	VEC(struct repair_outcome) outcomes;
	VEC(bool) wanted; /* per bug: the next plan fixes it */
	/* per bug: why its planned change cannot be written; NULL: it can */
	VEC(const char *) failures;
	VEC(size_t) groups; /* per bug: another bug of its group (union-find), or itself */
	/* per bug: why its change is refused in this and all later plans; NULL: it is not */
	VEC(const char *) refused;
	bool has_new_failures;
	/* how many bugs the first plan had done when it was interrupted; SIZE_MAX: not
	 * interrupted */
	size_t nplanned;
	VEC(struct fix) fixes;
	VEC(struct clone *) clones;
	VEC(struct redirect) redirects;
	VEC(struct clone_verdict) verdicts; /* clone_check.c */
	struct durability *durability;      /* repair/durability/ */
	struct transactions *tx;            /* repair/tx/ */
	struct idioms *idioms;              /* repair/idiom/ */
	struct file_syncs *files;           /* repair/files/ */
	VEC(const struct file *) changed;
	size_t nflushes, nfences, nsyncs, nremoved, namended, ntransactions, nlogs;
	/* number of files that were not test-compiled, as the user interrupted that */
	size_t nunchecked;
};

/* frame.c: fills in unit, file and function for frame i of the place. -1 with a reason. */
int fix_enter_frame(struct repair *r, struct fix *x, const struct repair_place *p, size_t i,
		    const char **why);
/* Finds the call of `callee` in frame i of the place; fills in `at` for that frame. NULL with a
 * reason. */
const struct source_node *call_of_frame(struct repair *r, struct fix *at,
					const struct repair_place *p, size_t i, const char *callee,
					const char **why);

/* compiles.c: returns the first compile error that the plan causes; NULL: none. */
const char *compile_error(struct repair *r);

/* groups.c: returns the group of a bug. group_join() makes one group of the groups of two bugs. */
size_t group_of(const struct repair *r, size_t bug);
void group_join(struct repair *r, size_t a, size_t b);
void group_by_place(struct repair *r);

/* clone_check.c: asks whether the file belongs to the user. The checks below return -1 with a
 * reason if copying, or changing the call, is impossible. */
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
/* Returns the end of a declaration; 0: it has an unusual form. */
uint32_t clone_declaration_end(const struct file *f, const struct source_function *d);
/* Returns the place of the declared name; UINT32_MAX: none. */
uint32_t clone_declarator(const struct file *f, uint32_t from, uint32_t to, const char *name);

/* clone.c */
/* Finds the copy of the function: the one for transactions, or the one that flushes. NULL: the
 * function has no such copy. */
struct clone *clone_find(const struct repair *r, const struct source_function *f, bool is_for_tx);
/* Returns the copy that flushes; makes it if there is none. */
struct clone *clone_get(struct repair *r, struct source_unit *u, struct file *file,
			const struct source_function *f);
struct clone *clone_for_tx(struct repair *r, struct source_unit *u, struct file *file,
			   const struct source_function *f);
void clone_redirect(struct repair *r, size_t bug, const struct fix *at, struct file *file,
		    const struct source_node *call, struct clone *to);
void clone_forget(struct repair *r);
void clone_emit(struct repair *r); /* clone_emit.c: after all fixes are edits */

#endif
