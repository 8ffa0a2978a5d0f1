/* What the files of repair/ share. All strings live in the repair's arena. */
#ifndef REPAIR_INNER_H
#define REPAIR_INNER_H

#include <limits.h>

#include "repair/repair.h"
#include "util/alloc.h"
#include "util/vec.h"

/* A replacement of bytes [at, at + removed). */
struct edit {
	uint32_t at, removed;
	const char *insert;
};

struct file {
	const char *path;
	char *text; /* malloc'd */
	uint32_t len_bytes;
	VEC(struct edit) edits;
	const char *after;
};

/* What is to be written back. */
struct range {
	const char *addr, *len; /* expressions */
	const char *base, *base_len; /* the object that it is a member of; NULL */
	uint32_t base_bytes;	     /* size of that object; 0: not known */
	const char *tail;	     /* bytes written directly behind that object, to its array without a length; NULL */
	bool is_one_line;	     /* aligned so that it cannot cross a line */
	bool is_volatile;	     /* no function that flushes takes a pointer to that */
	const struct source_node *names; /* below it are the names that addr and base depend on */
};

enum where {
	AFTER,	  /* the statement */
	IN_COMMA, /* inside the expression */
	IN_RETURN, /* with a temporary */
};

/* One change. */
struct fix {
	size_t bug;
	struct source_unit *unit;
	const struct source_function *function;
	struct file *file;
	enum where where;
	const struct source_node *store; /* or call, or flush */
	const struct source_node *stmt;	 /* the statement that is changed */
	const struct source_node *fence_stmt; /* where the fence goes; NULL: with the flush */
	const char *value;		 /* IN_COMMA: what the expression's value is; NULL if nobody asks */
	struct range range;		 /* addr NULL: no flush */
	bool needs_flush, needs_fence;
	bool is_dropped; /* another one does it */
	bool is_hoisted; /* the fence after a call that goes to a copy: what it calls may need an order */
	bool is_extra;	 /* no bug of the report: in a copy of a function, for paths that did not run */
	const struct repair_place *place; /* where the store is: its frame, the next are its callers. NULL: not hoisted */
	size_t frame;
};

/* A function's copy for persistent memory: what it stores is flushed. */
struct clone {
	struct source_unit *unit;
	const struct source_function *function;
	struct file *file, *copy; /* copy: the same text with the copy's own edits */
	const char *name;	  /* NULL: not written yet */
	bool is_there;		  /* an earlier mend made it */
	bool is_for_tx;		  /* it logs instead, and is called in transactions */
};

/* Why a function cannot be copied; NULL: it can. */
struct verdict {
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

/* A function's definition, or a place where its name is used. */
struct use {
	const char *name;
	struct source_unit *unit;
	const struct source_function *in; /* the definition, or the function that uses it */
	const struct source_node *node;	  /* NULL: the definition */
	uint32_t at;
};

/* A statement that goes. */
struct removal {
	size_t bug;
	struct file *file;
	const struct source_node *stmt;
	const char *why_not; /* NULL: it goes */
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

struct outcome {
	enum repair_status status;
	const char *text;
};

struct repair {
	const struct source_api *api;
	const struct source_database *db;
	const struct repair_options *options;
	struct arena arena;
	VEC(const struct repair_bug *) bugs;
	VEC(struct outcome) outcomes;
	VEC(struct file *) files;
	VEC(struct source_unit *) units;
	VEC(struct fix) fixes;
	VEC(struct removal) removals;
	VEC(struct tx *) txs; /* tx.h */
	VEC(struct tx_callee) callees;
	VEC(const struct file *) changed;
	VEC(struct clone *) clones;
	VEC(struct redirect) redirects;
	VEC(struct use) uses; /* of names.c */
	size_t nunits_indexed;
	VEC(struct verdict) verdicts; /* of clone.c */
	struct alias *alias;   /* NULL: not needed, or not there */
	const char *alias_why; /* why it is not there; NULL: not tried */
	VEC(bool) wanted;	/* by bug */
	VEC(const char *) failures; /* by bug: why the change that was planned cannot be written; NULL */
	bool has_new_failures;
	VEC(size_t) groups; /* by bug: another one of its group, itself for one of them */
	size_t nflushes, nfences, nremoved, ntransactions;
};

/* text.c */
const char *text_format(struct repair *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *text_copy(struct repair *r, const char *from, size_t len_bytes);
uint32_t text_skip_blanks(const struct file *f, uint32_t at);	     /* blanks and comments */
uint32_t text_semicolon(const struct file *f, uint32_t at);	     /* just after it; 0 if none follows directly */
uint32_t text_line_begin(const struct file *f, uint32_t at);
uint32_t text_line_end(const struct file *f, uint32_t at);	     /* of the newline or the end */
bool text_has_directive(const struct file *f, uint32_t from, uint32_t to); /* what is compiled under a condition does not always come before what follows */
const char *text_indent(struct repair *r, const struct file *f, uint32_t at); /* of the line at */
const char *text_of(struct repair *r, const struct file *f, const struct source_node *n); /* as written, in one line if it can be */
bool text_begins_line(const struct file *f, uint32_t at); /* only blanks are before it */
bool text_is_identifier(const char *s);
bool text_has_word(const char *text, const char *word);
const char *text_wrapped(struct repair *r, const char *text);
bool text_is_postfix(const char *s); /* may have -> or [] appended, & before it, without parentheses */
/* The arguments of a call or macro use in [at, end); NULL if it is none. Ends with NULL. */
const char **text_arguments(struct repair *r, const struct file *f, uint32_t at, uint32_t end);
/* Every identifier names[i] replaced by values[i]; those behind . and ->, too, in a macro's text. */
const char *text_substitute(struct repair *r, const char *text, bool in_members, const char *const *names, const char *const *values, size_t n);

/* files.c */
struct file *file_open(struct repair *r, const char *path); /* NULL if it cannot be read */
const char *file_resolve(struct repair *r, const char *path); /* absolute; NULL if it is not there */
struct source_unit *unit_open(struct repair *r, const char *file, const char **why); /* NULL with a reason */
bool path_is_below(const char *path, const char *folder);

/* groups.c: these two are mended together. */
size_t group_of(const struct repair *r, size_t bug);
void group_join(struct repair *r, size_t a, size_t b);
void group_by_place(struct repair *r);

/* nodes.c */
const struct source_node *node_next(const struct source_node *n, const struct source_node *top); /* preorder; NULL at the end */
const struct source_function *function_at(const struct source_unit *u, const char *file, uint32_t line);
const struct source_function *function_named(const struct source_unit *u, const char *name); /* with a body */
bool function_is_same(const struct source_function *a, const struct source_function *b); /* also in another unit */
const struct source_use *macro_use(const struct source_unit *u, const char *file, const struct source_node *n); /* that it comes from; NULL */
bool node_is_assignment(const struct source_node *n);
bool node_is_own_variable(const struct source_node *n); /* of the function, so not persistent */
bool node_assigns(const struct source_node *top, const struct source_node *besides, const char *name); /* a variable */
bool call_passes_volatile(const struct source_node *call);
bool type_is_pool(const char *type); /* of libpmemobj; NULL is none */
bool node_is_statement(const struct source_node *n);
bool node_is_body(const struct file *f, const struct source_node *n); /* a statement, not part of a header */
bool node_is_in_lambda(const struct source_node *n);

/* locate.c */
const struct source_node *store_at(const struct source_unit *u, const struct source_function *fn, const struct file *f, uint32_t line, uint32_t column);
const struct source_node *call_at(const struct source_function *fn, const char *callee, uint32_t line, uint32_t column);
bool node_is_store(const struct source_unit *u, const struct file *f, const struct source_node *n); /* perhaps to persistent memory */
/* Is there an atomic or volatile store in it? Who writes that cares for the order: what was stored before shall be durable before. */
bool node_publishes(struct repair *r, const struct source_unit *u, const struct file *f, const struct source_node *top);
uint32_t file_offset(const struct file *f, uint32_t line, uint32_t column); /* 0 for column 0 */

/* pure.c */
bool function_is_pure(const struct source_unit *u, const char *name); /* only computes */
bool function_computes(struct repair *r, const struct source_unit *u, const char *name); /* the same, if it may be defined in another unit */
bool node_is_repeatable(const struct source_unit *u, const struct source_node *n); /* evaluating it again changes nothing */
/* Nothing in it needs an order: no jumps, no calls but of functions that only compute or copy. */
bool node_is_calm(struct repair *r, const struct source_unit *u, const struct source_node *n);

/* statement.c */
const char *indent_unit(struct repair *r, const struct file *f, const struct source_function *fn); /* one step of indentation in the function */
uint32_t statement_end(const struct file *f, const struct source_node *stmt); /* behind the semicolon */
uint32_t line_end_behind(const struct file *f, uint32_t at); /* where the line ends, behind comments; 0 if code follows */

/* edit.c */
void file_edit(struct file *f, uint32_t at, uint32_t removed, const char *insert);
const char *file_edited(struct repair *r, struct file *f, uint32_t from, uint32_t to);

/* atomics.c: the object that a call of std::atomic's functions writes; NULL: it is none. */
const struct source_node *atomic_object(const struct source_node *call);

/* range.c: -1 with a reason. */
int range_of_store(struct repair *r, struct fix *x, const char **why);

/* macro.c: the left side of the only assignment in the macro, in terms of this use; NULL if there is none or more. */
const char *macro_lvalue(struct repair *r, const struct source_unit *u, struct file *f, const struct source_use *use);

/* names.c */
const struct use *names_find(struct repair *r, const char *name, size_t *n); /* n of them, by file and place */
const struct source_function *function_defined(struct repair *r, struct source_unit **u, const char *name); /* in any unit; NULL */

/* outward.c: the change at a caller instead, which tells the bytes by its arguments. */
bool outward_step(struct repair *r, const struct fix *x, struct fix *outer, const struct repair_place *p, size_t i); /* false: cannot be */
bool call_is_flushed_after(const struct source_node *call);

/* hoist.c: moves fixes out of functions that volatile memory is given to, or whose callers flush. */
void hoist_fixes(struct repair *r);

/* score.c: how sure it is that a place works on persistent memory only: the store (level 0), or the call `level` frames further out. */
enum { SCORE_NEVER = INT_MIN };
struct score {
	int value; /* npm - nvolatile, or SCORE_NEVER */
	unsigned npm, nvolatile;
	const char *why; /* of the first that is never taken; NULL: it has no pointer that leads to the store */
};
void score_sites(struct repair *r, const struct fix *x, struct score *scores, size_t n);
bool score_matters(struct repair *r, const struct fix *x, size_t n); /* some function on the way has other callers */
/* uses.c */
const struct source_node *use_call(const struct source_node *name);
size_t uses_next(const struct use *uses, size_t n, size_t i, const struct source_function *of);
unsigned uses_count(struct repair *r, const struct source_function *f);
bool uses_are_elsewhere(struct repair *r, const struct source_function *f);
bool uses_has_unseen(struct repair *r, const struct source_function *f); /* one that is on no bug's call stack */

/* pointers.c */
bool pointers_analyse(struct repair *r); /* false: it cannot be done, r->alias_why */
struct alias_place pointers_place_of_store(const struct file *f, const struct source_node *n);
struct alias_place pointers_place_of_call(const struct file *f, const struct source_node *call, const char *callee);
bool pointers_reach_pm(struct repair *r, const struct source_unit *u, struct file *f, const struct source_node *n); /* by the analysis */

/* clone_check.c: -1 with a reason if it cannot be done. */
bool clone_is_ours(const struct repair *r, const char *path);
int clone_function_check(struct repair *r, struct source_unit *u, const struct file *f, const struct source_function *fn, const char **why);
int clone_call_check(struct repair *r, const struct source_unit *u, const struct file *f, const struct source_node *call,
		     const struct source_function *callee, const char **why);
bool clone_is_declaration(struct repair *r, const struct source_function *d, const struct source_function *of);
bool clone_is_visible(const struct source_unit *u, const struct file *f, const struct source_node *call, const struct source_function *callee);
uint32_t clone_declaration_end(const struct file *f, const struct source_function *d);		   /* 0: of an odd form */
uint32_t clone_declarator(const struct file *f, uint32_t from, uint32_t to, const char *name); /* where the name is; UINT32_MAX */

/* clone.c */
struct clone *clone_find(const struct repair *r, const struct source_function *f, bool is_for_tx); /* NULL: it has none */
struct clone *clone_get(struct repair *r, struct source_unit *u, struct file *file, const struct source_function *f); /* that flushes */
struct clone *clone_for_tx(struct repair *r, struct source_unit *u, struct file *file, const struct source_function *f);
void clone_redirect(struct repair *r, size_t bug, const struct fix *at, struct file *file, const struct source_node *call, struct clone *to);
void clone_forget(struct repair *r);
void clone_emit(struct repair *r);     /* clone_emit.c: once all fixes are edits */

/* frame.c: fills unit, file, function for frame i of the place. -1 with a reason. */
int fix_enter_frame(struct repair *r, struct fix *x, const struct repair_place *p, size_t i, const char **why);
/* The call of `callee` in frame i, which `at` becomes. NULL with a reason. */
const struct source_node *call_of_frame(struct repair *r, struct fix *at, const struct repair_place *p, size_t i, const char *callee,
					const char **why);

/* subprogram.c: -1 with a reason if it cannot be done. */
int subprogram_check(struct repair *r, const struct fix *x, size_t level, const char **why);
void subprogram_make(struct repair *r, size_t fix, size_t level);
void subprogram_complete(struct repair *r); /* once all fixes are known */

/* barrier.c */
bool barrier_is_kind(const char *kind);
int barrier_plan(struct repair *r, size_t bug, const char **why);

/* insert.c */
struct insertion { /* behind one statement */
	struct fix *x; /* one of its fixes: where, and in what style */
	const struct source_node *stmt;
	VEC(const char *) lines;
	const char *result_type; /* return needs a temporary */
};
void insert_behind(struct repair *r, struct insertion *a);
void insert_in_expression(struct repair *r, const struct fix *x, const char *const *lines);

/* place.c */
int place_fix(struct repair *r, struct fix *x, const char **why);

/* tx.c: transactions, for bugs whose cure is one. */
int tx_plan(struct repair *r, size_t bug, const char **why);
void tx_settle(struct repair *r); /* which can be written; flushes that they make unnecessary go */
void tx_finish(struct repair *r); /* once all fixes are edits */
void tx_forget(struct repair *r);

/* redundant.c */
void redundant_plan(struct repair *r, size_t bug);
void redundant_emit(struct repair *r);
bool redundant_is_kind(const char *kind);

/* reduce.c */
void reduce_fixes(struct repair *r);

/* loop.c: flush after a loop that fills an array, fence after a loop that only stores. */
void loop_leave(struct repair *r, struct fix *x);

/* idiom.c: how the code base flushes and fences. Calls have {addr} and {len} in them. */
struct idiom {
	const char *flush;   /* a range; NULL: none */
	const char *line;    /* the line of an address */
	const char *persist; /* a range, and a fence */
	const char *fence;
	bool prefers_line, prefers_persist;
	bool flush_is_statement, persist_is_statement, fence_is_statement; /* no expressions */
};
enum { DOES_FLUSH = 1, DOES_FENCE = 2, DOES_STORE = 4 };
bool idiom_is_flush(const char *name);
unsigned idiom_known(const char *name); /* what a function of a library does; 0: it is none of those */
unsigned idiom_name(const char *name); /* what a name promises */
unsigned idiom_body(const struct source_unit *u, const struct source_function *f, int depth); /* what it does */
bool idiom_is_helper(const struct source_unit *u, const struct source_function *f);
void idiom_find(struct repair *r, const struct fix *x, struct idiom *i);
/* The lines that do it, without semicolons if they are one expression each; NULL-terminated. NULL with a reason if there is no way. */
const char **idiom_lines(struct repair *r, const struct idiom *i, const struct range *range, bool flush, bool fence, bool as_expression,
			 const char **why);

/* header.c: are the calls known in every file that includes the header which the fix changes? */
int header_check(struct repair *r, const struct fix *x, const char *const *lines, const char **why);

/* emit.c */
void emit_fixes(struct repair *r);

#endif
