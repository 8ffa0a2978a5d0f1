/* What the files of repair/durability/ share: planned flushes and fences, where they go and how
 * they are written. */
#ifndef REPAIR_DURABILITY_INTERNAL_H
#define REPAIR_DURABILITY_INTERNAL_H

#include <limits.h>

#include "repair/idiom/idiom.h"
#include "repair/plan/internal.h"

/* A statement that is removed. */
struct removal {
	size_t bug;
	const struct source_unit *unit;
	struct file *file;
	const struct source_node *stmt;
	const char *instead; /* text that replaces it, without a semicolon; NULL: nothing */
	const char *words;   /* what was done, for the user */
	const char *why_not; /* why it must stay; NULL: it is removed */
};

/* An existing flush that is too late, too short or of the wrong bytes, and is changed. No other
 * flush is added then. */
struct amendment {
	enum amend_how {
		AMEND_WIDEN, /* flush another length or range */
		AMEND_MOVE,  /* move it behind another statement */
		/* change the function that it calls, which leaves out the last line */
		AMEND_HELPER,
		AMEND_REPLACE, /* replace it by its fence alone, or remove it */
	} how;
	size_t bug;
	struct fix at; /* unit, file and function; `stmt` is the flush */
	struct idiom_flush flush;
	const char *addr, *len;           /* WIDEN: the new address and length; NULL: unchanged */
	const struct source_node *behind; /* MOVE: the statement behind which it goes */
	/* MOVE: the text to write there; NULL: that of the statement */
	const char *words;
	/* MOVE: whoever reaches the statement with the store (or the call that leads to it) does
	 * execute the store */
	bool is_sure;
	bool needs_fence;  /* MOVE: a fence is needed, and the flush has none */
	bool leaves_fence; /* MOVE, REPLACE: its fence stays where it was */
	/* MOVE, REPLACE: a statement that is removed, too; NULL: none */
	const struct source_node *needless;
	struct file *helper_file; /* HELPER: the file of the called function */
	struct idiom_mend mend;
};

/* A flush that is added to a macro, which stores and fences. */
struct macro_flush {
	size_t bug;
	struct file *file;
	struct macro_store store;
	const char *name, *text; /* name of the macro; the call to add */
	bool is_again;           /* another bug adds the same flush */
	bool has_fence;
};

struct durability {
	VEC(struct macro_flush) macro_flushes;
	VEC(struct removal) removals;
	VEC(struct amendment) amendments;
	struct alias *alias;   /* the pointer analysis; NULL: not needed, or impossible */
	const char *alias_why; /* why the analysis is impossible; NULL: not tried */
};

/* barrier.c: plans flushes and fences for bugs of durability or order; asks whether a bug is of
 * such a kind */
bool barrier_is_kind(const char *kind);
int barrier_plan(struct repair *r, size_t bug, const char **why);
/* Fixes the bug by the fixes of other bugs, if they cover all its lost stores; false: they do
 * not. */
bool barrier_join(struct repair *r, size_t bug);
/* Plans an msync, or the like, of one store. -1 with a reason. */
int barrier_plan_store(struct repair *r, size_t bug, const struct repair_place *p,
		       const char **why);

/* macro.c: plans a flush in a macro that stores and fences. False: the store is in no such macro,
 * or no other macro shows how to flush. */
bool macro_flush_plan(struct repair *r, size_t bug, const struct repair_place *p);
/* Plans to persist one store of a macro before another store of the same macro. -1 with a
 * reason. */
int macro_order_plan(struct repair *r, size_t bug, const struct repair_place *lost,
		     const struct repair_place *survived, const char **why);
void macro_flush_emit(struct repair *r);
/* Returns the flush that is planned for the macro used at this place; NULL: none. */
const struct macro_flush *macro_flush_at(struct repair *r, const struct repair_place *p);

/* fenced.c */
/* Asks whether a fence of the program's own operation follows the store, which is in frame `frame`
 * of p. was_idle: when the program ran, no such fence was executed; then a fence counts only if the
 * new flush makes it happen. */
bool fence_follows(struct repair *r, const struct fix *x, const struct repair_place *p,
		   size_t frame, bool was_idle);

/* deadline.c: moves missing fences outwards, to where one fence is enough for several flushes,
 * before the store or answer that must come later. */
void deadline_fences(struct repair *r);

/* late_fence.c: removes fences that came too late and have become unnecessary. Called after all
 * fixes are edits. */
void late_fences_remove(struct repair *r);
/* Asks whether everything that the function flushes is durable when it returns. */
bool function_fences_itself(struct repair *r, const struct source_unit *u,
			    const struct source_function *f);

/* redundant.c: plans the removal of a flush or fence that a bug reports as redundant */
void redundant_plan(struct repair *r, size_t bug);
bool redundant_is_kind(const char *kind);

/* redundant_emit.c */
/* Asks whether the statement can be removed so that valid code is left. */
bool redundant_can_go(const struct source_unit *u, const struct file *f,
		      const struct source_node *stmt);
void redundant_emit(struct repair *r);

/* redundant_needed.c: marks redundant fences as needed if the patch adds the flush before them.
 * Called after redundant_emit(). */
void redundant_mark_needed(struct repair *r);

/* range.c: finds which bytes a store writes. -1 with a reason. */
int range_of_store(struct repair *r, struct fix *x, const char **why);
/* Sets the range of the fix to a whole object. -1 with a reason. */
int range_of_object(struct repair *r, struct fix *x, const struct source_node *lvalue,
		    const char **why);
/* Sets the range of the fix to the object to which a pointer points. -1 with a reason. */
int range_of_pointed(struct repair *r, struct fix *x, const struct source_node *pointer,
		     const char **why);

/* place.c: decides where the flush and fence of a fix are written. -1 with a reason. */
int place_fix(struct repair *r, struct fix *x, const char **why);

/* loop.c: moves a flush behind a loop that fills an array, and a fence behind a loop in which no
 * order matters. */
void loop_leave(struct repair *r, struct fix *x);

/* callback.c: moves flushes from callbacks to their callers, if the callers own the objects. */
void callback_fixes(struct repair *r);

/* hoist.c: moves flushes out of functions that are also called with volatile memory, or whose other
 * callers flush. */
void hoist_fixes(struct repair *r);

/* score.c: how certain it is that a place works on persistent memory only. Score 0 is that of the
 * store, score i that of the call i frames further out. */
enum { SCORE_NEVER = INT_MIN };
struct score {
	int value; /* npm - nvolatile, or SCORE_NEVER */
	unsigned npm, nvolatile;
	/* why this call cannot be changed; NULL: none of its arguments leads to the store */
	const char *why;
};
void score_sites(struct repair *r, const struct fix *x, struct score *scores, size_t n);
/* Asks whether some function on the way has more than one use. Only then can the score make a
 * difference. */
bool score_matters(struct repair *r, const struct fix *x, size_t n);

/* parameter.c: returns the number of the parameter through which a pointer, or a store, reaches its
 * object; -1: none. */
int parameter_of_pointer(const struct source_function *f, const struct source_node *pointer);
int parameter_of_store(struct repair *r, const struct fix *x);

/* uses.c: finds the next of the uses, from index i on, that means this function; n: there is
 * none */
size_t uses_next(const struct use *uses, size_t n, size_t i, const struct source_function *of);
unsigned uses_count(struct repair *r, const struct source_function *f);
bool uses_are_elsewhere(struct repair *r, const struct source_function *f);
/* Asks whether the function has a use that is on no bug's call stack. */
bool uses_has_unseen(struct repair *r, const struct source_function *f);

/* relevant.c: lists the files of the compilation database that may share pointers with the files of
 * the bugs. */
struct source_database relevant_files(struct repair *r);
/* pointers.c */
/* Runs the pointer analysis once; false: it is impossible, and alias_why says why. */
bool pointers_analyse(struct repair *r);
struct alias_place pointers_place_of_store(const struct file *f, const struct source_node *n);
struct alias_place pointers_place_of_call(const struct file *f, const struct source_node *call,
					  const char *callee);
void pointers_count(struct repair *r, const struct alias_place *p, const struct alias_place *store,
		    struct alias_counts *c);
/* Asks whether the node may access persistent memory, as far as the pointer analysis knows. */
bool pointers_reach_pm(struct repair *r, const struct source_unit *u, struct file *f,
		       const struct source_node *n);

/* outward.c: the change at a caller instead, which tells the bytes by its arguments. */
/* outward.c: moves a fix from frame i to its caller, if the call's arguments say which bytes are
 * stored. False: impossible. */
bool outward_step(struct repair *r, const struct fix *x, struct fix *outer,
		  const struct repair_place *p, size_t i);
bool call_is_flushed_after(struct repair *r, const struct source_unit *u,
			   const struct source_node *call);

/* subprogram.c: asks whether functions can be copied so that the copies flush: the functions on the
 * way from the store out to the level. -1 with a reason if they cannot. */
int subprogram_check(struct repair *r, const struct fix *x, size_t level, const char **why);
void subprogram_make(struct repair *r, size_t fix, size_t level);
void subprogram_complete(struct repair *r); /* Completes the copies, after all fixes are planned. */

/* reduce.c: merges fixes that flush the same bytes or need only one fence */
void reduce_fixes(struct repair *r);

/* header.c: checks that every file which includes the changed header declares the called functions
 * before the include. -1 with a reason. */
int header_check(struct repair *r, const struct fix *x, const struct idiom_line *lines,
		 const char **why);

/* insert.c */
struct insertion {     /* Lines to add behind one statement. */
	struct fix *x; /* one of the fixes of the statement; gives the place and the style */
	const struct source_node *stmt;
	VEC(struct idiom_line) lines;
	/* type of the temporary for a return statement's value; NULL: none needed */
	const char *result_type;
	bool is_scope;       /* the lines are declarations, which go before the statement */
	const char *comment; /* for --explain; NULL: that the store becomes durable */
};
void insert_behind(struct repair *r, struct insertion *a);
void insert_in_expression(struct repair *r, const struct fix *x, const struct idiom_line *lines);

/* scope.c: checks whether an object that flushes in its destructor can be declared here. -1 with a
 * reason if not. */
int scope_check(struct repair *r, const struct fix *x, const char **why);
/* Writes those of the lines that are declarations, before the statement. */
void scope_insert(struct repair *r, struct insertion *a);

/* join.c */
/* Returns the text of one call that makes this flush and a fence; NULL: the file has no such
 * call. */
const char *join_words(struct repair *r, const struct fix *x, const struct source_node *flush);
/* Asks whether an earlier flush waits for the same fence. */
bool join_is_shared(struct repair *r, const struct fix *x, const struct source_node *flush);
/* Joins a flush and the fence that is added behind it into one call. False: impossible. */
bool join_insertion(struct repair *r, const struct insertion *a);

/* emit.c: turns all placed fixes into edits */
void emit_fixes(struct repair *r);
/* Writes sizeof(x) or sizeof x, as the file does. */
const char *emit_in_style(struct repair *r, const struct file *f, const char *len);

#endif
