/* What the files of repair/idiom/ share: the "way" of a function or macro (which parameter says
 * what it flushes), and the "pattern" of its calls in a file. */
#ifndef REPAIR_IDIOM_INTERNAL_H
#define REPAIR_IDIOM_INTERNAL_H

#include "repair/idiom/idiom.h"
#include "repair/idiom/run.h"
#include "util/map.h"

enum { DOES_MORE = 8 }; /* it does anything but flush, fence, store, count and check */

/* How a function or macro is told what to flush. */
enum way_unit {
	WAY_NONE,    /* it is no such function */
	WAY_FENCE,   /* it only fences */
	WAY_RANGE,   /* an address and a number of bytes */
	WAY_LINES,   /* an address and a number of lines */
	WAY_BOUNDS,  /* an address, and a second one behind the last byte */
	WAY_LINE,    /* an address: flushes its line */
	WAY_OBJECT,  /* a pointer to an object of one type */
	WAY_POINTEE, /* a macro: a pointer of any type; flushes what it points to */
	WAY_THING,   /* a macro: the thing itself and not its address */
	WAY_MEMBER,  /* a macro: a pointer and the name of a member */
};

enum { WAY_THIS = -1, WAY_NO_ARGUMENT = -2 };

/* Which parameters say what is flushed: persist(p, n) has unit WAY_RANGE, addr 0 and len 1. */
struct way {
	enum way_unit unit;
	unsigned does; /* DOES_FLUSH and DOES_FENCE */
	int addr, len; /* numbers of parameters; for WAY_MEMBER, the pointer and the member */
	bool is_line;  /* for WAY_THING and WAY_MEMBER: only the first line is flushed */
	/* It misses the last line of a range that begins inside a line, so no fix uses it. */
	bool is_short;
};

struct does_memo {
	unsigned does;
	bool is_known, is_busy;
};

struct way_memo {
	bool is_known;
	struct way way;
};

/* How a file calls a function or macro that flushes or fences: "pmem_persist({addr}, {len})". */
struct pattern {
	const char *name; /* name of the called function or macro */
	const char *call; /* the call with {addr}, {len}, {pool} */
	struct way way;
	const struct source_function *function; /* NULL: a macro, or a call through a pointer */
	const struct source_macro *macro;
	const struct source_node *example; /* one use; NULL: this file has none */
	/* if there is no example: the callee in a call of another method of the same object */
	const struct source_node *object;
	const struct source_function *in; /* the function that contains the example, or that call */
	/* calls by ordinary functions, and calls by helpers and macros */
	unsigned uses, nhidden;
	bool is_library, is_statement;
	bool is_pointer; /* a call through a member that is a pointer */
	bool is_policy;  /* a call of a static method of a template's parameter */
	/* an object that does it in its destructor; the call is its declaration, with {name} */
	bool is_scope;
	/* the file names such objects after what they guard: `Edit halts(listing->halts)` */
	bool is_named_after;
	/* the guard that all uses have: "#ifdef X", "if (pm)", or both; NULL: none */
	const char *guard;
};

struct patterns {
	const struct source_unit *unit;
	const struct file *file;
	VEC(struct pattern) list;
};

/* Which function the other files assign to a pointer of this name. */
struct pointed {
	const char *name;
	size_t nargs;
	const struct source_unit *unit;
	const struct source_function *function; /* NULL: none, or different ones */
};

struct idioms {
	struct map functions; /* function → index into `does` and `ways`, plus 1 */
	VEC(struct does_memo) does;
	VEC(struct way_memo) ways;
	/* names whose definitions were searched in all files */
	struct map searched;
	VEC(struct pointed) pointed;
	VEC(struct patterns *) patterns;
	/* is way_of_function(); for files below way_function.c */
	const struct way *(*way_of)(struct repair *r, const struct source_unit *u,
				    const struct source_function *f);
};

/* memo.c: remembers what was found out about functions; forgets it when further files were
 * parsed */
void memo_forget(struct repair *r);
struct does_memo *does_memo(struct repair *r, const struct source_function *f);
struct way_memo *way_memo(struct repair *r, const struct source_function *f);

/* function_does.c: like idiom_function_does(), but the result may contain DOES_MORE */
unsigned idiom_function_does_all(struct repair *r, const struct source_unit *u,
				 const struct source_function *f);

/* way_function.c */
/* Returns the way of a function, whatever its other arguments are. */
const struct way *way_of_function(struct repair *r, const struct source_unit *u,
				  const struct source_function *f);
/* Asks whether the function would flush exactly the lines of every range after a change: if the
 * expression `aligned` were rounded down to a line (NULL: none), and if the function's length
 * counted from the beginning of the first line (is_longer). */
bool way_is_whole(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  const struct source_node *aligned, bool is_longer);
/* Asks whether the function flushes fewer lines than it is given. *addr and *len: its parameters
 * for the address and the number of bytes. False: it flushes all of them, or the parameters are
 * unknown. */
bool way_leaves_out(struct repair *r, const struct source_unit *u, const struct source_function *f,
		    int *addr, int *len);
void way_with(struct repair *r, const struct source_unit *u, const struct source_function *f,
	      const struct run_value *given, struct way *w);
/* Finds the way of a function that exists in no file. The result is not remembered. */
void way_alone(struct repair *r, const struct source_unit *u, const struct source_function *f,
	       struct way *w);

/* short_flush.c: a helper that misses lines, with the texts that correct it. */
struct short_helper {
	struct repair *r;
	const struct source_unit *u;
	const struct source_function *f;
	const struct file *file;
	const char *addr, *len, *len_type; /* names of parameters */
	const char *line, *mask;           /* text for the bytes of a line, and for one less */
};
/* Fills h for the helper f. False: the function has no names for the two parameters. */
bool short_helper_init(struct short_helper *h, struct repair *r, const struct source_unit *u,
		       const struct source_function *f, int addr, int len);
/* Returns an integer type that can hold an address. */
const char *short_integer_type(const struct short_helper *h);
const char *short_cast(const struct short_helper *h, const char *type, const char *text);
const char *short_rounded_down(const struct short_helper *h, const char *type, bool is_pointer);

/* way_pointer.c: asks whether the call goes through a pointer. way_behind_pointer() returns the
 * function that the sources assign to the called pointer, and its file; NULL: unknown. */
bool way_is_by_pointer(const struct source_node *call);
const struct source_function *way_behind_pointer(struct repair *r, const struct source_unit **u,
						 const struct source_node *call);
/* Returns the function that is assigned to a member; NULL: none, or unknown. */
const struct source_function *way_assigned(struct repair *r, const struct source_unit **u,
					   const struct source_node *assignment);

/* Returns the way of a function that another file may define. That file is parsed for it. */
const struct way *way_of_declared(struct repair *r, const struct source_unit *u,
				  const struct source_function *f);

/* way_macro.c */
/* usually way_of_declared */
typedef const struct way *way_resolver(struct repair *r, const struct source_unit *u,
				       const struct source_function *f);
struct way way_of_template(struct repair *r, const struct source_unit *u,
			   const struct source_function *f, way_resolver *of);
struct way way_of_macro(struct repair *r, const struct source_unit *u, const struct source_macro *m,
			int depth, way_resolver *of);

unsigned way_macro_ends(struct repair *r, const struct source_unit *u, const char *name,
			way_resolver *of);

/* way_scope.c: a statement that declares an object which flushes in its destructor. */
struct scope_text {
	const struct source_function *destructor;
	/* the type as it is written, with the blank behind it; the variable */
	const char *type, *name;
	const char **args;
	char open; /* the opening character: ( or { */
};
struct way way_of_scope(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *stmt, struct scope_text *t);
/* Asks whether the function is the destructor of a class whose objects flush in it, or the method
 * that does the destructor's work. */
bool scope_is_part(struct repair *r, const struct source_unit *u, const struct source_function *f);

/* way_slice.c: finds the way of a function whose parameter is a small structure; the function is
 * followed as if it had the structure's two members as parameters. False: it is no such
 * function. */
bool way_of_slice(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  struct way *w);
/* Returns the call of such a function with a macro that makes the structure, and changes the way to
 * that of the call. NULL: the macro makes no such structure. */
const char *way_slice_call(struct repair *r, const struct source_function *f, const char *callee,
			   const struct source_macro *m, struct way *w);

/* patterns.c: returns how the file calls functions that flush and fence */
const struct patterns *patterns_of(struct repair *r, const struct source_unit *u,
				   const struct file *file);
/* Returns the way of a call with these arguments. If args is NULL, methods of libraries are not
 * recognised. */
struct way way_of_call(struct repair *r, const struct source_unit *u, const struct file *file,
		       const struct source_node *call, const char *const *args);

/* same_meaning.c: example_is_known() asks whether the names in the pattern's example mean the same
 * where the fix is; names_are_known() asks it of the names in an expression of the example. */
bool example_is_known(const struct pattern *p, const struct fix *x);
bool names_are_known(const struct source_node *top, const struct source_function *in,
		     const struct fix *x);
bool function_is_visible(const struct source_function *f, const struct fix *x);
const char *pool_name(struct repair *r, const struct fix *x); /* NULL: no pool is known there */

/* guard.c: returns the guard of a use, which is the condition around it; NULL: none. */
const char *guard_of(struct repair *r, const struct file *file, const struct source_function *in,
		     const struct source_node *use);
const char *guard_common(struct repair *r, const char *a, const char *b);
/* Returns the guard that the fix still needs at its place; NULL: none. */
const char *guard_at(struct repair *r, const struct pattern *p, const struct fix *x);

/* way_sync.c: does what idiom_find() does, for stores in the page cache, where msync and fsync make
 * them durable. */
void sync_find(struct repair *r, const struct fix *x, struct idiom *i);

/* own_macros.c: offers new macros to a file that shows no way. */
void own_macros_offer(struct repair *r, const struct fix *x, struct idiom *i);

#endif
