/* C and C++ sources as plain trees, for those who change them. The work is done by libclang, which
 * takes a moment to load: so it is behind a shared object of its own (libpmend_source.so) that only
 * `pmend fix` and representative testing open.
 *
 * Offsets count bytes in the file. A node that a macro made has the extent of the macro's use. What
 * comes from system headers is declared here, but has no tree. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/alias.h"
#include "util/error.h"

enum source_kind {
	SOURCE_EXPR, /* any other expression; also casts and parentheses */
	SOURCE_STMT, /* any other statement */
	SOURCE_COMPOUND,
	SOURCE_IF,
	SOURCE_FOR,
	SOURCE_WHILE,
	SOURCE_DO,
	SOURCE_SWITCH,
	SOURCE_LABEL, /* also case and default: the last child is the statement */
	SOURCE_RETURN,
	SOURCE_JUMP,
	SOURCE_ASM,  /* name: the whole text, or the macro's use */
	SOURCE_DECL, /* a statement that declares */
	SOURCE_VARIABLE,
	SOURCE_BINARY, /* op, as far as it is known; "=" and the like are assignments */
	SOURCE_UNARY,  /* op: "*", "++x", "x++"… */
	SOURCE_CALL,   /* name: what is called, if it is known */
	SOURCE_MEMBER,
	SOURCE_SUBSCRIPT,
	SOURCE_NAME, /* use of a variable or function */
	SOURCE_CONDITIONAL,
	SOURCE_LITERAL,
	SOURCE_LAMBDA,
};

struct source_node {
	enum source_kind kind;
	uint32_t begin, end; /* extent; without the semicolon, if it is an expression */
	/* where it is written: differs from the extent for arguments of macros */
	uint32_t text_begin, text_end;
	uint32_t line, column; /* of begin */
	const char *name;      /* NULL if it has none */
	char op[4];            /* "" if not known */
	const char *type;      /* as written, of expressions and variables; NULL */
	uint32_t offset_bytes; /* of a member in its structure */
	/* of the type and of what it points to; 0 if not known */
	uint32_t size_bytes, align_bytes, target_bytes, target_align_bytes;
	bool is_arrow, is_bitfield, is_unsigned, is_local, is_volatile, is_reference, is_array;
	/* of a constant that the text may not show: sizeof, an enumerator, a literal */
	bool has_value;
	int64_t value;
	struct source_node *parent, *child, *last, *next;
};

/* Without parentheses and casts around it; NULL stays NULL. */
static inline const struct source_node *source_bare(const struct source_node *n)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	return n;
}

/* The same, up to one whose value is known. */
static inline const struct source_node *source_bare_value(const struct source_node *n)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last && !n->has_value)
		n = n->child;
	return n;
}

/* The child of the block that the node is, or is in; NULL: it is not in the block. */
static inline const struct source_node *source_child_of(const struct source_node *block,
							const struct source_node *n)
{
	while (n && n->parent != block)
		n = n->parent;
	return n;
}

/* It is `top`, or below it. */
static inline bool source_is_inside(const struct source_node *n, const struct source_node *top)
{
	while (n && n != top)
		n = n->parent;
	return n != NULL;
}

static inline bool source_is_loop(const struct source_node *n)
{
	return n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO;
}

/* A return or a jump, also alone in braces. */
static inline bool source_leaves(const struct source_node *n)
{
	if (n && n->kind == SOURCE_COMPOUND)
		n = n->child == n->last ? n->child : NULL;
	return n && (n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP);
}

struct source_parameter {
	const char *name, *type;
	uint32_t target_bytes; /* size of what it points to; 0 if that is not known */
	bool is_pointer, is_integer;
};

struct source_function {
	const char *name, *file;
	const char *scope; /* of C++, as "pm::node::"; NULL: none */
	uint32_t begin, end, line, end_line;
	struct source_parameter *parameters;
	size_t nparameters;
	bool is_system, is_variadic, returns_void, is_static;
	bool is_method;  /* has an object */
	bool is_virtual; /* the object's class may have another one */
	bool is_template;
	bool is_hidden;           /* from all but its class */
	struct source_node *body; /* NULL: only declared, or in a system header */
};

struct source_macro {
	const char *name, *file;
	const char *text; /* the definition from its name on */
	uint32_t begin;
	bool is_function, is_system;
};

/* Where a macro is used in a file. */
struct source_use {
	const char *name, *file;
	uint32_t begin, end;
};

/* One translation unit. */
struct source_unit {
	const char *main_file;
	const char *directory; /* in which it is compiled */
	bool is_cplusplus;
	struct source_function *functions;
	size_t nfunctions;
	struct source_macro *macros;
	size_t nmacros;
	struct source_use *uses;
	size_t nuses;
};

struct source_commands;

/* Files of the compilation database, as absolute paths. */
struct source_database {
	const char **files, **directories;
	/* where the file's command looks for headers: absolute paths, each with a newline behind
	 * it */
	const char **includes;
	size_t n;
	/* how they are compiled; of all, also if only some files are here */
	const struct source_commands *commands;
};

/* A question about one place of the source. */
enum { SOURCE_STORE = -10, SOURCE_DESTINATION = -11 };
struct source_query {
	/* the file that is compiled, and that in which the place is: absolute paths */
	const char *unit, *file;
	uint32_t line, column; /* as debug information has them; column 0: not known */
	/* SOURCE_STORE: what is stored to there. Else what this argument of the call there leads
	 * to: its number, PLACE_THIS, or SOURCE_DESTINATION: the one that the function, of which
	 * memcpy and many others are known, fills */
	int argument;
	const char *callee;  /* of a call: the function's name as debug information has it */
	uint64_t size_bytes; /* of the store */
	/* only what holds the place counts: it is that of a function that was inlined there */
	bool is_within;
	/* in the store's instruction, from its base register; -1: not known. Decides where several
	 * stores are at one place */
	int64_t offset;
};

struct place;
struct source_typing;

/* Files are read when they are first asked about. */
struct source_typing_api {
	struct source_typing *(*open)(const char *build_dir);
	void (*close)(struct source_typing *s);
	/* 1: found. 0: there is source, but nothing of that kind is found there. -1: no source; err
	 * is filled when the unit could not be read, the first time it is asked about. What out
	 * points to lives as long as s. */
	int (*place)(struct source_typing *s, const struct source_query *q, struct place *out,
		     struct error *err);
};

/* A file as it will be. */
struct source_text {
	const char *path, *text;
	size_t len_bytes;
};

struct source_api {
	unsigned version;
	/* compile_commands.json */
	int (*open)(const char *build_dir, struct source_database *db, struct error *err);
	void (*close)(struct source_database *db);
	struct source_unit *(*parse)(const struct source_database *db, const char *file,
				     struct error *err);
	void (*release)(struct source_unit *u);
	/* Does the file compile, if others that it is made of are changed so? is_strict: calls of
	 * what is not declared are errors. -1: no, or it cannot be read; err has the first
	 * error. */
	int (*compiles)(const struct source_database *db, const char *file,
			const struct source_text *changed, size_t nchanged, bool is_strict,
			struct error *err);
	const struct alias_api *alias;
	const struct source_typing_api *typing;
};

enum { SOURCE_VERSION = 10 };

extern const char source_todo[]; /* what brings one that cannot be loaded */

/* Loads the shared object from a folder; NULL if that fails. It stays loaded. */
const struct source_api *source_load(const char *folder, struct error *err);

#endif
