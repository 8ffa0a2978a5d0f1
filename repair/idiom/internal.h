/* What the files of repair/idiom/ share: ways to flush and to fence, as they are found and as they
 * are called. */
#ifndef REPAIR_IDIOM_INTERNAL_H
#define REPAIR_IDIOM_INTERNAL_H

#include "repair/idiom/idiom.h"
#include "repair/idiom/run.h"
#include "util/map.h"

enum { DOES_MORE = 8 }; /* than flush, fence, count and check */

/* What it is told to flush. */
enum way_unit {
	WAY_NONE,    /* it is no way */
	WAY_FENCE,   /* nothing */
	WAY_RANGE,   /* an address and a number of bytes */
	WAY_LINES,   /* an address and a number of lines */
	WAY_BOUNDS,  /* an address, and another behind the last byte */
	WAY_LINE,    /* an address: its line */
	WAY_OBJECT,  /* a pointer to an object of one type */
	WAY_POINTEE, /* a macro: any pointer, to what it points to */
	WAY_THING,   /* a macro: the thing itself, not its address */
	WAY_MEMBER,  /* a macro: a pointer and a member's name */
};

enum { WAY_THIS = -1, WAY_NO_ARGUMENT = -2 };

/* Which arguments say that. */
struct way {
	enum way_unit unit;
	unsigned does; /* DOES_FLUSH, DOES_FENCE */
	int addr, len; /* parameters; of WAY_MEMBER: the pointer and the member */
	bool is_line;  /* a macro's thing or member: only its first line */
	/* it would flush a range, but leaves out the last line of one that begins inside a line:
	 * not to be used */
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

/* A way as this file calls it. */
struct pattern {
	const char *name; /* of what is called */
	const char *call; /* with {addr}, {len}, {pool} */
	struct way way;
	const struct source_function *function; /* NULL: a macro, or a pointer */
	const struct source_macro *macro;
	const struct source_node *example; /* a use; NULL: none in this file */
	/* without an example: the callee of another method of that object */
	const struct source_node *object;
	const struct source_function *in; /* of the example, or of that */
	unsigned uses, nhidden;           /* by functions that do more; by helpers and macros */
	bool is_library, is_statement;
	bool is_pointer; /* a member that is called */
	bool is_policy;  /* of a class that is a parameter of the template */
	/* an object that does it when it ends: the call is its declaration, with {name} */
	bool is_scope;
	/* such objects are called as what they are given: `Edit halts(listing->halts)` */
	bool is_named_after;
	const char *guard; /* that all uses stand under: "#ifdef X", "if (pm)", or both; NULL */
};

struct patterns {
	const struct source_unit *unit;
	const struct file *file;
	VEC(struct pattern) list;
};

/* What other files than the one that calls assign to a pointer. */
struct pointed {
	const char *name;
	size_t nargs;
	const struct source_unit *unit;
	const struct source_function *function; /* NULL: nothing, or not always the same */
};

struct idioms {
	struct map functions; /* index into both + 1 */
	VEC(struct does_memo) does;
	VEC(struct way_memo) ways;
	/* names whose definitions were looked for in files that are not read yet */
	struct map searched;
	VEC(struct pointed) pointed;
	VEC(struct patterns *) patterns;
	/* way_of_function(), for those below it */
	const struct way *(*way_of)(struct repair *r, const struct source_unit *u,
				    const struct source_function *f);
};

/* memo.c */
void memo_forget(struct repair *r);
struct does_memo *does_memo(struct repair *r, const struct source_function *f);
struct way_memo *way_memo(struct repair *r, const struct source_function *f);

/* does.c: with DOES_MORE */
unsigned idiom_does_all(struct repair *r, const struct source_unit *u,
			const struct source_function *f);

/* way_function.c */
/* whatever else it is given */
const struct way *way_of_function(struct repair *r, const struct source_unit *u,
				  const struct source_function *f);
/* Would it flush exactly the lines of a range, if that expression were rounded down to a line, or
 * if its length counted from the begin of the first line? */
bool way_is_whole(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  const struct source_node *aligned, bool is_longer);
/* Does it flush less than it is given? Which parameters are the address and the number of bytes.
 * False: not so, or not known which. */
bool way_leaves_out(struct repair *r, const struct source_unit *u, const struct source_function *f,
		    int *addr, int *len);
void way_with(struct repair *r, const struct source_unit *u, const struct source_function *f,
	      const struct run_value *given, struct way *w);
/* of what no file has: not kept for the next question */
void way_alone(struct repair *r, const struct source_unit *u, const struct source_function *f,
	       struct way *w);

/* short.c: a helper that leaves out lines, and the words that mend it. */
struct short_helper {
	struct repair *r;
	const struct source_unit *u;
	const struct source_function *f;
	const struct file *file;
	const char *addr, *len, *len_type; /* parameters */
	const char *line, *mask;           /* the bytes of a line, and one less */
};
/* false: it has no names for them */
bool short_helper_init(struct short_helper *h, struct repair *r, const struct source_unit *u,
		       const struct source_function *f, int addr, int len);
const char *short_integer_type(const struct short_helper *h); /* that holds an address */
const char *short_cast(const struct short_helper *h, const char *type, const char *text);
const char *short_rounded_down(const struct short_helper *h, const char *type, bool is_pointer);

/* way_pointer.c: the function that the sources put there, and its unit; NULL: not known */
bool way_is_by_pointer(const struct source_node *call);
const struct source_function *way_behind_pointer(struct repair *r, const struct source_unit **u,
						 const struct source_node *call);
/* to a member; NULL: no function, or not known which */
const struct source_function *way_assigned(struct repair *r, const struct source_unit **u,
					   const struct source_node *assignment);

/* Of a function that is perhaps defined in another file, which is read for that. */
const struct way *way_of_declared(struct repair *r, const struct source_unit *u,
				  const struct source_function *f);

/* way_macro.c */
/* way_of_declared, mostly */
typedef const struct way *way_resolver(struct repair *r, const struct source_unit *u,
				       const struct source_function *f);
struct way way_of_template(struct repair *r, const struct source_unit *u,
			   const struct source_function *f, way_resolver *of);
struct way way_of_macro(struct repair *r, const struct source_unit *u, const struct source_macro *m,
			int depth, way_resolver *of);

unsigned way_macro_ends(struct repair *r, const struct source_unit *u, const char *name,
			way_resolver *of);

/* way_scope.c: of a statement that declares an object which flushes when it ends. */
struct scope_text {
	const struct source_function *destructor;
	/* the type as it is written, with the blank behind it; the variable */
	const char *type, *name;
	const char **args;
	char open; /* ( or { */
};
struct way way_of_scope(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *stmt, struct scope_text *t);
/* the destructor of such a class, or what does its work */
bool scope_is_part(struct repair *r, const struct source_unit *u, const struct source_function *f);

/* way_slice.c: a function of a structure, followed as one of its two members; and its call with
 * what a macro makes, which changes the way. */
bool way_of_slice(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  struct way *w);
/* NULL: it makes no such structure */
const char *way_slice_call(struct repair *r, const struct source_function *f, const char *callee,
			   const struct source_macro *m, struct way *w);

/* patterns.c */
const struct patterns *patterns_of(struct repair *r, const struct source_unit *u,
				   const struct file *file);
/* with these arguments; NULL: a method of a library is not known by them */
struct way way_of_call(struct repair *r, const struct source_unit *u, const struct file *file,
		       const struct source_node *call, const char *const *args);

/* known.c: is what an example, or an expression of it, names known by the same name where the fix
 * is? */
bool example_is_known(const struct pattern *p, const struct fix *x);
bool names_are_known(const struct source_node *top, const struct source_function *in,
		     const struct fix *x);
bool function_is_visible(const struct source_function *f, const struct fix *x);
const char *pool_name(struct repair *r, const struct fix *x); /* NULL: none at hand */

/* guard.c: what a use stands under; NULL: nothing */
const char *guard_of(struct repair *r, const struct file *file, const struct source_function *in,
		     const struct source_node *use);
const char *guard_common(struct repair *r, const char *a, const char *b);
/* that is needed there; NULL: none */
const char *guard_at(struct repair *r, const struct pattern *p, const struct fix *x);

/* way_sync.c: the same on a platform of the page cache, where msync and fsync do it */
void sync_find(struct repair *r, const struct fix *x, struct idiom *i);

/* own_macros.c: ways for a file that shows none */
void own_macros_offer(struct repair *r, const struct fix *x, struct idiom *i);

#endif
