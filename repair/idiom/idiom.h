/* How a code base flushes and fences: which of its functions, methods, macros, function tables and
 * statements do it. The code decides; names only where there is no code. */
#ifndef REPAIR_IDIOM_IDIOM_H
#define REPAIR_IDIOM_IDIOM_H

#include "repair/plan/internal.h"

void idiom_new(struct repair *r);
void idiom_free(struct repair *r);

/* ---- what code does ---- */

enum { DOES_FLUSH = 1, DOES_FENCE = 2, DOES_STORE = 4 };

/* library.c */
/* Returns what a function of a known library does; 0: no known library has this function. */
unsigned idiom_known(const char *name);
unsigned idiom_name(const char *name); /* what the name promises */
/* function_does.c */
/* Returns what the function does, itself or through the functions that it calls. */
unsigned idiom_function_does(struct repair *r, const struct source_unit *u,
			     const struct source_function *f);
/* Returns what the function does that a call calls. */
unsigned idiom_call_does(struct repair *r, const struct source_unit *u,
			 const struct source_node *call);
/* Asks whether the function flushes or fences and does nothing else, and all of its code is
 * seen. */
bool idiom_only_writes_back(struct repair *r, const struct source_unit *u,
			    const struct source_function *f);
/* Like idiom_only_writes_back(), for the function that a call calls through a pointer. */
bool idiom_pointer_writes_back(struct repair *r, const struct source_unit *u,
			       const struct source_node *call);
/* helper.c */
/* Like idiom_call_does(), but parses other files if needed. */
unsigned idiom_call_does_far(struct repair *r, const struct source_unit *u,
			     const struct source_node *call);
unsigned idiom_macro_does(struct repair *r, const struct source_unit *u, const char *name);
/* Asks whether the function consists of flush and fence instructions only: it does not count,
 * remember or test anything. */
bool idiom_is_plain(struct repair *r, const struct source_unit *u, const struct source_function *f);
/* Returns the last flush or fence that the macro's text makes, whatever else the text does. */
unsigned idiom_macro_ends(struct repair *r, const struct source_unit *u, const char *name);
/* Asks whether the function's purpose is to flush or fence. */
bool idiom_is_helper(struct repair *r, const struct source_unit *u,
		     const struct source_function *f);

/* asm.c: says what an asm statement does, or its text; false: unknown. *flush: text that flushes
 * the line whose address is in %0, or NULL. */
bool idiom_asm(const struct source_unit *u, const struct source_node *n, unsigned *does,
	       const char **flush);
bool idiom_asm_text(const char *text, unsigned *does, const char **flush);

/* flush_at.c: an existing statement that flushes or fences. */
struct idiom_flush {
	unsigned does;
	const char *addr; /* as it is written; NULL: unknown, or it only fences */
	const char *len;  /* in bytes, as it is written; NULL: the whole object at addr */
	/* places of address and length in the text, for a range */
	uint32_t addr_begin, addr_end, len_begin, len_end;
	/* `helper` misses the last line of a range */
	bool is_short;
	const struct source_function *helper;
	const struct source_unit *helper_unit;
};
/* Finds out what the statement flushes and fences. False: it does neither. */
bool idiom_flush_at(struct repair *r, const struct source_unit *u, const struct file *f,
		    const struct source_node *stmt, struct idiom_flush *out);

/* way_scope.c: finds out what a declaration flushes whose object flushes in its destructor. False:
 * it is no such declaration, or its address is unknown. */
bool idiom_scope_at(struct repair *r, const struct source_unit *u, const struct file *f,
		    const struct source_node *stmt, struct idiom_flush *out);

/* Returns the name for an object that guards a thing: "halts" for "listing->halts", "count" for
 * "count_", "listing" for "listings_[i]". */
const char *scope_name_of(struct repair *r, const char *thing);

/* short_flush.c: an edit that corrects a helper which misses the last line of a range. It was tried
 * by running the helper with it. False: none was found. */
struct idiom_mend {
	uint32_t at, removed;
	const char *insert;
};
bool idiom_mend_short(struct repair *r, const struct source_unit *u,
		      const struct source_function *helper, struct idiom_mend *out);
/* line_loop.c: recognises a helper that misses other lines of its range, and corrects it by writing
 * its loop anew. */
bool idiom_leaves_out(struct repair *r, const struct source_unit *u,
		      const struct source_function *f);
bool idiom_mend_line_loop(struct repair *r, const struct source_unit *u,
			  const struct source_function *helper, struct idiom_mend *out);

/* effect.c: what a call, or a statement that uses a macro, certainly writes back. False: unknown,
 * or it does more than that. */
struct idiom_effect {
	unsigned does;
	const struct source_node *addr, *len; /* the arguments; NULL: none */
	uint32_t len_bytes;                   /* without `len`: size of the object; 0 if is_line */
	bool is_line;
	bool is_thing; /* addr is the object itself and not its address */
};
bool idiom_effect(struct repair *r, const struct source_unit *u, const struct file *f,
		  const struct source_node *n, struct idiom_effect *e);
/* Finds out what a declared object certainly writes back at the end of its block. False: unknown,
 * or it does more than that. */
bool idiom_scope_effect(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *declaration, struct idiom_effect *e);

/* ---- what a fix writes ---- */

/* How a fix flushes and fences in this file. The calls contain {addr}, {len}, {lines}, which are
 * replaced. */
struct idiom {
	struct idiom_call {
		const char *call;  /* NULL: there is none */
		const char *guard; /* the condition under which the file does it; NULL: none */
		bool is_statement; /* it cannot be used in an expression */
		/* it is part of the code base and not of a library or the processor */
		bool is_own;
		/* the called function; NULL: it is a macro or a statement */
		const struct source_function *function;
		/* for `scope`: the name that the file gives to such objects; NULL */
		const char *name;
		/* the objects are named after what they guard: scope_name_of() */
		bool is_named_after;
		bool is_handle; /* and the file stores through the object: *name */
		unsigned does;
		unsigned rank, uses;
	} flush,         /* flushes a range */
		line,    /* flushes the line of an address */
		persist, /* flushes a range and fences */
		/* the same by an object that is declared before the store; the call contains
		 * {name} */
		scope, fence;
	bool prefers_line, prefers_persist;
	bool needs_persist; /* a flush alone would depend on a fence of somebody else */
};

/* ---- files ---- */

/* way_file.c: what a function syncs. */
enum file_sync {
	FILE_SYNC_DESCRIPTOR, /* the file of a descriptor */
	FILE_SYNC_STREAM,     /* flushes a FILE and syncs its file */
	FILE_SYNC_MEMBER,     /* the descriptor that is this member of an object */
	FILE_SYNC_FOLDER,     /* the folder with this path */
	FILE_SYNC_PARENT,     /* the folder that contains this path */
};
struct file_helper {
	const struct source_function *function;
	enum file_sync does;
	int parameter;      /* which parameter says what is synced; WAY_THIS, WAY_NO_ARGUMENT */
	const char *member; /* for FILE_SYNC_MEMBER */
	const char *folder; /* the only folder that it syncs, as a literal; NULL: the parameter's */
};
/* Finds out what the function syncs, each time it is called. False: nothing, or it does more. */
bool file_helper_of(struct repair *r, const struct source_unit *u, const struct source_function *f,
		    struct file_helper *out, int depth);
/* Asks whether the function returns 0, or a negative number on an error. */
bool file_helper_is_negative(const struct source_function *f);

/* Says what a test of a call's value means: is it true if the call failed, or if it worked? */
enum file_test { FILE_TEST_NONE, FILE_TEST_FAILS, FILE_TEST_WORKS };
enum file_test file_test_of(const struct source_node *call);

/* What is to be synced at a place. */
struct file_need {
	enum file_sync does;
	const struct source_node *handle; /* the descriptor as it is written; NULL: unknown */
	bool is_folder;                   /* it is the descriptor of a folder */
	const char *folder;               /* text for the path of the folder; NULL: unknown */
};

/* How a file syncs that. */
struct file_way {
	const char *call;   /* with {file} in place of what is synced */
	const char *name;   /* the called function */
	const char *suffix; /* how failure is tested, as " < 0"; NULL: no example */
	const char *check;  /* the use of a macro that checks it, with {file}; NULL: none */
	bool has_status;    /* it returns whether it failed */
	bool is_bool;       /* ... as true if it worked */
	bool is_own;        /* a function of the program */
	unsigned uses, nunchecked;
};
/* Finds how the file of x syncs what is needed. False: it has no way to do that. */
bool file_way_find(struct repair *r, const struct fix *x, const struct file_need *n,
		   struct file_way *w);

struct idiom_line {
	const char *text;  /* a line of code without semicolon; NULL ends the list */
	const char *guard; /* "#ifdef X", "if (pm)", or both as two lines; NULL: none */
	bool is_scope;     /* a declaration, which goes before the store; contains {name} */
};

/* guard.c: guard_directive() and guard_test() return the two parts of a guard; NULL: the guard does
 * not have that part. */
const char *guard_directive(struct repair *r, const char *guard);
const char *guard_test(const char *guard);

/* find.c: finds how the file of the fix flushes and fences */
void idiom_find(struct repair *r, const struct fix *x, struct idiom *i);

/* lines.c: returns the lines of code that flush and fence the range. NULL with a reason if the file
 * shows no way. */
const struct idiom_line *idiom_lines(struct repair *r, const struct idiom *i,
				     const struct range *range, bool flush, bool fence,
				     bool as_expression, const char **why);

/* own_macros.c: adds the definitions of macros that the lines use and the file does not have
 * yet. */
void own_macros_define(const struct fix *x, const struct idiom_line *lines);

#endif
