/* C and C++ sources as plain trees, for code that changes them, and questions about stores.
 * libclang does the work; because it takes a moment to load, it is behind a shared object of its
 * own, libpmend_source.so, which only `pmend fix` and representative testing open.
 *
 * Offsets count bytes in the file. A node made by a macro has the extent of the macro's use.
 * Functions of system headers are listed without their trees. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/alias.h"
#include "util/error.h"

enum source_kind {
	SOURCE_EXPR, /* any other expression, also casts and parentheses */
	SOURCE_STMT, /* any other statement */
	SOURCE_COMPOUND,
	SOURCE_IF,
	SOURCE_FOR,
	SOURCE_WHILE,
	SOURCE_DO,
	SOURCE_SWITCH,
	SOURCE_LABEL, /* also case and default; the last child is the statement */
	SOURCE_RETURN,
	SOURCE_JUMP,
	SOURCE_ASM,  /* name is the whole text, or the macro's use */
	SOURCE_DECL, /* a statement that declares variables */
	SOURCE_VARIABLE,
	SOURCE_BINARY, /* op, if known; "=", "+=" and the like are assignments */
	SOURCE_UNARY,  /* op: "*", "++x", "x++"… */
	SOURCE_CALL,   /* name: the function, if known */
	SOURCE_MEMBER,
	SOURCE_SUBSCRIPT,
	SOURCE_NAME, /* the use of a variable or function */
	SOURCE_CONDITIONAL,
	SOURCE_LITERAL,
	SOURCE_LAMBDA,
};

struct source_node {
	enum source_kind kind;
	uint32_t begin, end; /* for an expression, without the semicolon */
	/* where it is written; differs from the extent for arguments of macros */
	uint32_t text_begin, text_end;
	uint32_t line, column; /* of begin */
	const char *name;      /* NULL if it has none */
	char op[4];            /* "" if unknown */
	const char *type;      /* of expressions and variables, as written; else NULL */
	uint32_t offset_bytes; /* of a member in its struct */
	/* of the type, and of what it points to; 0 if unknown */
	uint32_t size_bytes, align_bytes, target_bytes, target_align_bytes;
	bool is_arrow, is_bitfield, is_unsigned, is_local, is_volatile, is_reference, is_array;
	/* a constant, which the text may not show as a number: sizeof, an enumerator, a literal */
	bool has_value;
	int64_t value;
	struct source_node *parent, *child, *last, *next;
};

/* Gives the node without the parentheses and casts around it; NULL stays NULL. */
static inline const struct source_node *source_bare(const struct source_node *n)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	return n;
}

/* Like source_bare(), but stops at a node whose value is known. */
static inline const struct source_node *source_bare_value(const struct source_node *n)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last && !n->has_value)
		n = n->child;
	return n;
}

/* Gives the child of the block that contains the node or is the node; NULL if the node is not in
 * the block. */
static inline const struct source_node *source_child_of(const struct source_node *block,
							const struct source_node *n)
{
	while (n && n->parent != block)
		n = n->parent;
	return n;
}

/* Asks whether the node is `top`, or below `top` in the tree. */
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

/* Asks whether the statement is a return or a jump, perhaps alone in braces. */
static inline bool source_leaves(const struct source_node *n)
{
	if (n && n->kind == SOURCE_COMPOUND)
		n = n->child == n->last ? n->child : NULL;
	return n && (n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP);
}

struct source_parameter {
	const char *name, *type;
	uint32_t target_bytes; /* size of what it points to; 0 if unknown */
	bool is_pointer, is_integer;
};

struct source_function {
	const char *name, *file;
	const char *scope; /* of C++, such as "pm::node::"; NULL if none */
	uint32_t begin, end, line, end_line;
	struct source_parameter *parameters;
	size_t nparameters;
	bool is_system, is_variadic, returns_void, is_static;
	bool is_method;  /* called on an object */
	bool is_virtual; /* a derived class may replace it */
	bool is_template;
	bool is_hidden;           /* private or protected */
	struct source_node *body; /* NULL if it is only declared, or in a system header */
};

struct source_macro {
	const char *name, *file;
	const char *text; /* the definition from the name on */
	uint32_t begin;
	bool is_function, is_system;
};

/* A use of a macro in a file. */
struct source_use {
	const char *name, *file;
	uint32_t begin, end;
};

/* One translation unit. */
struct source_unit {
	const char *main_file;
	const char *directory; /* the folder in which it is compiled */
	bool is_cplusplus;
	struct source_function *functions;
	size_t nfunctions;
	struct source_macro *macros;
	size_t nmacros;
	struct source_use *uses;
	size_t nuses;
};

struct source_commands;

/* The files of the compilation database, as absolute paths. */
struct source_database {
	const char **files, **directories;
	/* folders in which the file's command searches headers: absolute paths, each followed by a
	 * newline */
	const char **includes;
	size_t n;
	/* the commands of all files of the database, even if `files` has only some */
	const struct source_commands *commands;
};

/* A question about one place of the source: what does the store or call there write to? */
enum { SOURCE_STORE = -10, SOURCE_DESTINATION = -11 };
struct source_query {
	/* the compiled file, and the file that contains the place; absolute paths */
	const char *unit, *file;
	uint32_t line, column; /* from debug information; column 0: unknown */
	/* SOURCE_STORE asks what the store writes to. Other values ask what an argument of the call
	 * leads to: its number, PLACE_THIS, or SOURCE_DESTINATION for the argument that the
	 * function (memcpy and many others) fills */
	int argument;
	const char *callee;  /* the called function, as debug information names it */
	uint64_t size_bytes; /* of the store */
	/* only an expression that contains the place counts; set for the place of an inlined
	 * call */
	bool is_within;
	/* the constant that the store instruction adds to its base register, -1 if unknown; decides
	 * between several stores at one place */
	int64_t offset;
};

struct place;
struct source_typing;

/* Answers such questions. A file is read when it is first asked about. */
struct source_typing_api {
	struct source_typing *(*open)(const char *build_dir);
	void (*close)(struct source_typing *s);
	/* 1: found. 0: the source has no such store or call there. -1: there is no source; err is
	 * set if the unit could not be read, at the first question about it. What out points to
	 * lives as long as s. */
	int (*place)(struct source_typing *s, const struct source_query *q, struct place *out,
		     struct error *err);
};

/* The new content of a file. */
struct source_text {
	const char *path, *text;
	size_t len_bytes;
};

struct source_api {
	unsigned version;
	/* opens compile_commands.json */
	int (*open)(const char *build_dir, struct source_database *db, struct error *err);
	void (*close)(struct source_database *db);
	/* with what others that it is made of will be */
	struct source_unit *(*parse)(const struct source_database *db, const char *file,
				     const struct source_text *changed, size_t nchanged,
				     struct error *err);
	void (*release)(struct source_unit *u);
	/* Does the file compile if it and its headers have these contents? is_strict: calling an
	 * undeclared function is an error. -1 with the first error if not, or if it cannot be
	 * read. */
	int (*compiles)(const struct source_database *db, const char *file,
			const struct source_text *changed, size_t nchanged, bool is_strict,
			struct error *err);
	const struct alias_api *alias;
	const struct source_typing_api *typing;
};

enum { SOURCE_VERSION = 11 };

extern const char source_todo[]; /* how to install what is missing */

/* Loads libpmend_source.so from a folder; it stays loaded. NULL with err if that fails. */
const struct source_api *source_load(const char *folder, struct error *err);

#endif
