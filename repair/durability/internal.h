/* What the files of repair/durability/ share: flushes and fences, where they go and how they are
 * written. */
#ifndef REPAIR_DURABILITY_INTERNAL_H
#define REPAIR_DURABILITY_INTERNAL_H

#include <limits.h>

#include "repair/idiom/idiom.h"
#include "repair/plan/internal.h"

/* A statement that goes. */
struct removal {
	size_t bug;
	const struct source_unit *unit;
	struct file *file;
	const struct source_node *stmt;
	const char *instead; /* what stays of it, without a semicolon; NULL: nothing */
	const char *words;   /* what was done */
	const char *why_not; /* NULL: it goes */
};

/* A flush that is there, but too late, too short or of the wrong thing, and is changed instead of
 * another one written. */
struct amendment {
	enum amend_how {
		AMEND_WIDEN,   /* another length, or another range */
		AMEND_MOVE,    /* behind another statement */
		AMEND_HELPER,  /* the function that it calls leaves out the last line */
		AMEND_REPLACE, /* by the fence that it also was, or by nothing */
	} how;
	size_t bug;
	struct fix at; /* unit, file, function; its statement is the flush */
	struct idiom_flush flush;
	const char *addr, *len;           /* WIDEN: instead of those; NULL: as it is */
	const struct source_node *behind; /* MOVE */
	/* MOVE: what is written there; NULL: the statement as it is */
	const char *words;
	/* MOVE: whoever comes to the statement that the store is in, or that calls it, does
	 * store */
	bool is_sure;
	bool needs_fence;                   /* MOVE: and it has none */
	bool leaves_fence;                  /* MOVE, REPLACE: one stays where it was */
	const struct source_node *needless; /* MOVE, REPLACE: a statement that goes with it; NULL */
	struct file *helper_file;           /* HELPER */
	struct idiom_mend mend;
};

/* A flush that stands in a macro, which stores and fences. */
struct macro_flush {
	size_t bug;
	struct file *file;
	struct macro_store store;
	const char *name, *text; /* of the macro; the call */
	bool is_again;           /* another bug's is the same */
	bool has_fence;
};

struct durability {
	VEC(struct macro_flush) macro_flushes;
	VEC(struct removal) removals;
	VEC(struct amendment) amendments;
	struct alias *alias;   /* NULL: not needed, or not there */
	const char *alias_why; /* why it is not there; NULL: not tried */
};

/* barrier.c */
bool barrier_is_kind(const char *kind);
int barrier_plan(struct repair *r, size_t bug, const char **why);
/* takes part in fixes that other bugs get at all its lost stores; false: there are none */
bool barrier_join(struct repair *r, size_t bug);

/* macro.c: the store is that of a macro which fences it: it flushes, too. False: it is none, or
 * shows no way. */
bool macro_flush_plan(struct repair *r, size_t bug, const struct repair_place *p);
/* What is lost and what survives are stores of one macro: it persists the one before the other. -1
 * with a reason. */
int macro_order_plan(struct repair *r, size_t bug, const struct repair_place *lost,
		     const struct repair_place *survived, const char **why);
void macro_flush_emit(struct repair *r);
/* in the macro that is used there; NULL */
const struct macro_flush *macro_flush_at(struct repair *r, const struct repair_place *p);

/* fenced.c */
/* was_idle: no fence was executed; one counts if the flush itself wakes it */
bool fence_follows(struct repair *r, const struct fix *x, const struct repair_place *p,
		   size_t frame, bool was_idle);

/* deadline.c: fences that several flushes wait for, before what must come later. */
void deadline_fences(struct repair *r);

/* displaced.c: fences that came too late, and have nothing to wait for any more; once all fixes are
 * edits. */
void displaced_fences(struct repair *r);
/* what it flushes is durable when it returns */
bool function_fences_itself(struct repair *r, const struct source_unit *u,
			    const struct source_function *f);

/* redundant.c */
void redundant_plan(struct repair *r, size_t bug);
bool redundant_is_kind(const char *kind);

/* redundant_emit.c */
/* what is around it can do without */
bool redundant_can_go(const struct source_unit *u, const struct file *f,
		      const struct source_node *stmt);
void redundant_emit(struct repair *r);

/* regain.c: fences that the flushes of the patch give work again; after redundant_emit(). */
void regain_fences(struct repair *r);

/* range.c: -1 with a reason. */
int range_of_store(struct repair *r, struct fix *x, const char **why);
/* all of it */
int range_of_object(struct repair *r, struct fix *x, const struct source_node *lvalue,
		    const char **why);
/* the object that it leads to */
int range_of_pointed(struct repair *r, struct fix *x, const struct source_node *pointer,
		     const char **why);

/* place.c */
int place_fix(struct repair *r, struct fix *x, const char **why);

/* loop.c: flush after a loop that fills an array, fence after a loop that only stores. */
void loop_leave(struct repair *r, struct fix *x);

/* callback.c: moves fixes out of functions that are called by a variable, if their callers are
 * whose objects they store to. */
void callback_fixes(struct repair *r);

/* hoist.c: moves fixes out of functions that volatile memory is given to, or whose callers
 * flush. */
void hoist_fixes(struct repair *r);

/* score.c: how sure it is that a place works on persistent memory only: the store (level 0), or the
 * call `level` frames further out. */
enum { SCORE_NEVER = INT_MIN };
struct score {
	int value; /* npm - nvolatile, or SCORE_NEVER */
	unsigned npm, nvolatile;
	/* of the first that is never taken; NULL: it has no pointer that leads to the store */
	const char *why;
};
void score_sites(struct repair *r, const struct fix *x, struct score *scores, size_t n);
/* some function on the way has other callers */
bool score_matters(struct repair *r, const struct fix *x, size_t n);

/* given.c: the number of the parameter whose object a pointer leads into, or a store goes to; -1:
 * not told. */
int given_by(const struct source_function *f, const struct source_node *pointer);
int given_to_store(struct repair *r, const struct fix *x);

/* uses.c */
size_t uses_next(const struct use *uses, size_t n, size_t i, const struct source_function *of);
unsigned uses_count(struct repair *r, const struct source_function *f);
bool uses_are_elsewhere(struct repair *r, const struct source_function *f);
/* one that is on no bug's call stack */
bool uses_has_unseen(struct repair *r, const struct source_function *f);

/* relevant.c: those of the database that may have to do with the pointers of a bug's file */
struct source_database relevant_files(struct repair *r);
/* pointers.c */
bool pointers_analyse(struct repair *r); /* false: it cannot be done, it is told why */
struct alias_place pointers_place_of_store(const struct file *f, const struct source_node *n);
struct alias_place pointers_place_of_call(const struct file *f, const struct source_node *call,
					  const char *callee);
void pointers_count(struct repair *r, const struct alias_place *p, const struct alias_place *store,
		    struct alias_counts *c);
/* by the analysis */
bool pointers_reach_pm(struct repair *r, const struct source_unit *u, struct file *f,
		       const struct source_node *n);

/* outward.c: the change at a caller instead, which tells the bytes by its arguments. */
/* false: cannot be */
bool outward_step(struct repair *r, const struct fix *x, struct fix *outer,
		  const struct repair_place *p, size_t i);
bool call_is_flushed_after(struct repair *r, const struct source_unit *u,
			   const struct source_node *call);

/* subprogram.c: -1 with a reason if it cannot be done. */
int subprogram_check(struct repair *r, const struct fix *x, size_t level, const char **why);
void subprogram_make(struct repair *r, size_t fix, size_t level);
void subprogram_complete(struct repair *r); /* once all fixes are known */

/* reduce.c */
void reduce_fixes(struct repair *r);

/* header.c: are the calls known in every file that includes the header which the fix changes? */
int header_check(struct repair *r, const struct fix *x, const struct idiom_line *lines,
		 const char **why);

/* insert.c */
struct insertion {     /* behind one statement */
	struct fix *x; /* one of its fixes: where, and in what style */
	const struct source_node *stmt;
	VEC(struct idiom_line) lines;
	const char *result_type; /* return needs a temporary */
	bool is_scope;           /* the lines are declarations before it */
};
void insert_behind(struct repair *r, struct insertion *a);
void insert_in_expression(struct repair *r, const struct fix *x, const struct idiom_line *lines);

/* scope.c: objects that flush when they end. -1 with a reason if none can be declared there. */
int scope_check(struct repair *r, const struct fix *x, const char **why);
void scope_insert(struct repair *r, struct insertion *a); /* its lines that are declarations */

/* join.c */
/* one call for this flush and a fence; NULL: the file has none */
const char *join_words(struct repair *r, const struct fix *x, const struct source_node *flush);
/* what was flushed before it waits for the same fence */
bool join_is_shared(struct repair *r, const struct fix *x, const struct source_node *flush);
/* the lines are a fence, and the statement is a flush: false if they stay two */
bool join_insertion(struct repair *r, const struct insertion *a);

/* emit.c */
void emit_fixes(struct repair *r);
/* sizeof(x) or sizeof x */
const char *emit_in_style(struct repair *r, const struct file *f, const char *len);

#endif
