/* How a code base flushes and fences: which of its functions, methods, macros, tables and
 * statements do it, told by what they do. */
#ifndef REPAIR_IDIOM_IDIOM_H
#define REPAIR_IDIOM_IDIOM_H

#include "repair/plan/internal.h"

void idiom_new(struct repair *r);
void idiom_free(struct repair *r);

/* ---- what is done ---- */

enum { DOES_FLUSH = 1, DOES_FENCE = 2, DOES_STORE = 4 };

/* library.c */
/* what a function of a library does; 0: it is none of those */
unsigned idiom_known(const char *name);
unsigned idiom_name(const char *name); /* what a name promises */
/* does.c */
/* what it does, and what it calls */
unsigned idiom_does(struct repair *r, const struct source_unit *u, const struct source_function *f);
/* the same, of what is called */
unsigned idiom_call_does(struct repair *r, const struct source_unit *u,
			 const struct source_node *call);
/* a helper of which all is seen */
bool idiom_only_writes_back(struct repair *r, const struct source_unit *u,
			    const struct source_function *f);
/* the same, of what is called through a pointer */
bool idiom_pointer_writes_back(struct repair *r, const struct source_unit *u,
			       const struct source_node *call);
/* helper.c */
/* also if its file must be read for that */
unsigned idiom_call_does_far(struct repair *r, const struct source_unit *u,
			     const struct source_node *call);
unsigned idiom_macro_does(struct repair *r, const struct source_unit *u, const char *name);
/* nothing but the instructions: counts, remembers and asks nothing */
bool idiom_is_plain(struct repair *r, const struct source_unit *u, const struct source_function *f);
/* what it does last of all that it flushes and fences, whatever else it does */
unsigned idiom_macro_ends(struct repair *r, const struct source_unit *u, const char *name);
/* it flushes or fences, and does little else */
bool idiom_is_helper(struct repair *r, const struct source_unit *u,
		     const struct source_function *f);

/* asm.c: what an asm statement, or the text of one, does; false: not known. flush: a template that
 * flushes the line at %0, or NULL */
bool idiom_asm(const struct source_unit *u, const struct source_node *n, unsigned *does,
	       const char **flush);
bool idiom_asm_text(const char *text, unsigned *does, const char **flush);

/* flush_at.c: a statement of the source that flushes or fences. */
struct idiom_flush {
	unsigned does;
	const char *addr; /* as it is written; NULL: not told, or it flushes nothing */
	const char *len;  /* in bytes; NULL: of the whole object at addr */
	/* where a range's address and length stand */
	uint32_t addr_begin, addr_end, len_begin, len_end;
	/* it leaves out the last line of a range, by what this helper does: */
	bool is_short;
	const struct source_function *helper;
	const struct source_unit *helper_unit;
};
/* false: it does neither */
bool idiom_flush_at(struct repair *r, const struct source_unit *u, const struct file *f,
		    const struct source_node *stmt, struct idiom_flush *out);

/* way_scope.c: a declaration of an object that flushes when its block ends; the address and the
 * length are told. */
bool idiom_scope_at(struct repair *r, const struct source_unit *u, const struct file *f,
		    const struct source_node *stmt, struct idiom_flush *out);

/* "halts" of "listing->halts", "count" of "count_", "listing" of "listings_[i]" */
const char *scope_name_of(struct repair *r, const char *thing);

/* short.c: how a helper that leaves out the last line would not: an edit of its source, tried by
 * following it. False: not found. */
struct idiom_mend {
	uint32_t at, removed;
	const char *insert;
};
bool idiom_mend_short(struct repair *r, const struct source_unit *u,
		      const struct source_function *helper, struct idiom_mend *out);
/* walk.c: a helper that leaves out whichever lines of what it is given, and how it would not: its
 * loop is written anew. */
bool idiom_leaves_out(struct repair *r, const struct source_unit *u,
		      const struct source_function *f);
bool idiom_mend_walk(struct repair *r, const struct source_unit *u,
		     const struct source_function *helper, struct idiom_mend *out);

/* effect.c: what a call, or a statement that is the use of a macro, writes back, if that is sure;
 * false: not known, or it does more. */
struct idiom_effect {
	unsigned does;
	const struct source_node *addr, *len; /* NULL: none */
	uint32_t len_bytes;                   /* without len: of the object; 0 if is_line */
	bool is_line;
	bool is_thing; /* addr is the object itself, not its address */
};
bool idiom_effect(struct repair *r, const struct source_unit *u, const struct file *f,
		  const struct source_node *n, struct idiom_effect *e);
/* of an object, when it ends */
bool idiom_scope_effect(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *declaration, struct idiom_effect *e);

/* ---- what is written ---- */

/* Calls have {addr}, {len}, {lines} in them. */
struct idiom {
	struct idiom_call {
		const char *call;  /* NULL: none */
		const char *guard; /* under which the file does it; NULL */
		bool is_statement; /* no expression */
		bool is_own;       /* the code base's, not a library's or the processor's */
		/* that is called; NULL: a macro, a statement */
		const struct source_function *function;
		const char *name;    /* of a scope's object, as the file calls it; NULL */
		bool is_named_after; /* it is called as what it is given: scope_name_of() */
		bool is_handle;      /* and the file stores through it: *name */
		unsigned does;
		unsigned rank, uses;
	} flush,         /* a range */
		line,    /* the line of an address */
		persist, /* a range, and a fence */
		scope,   /* the same by an object that is declared before the store; with {name} */
		fence;
	bool prefers_line, prefers_persist;
	bool needs_persist; /* a flush alone would lean on what others do */
};

struct idiom_line {
	const char *text;  /* without a semicolon; NULL: the end */
	const char *guard; /* "#ifdef X", "if (pm)", or both as two lines; NULL */
	bool is_scope;     /* a declaration that stands before the store, with {name} */
};

/* guard.c: its parts; NULL. */
const char *guard_directive(struct repair *r, const char *guard);
const char *guard_test(const char *guard);

/* find.c */
void idiom_find(struct repair *r, const struct fix *x, struct idiom *i);

/* lines.c: the lines that do it. NULL with a reason if there is no way. */
const struct idiom_line *idiom_lines(struct repair *r, const struct idiom *i,
				     const struct range *range, bool flush, bool fence,
				     bool as_expression, const char **why);

/* own_macros.c: where lines use macros that the file does not have yet, their definitions. */
void own_macros_define(const struct fix *x, const struct idiom_line *lines);

#endif
