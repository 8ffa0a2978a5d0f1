/* Declares the lowest part of repair/: parsed sources, their trees, and edits of their text. All
 * strings live in the arena of struct codebase. */
#ifndef REPAIR_EDIT_INTERNAL_H
#define REPAIR_EDIT_INTERNAL_H

#include <string.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repair/edit/paths.h"
#include "source/source.h"
#include "util/alloc.h"
#include "util/vec.h"

/* Replaces the bytes [at, at + removed). */
struct edit {
	uint32_t at, removed;
	const char *insert;
};

struct file {
	const char *path;
	char *text; /* on the heap */
	uint32_t len_bytes;
	VEC(struct edit) edits;
	const char *after;
};

/* A function's definition, or a place where its name is used. */
struct use {
	const char *name;
	struct source_unit *unit;
	/* the defined function, or the function that contains the use */
	const struct source_function *in;
	const struct source_node *node; /* NULL: it is the definition */
	uint32_t at;
};

/* All files and units that were read so far, each once. */
struct codebase {
	const struct source_api *api;
	const struct source_database *db;
	/* files that are read with their planned changes */
	const struct source_text *changed;
	size_t nchanged;
	struct arena arena;
	VEC(struct file *) files;
	VEC(struct source_unit *) units;
	VEC(struct use) uses; /* names.c */
	size_t nunits_indexed;
};

/* files.c */
/* Makes a codebase. It keeps pointers to the arguments, which must live as long. */
struct codebase *codebase_new(const struct source_api *api, const struct source_database *db);
void codebase_free(struct codebase *code);
void codebase_forget_edits(struct codebase *code);
struct file *file_open(struct codebase *code, const char *path); /* NULL: it cannot be read */
/* Returns the absolute path; NULL: no such file exists. */
const char *file_resolve(struct codebase *code, const char *path);
/* Parses a source file. NULL with a reason. */
struct source_unit *unit_open(struct codebase *code, const char *file, const char **why);

/* text.c: formats a text like printf(), in the arena */
const char *text_format(struct codebase *code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *text_copy(struct codebase *code, const char *from, size_t len_bytes);
uint32_t text_skip_blanks(const struct file *f, uint32_t at); /* skips blanks and comments */
/* Returns the place behind a semicolon that directly follows `at`; 0: none follows. */
uint32_t text_semicolon(const struct file *f, uint32_t at);
uint32_t text_line_begin(const struct file *f, uint32_t at);
/* Returns the offset of the newline that ends the line, or of the end of the file. */
uint32_t text_line_end(const struct file *f, uint32_t at);
/* Asks whether there is an #if or the like between the two offsets, so that the first may be
 * compiled without the second. */
bool text_has_directive(const struct file *f, uint32_t from, uint32_t to);
/* Returns the blanks at the beginning of the line. */
const char *text_indent(struct codebase *code, const struct file *f, uint32_t at);
/* Returns the node's text, in one line if possible. */
const char *text_of(struct codebase *code, const struct file *f, const struct source_node *n);
/* Asks whether only blanks are before `at` in its line. */
bool text_begins_line(const struct file *f, uint32_t at);
bool text_is_identifier(const char *text);
bool text_has_word(const char *text, const char *word);
/* Adds parentheses, unless the text is a postfix expression or a number. */
const char *text_wrapped(struct codebase *code, const char *text);
/* Asks whether the text can be followed by -> or [] and preceded by & without parentheses around
 * it. */
bool text_is_postfix(const char *text);
/* Returns the arguments of a call or macro use in [at, end), ended by NULL. NULL: there is no call
 * or macro use. */
const char **text_arguments(struct codebase *code, const struct file *f, uint32_t at, uint32_t end);
/* Replaces every identifier names[i] by values[i]. in_members: also behind . and ->, as in a
 * macro's text. */
const char *text_substitute(struct codebase *code, const char *text, bool in_members,
			    const char *const *names, const char *const *values, size_t n);

/* edit.c: at offset `at`, removes so many bytes of the file and inserts the text */
void file_edit(struct file *f, uint32_t at, uint32_t removed, const char *insert);
const char *file_edited(struct codebase *code, struct file *f, uint32_t from, uint32_t to);
/* Returns where a byte of the edited file was in the original; UINT32_MAX: the byte was inserted.
 * The edits must be sorted, which file_edited() does. */
uint32_t file_origin(const struct file *f, uint32_t after);
/* Asks whether all bytes of this range of the edited file were inserted. */
bool file_is_inserted(const struct file *f, uint32_t from, uint32_t to);
/* Asks whether all bytes of this range of the original file are removed. */
bool file_is_removed(const struct file *f, uint32_t from, uint32_t to);

/* statement.c */
/* Returns the blanks of one step of indentation in this function. */
const char *indent_unit(struct codebase *code, const struct file *f,
			const struct source_function *fn);
/* Returns the place behind the statement's semicolon. */
uint32_t statement_end(const struct file *f, const struct source_node *stmt);
void statement_remove(struct file *f, const struct source_node *stmt);
/* Returns the end of the line, if only blanks and comments are behind `at`; 0: code follows. */
uint32_t line_end_behind(const struct file *f, uint32_t at);

/* nodes.c */
/* Returns the node after n in preorder, below `top`; NULL at the end. */
const struct source_node *node_next(const struct source_node *n, const struct source_node *top);
const struct source_function *function_at(const struct source_unit *u, const char *file,
					  uint32_t line);
/* Finds the function with this name that has a body; NULL: none. */
const struct source_function *function_named(const struct source_unit *u, const char *name);
/* Asks whether both are the same function, perhaps in different units. */
bool function_is_same(const struct source_function *a, const struct source_function *b);
/* Finds the outermost macro use that makes the node; NULL: none. */
const struct source_use *macro_use(const struct source_unit *u, const char *file,
				   const struct source_node *n);
bool node_is_assignment(const struct source_node *n);
bool node_may_assign(const struct source_node *n); /* the same, or a macro hides the operator */
/* Asks whether the node is a local variable or a part of one. Such a variable is not persistent. */
bool node_is_own_variable(const struct source_node *n);
/* Asks whether something below `top` assigns the variable. What is below `besides` does not
 * count. */
bool node_assigns(const struct source_node *top, const struct source_node *besides,
		  const char *name);
bool type_is_pool(const char *type); /* the type of a libpmemobj pool; false for NULL */
bool node_is_statement(const struct source_node *n);
/* Asks whether the node is a statement, and not a part of a header such as that of a for. */
bool node_is_body(const struct file *f, const struct source_node *n);
bool node_is_in_lambda(const struct source_node *n);

/* locate.c: finds the store at a line and column of the function */
const struct source_node *store_at(const struct source_unit *u, const struct source_function *fn,
				   const struct file *f, uint32_t line, uint32_t column);
const struct source_node *call_at(const struct source_function *fn, const char *callee,
				  uint32_t line, uint32_t column);
/* Asks whether the node stores, perhaps to persistent memory. */
bool node_is_store(const struct source_unit *u, const struct file *f, const struct source_node *n);
/* Asks whether the node contains an atomic or volatile store. The order of such a store matters:
 * what was stored earlier should be durable before it. */
bool node_publishes(struct codebase *code, const struct source_unit *u, const struct file *f,
		    const struct source_node *top);
/* Returns "store_n(…" for __atomic_store_n(…), and the like for other atomic operations; NULL: the
 * node is no atomic operation. */
const char *atomic_operation(const struct file *f, const struct source_node *n);
uint32_t file_offset(const struct file *f, uint32_t line, uint32_t column); /* 0 for column 0 */

/* atomics.c: returns the object to which a call of std::atomic stores; NULL: the call is no such
 * call. */
const struct source_node *atomic_object(const struct source_node *call);

/* writers.c: which argument a library function stores to. */
enum { WRITES_NOTHING = -1 };
int call_writes_to(const struct source_unit *u, const struct source_node *call);
/* Returns the std::array of which the call writes a part, as an lvalue; NULL: it writes to none. */
const struct source_node *call_writes_into(const struct source_unit *u,
					   const struct source_node *call);
/* Returns text for the number of bytes that the call writes, and *which argument says it; NULL:
 * unknown. */
const char *call_writes_bytes(struct codebase *code, const struct source_unit *u,
			      const struct source_node *call, const char *const *args, int *which);
/* Returns argument i of the call; NULL: there is none. */
const struct source_node *call_argument(const struct source_node *call, int i);
/* Returns the number of the only argument through which a function of the program stores;
 * WRITES_NOTHING: it stores through none, or also elsewhere. */
int callee_stores_to(struct codebase *code, const struct source_unit *u,
		     const struct source_node *call);

/* library.c: asks whether the call goes through a pointer. This function and the next ones tell
 * where calls may store whose code is unknown. */
bool call_is_by_pointer(const struct source_unit *u, const struct source_node *call);
/* Asks whether the call is of a virtual method, so that the object decides which one runs. */
bool call_is_virtual(const struct source_unit *u, const struct source_node *call);
/* Asks whether the call is of a library function that stores only to its own memory and to its
 * arguments. */
bool call_is_of_library(const struct source_unit *u, const struct source_node *call);
bool call_is_made_by_compiler(const struct source_unit *u, const struct source_node *call);
/* Asks whether others can see what the call writes. Standard error does not count: errors and logs
 * are no answers. */
bool call_is_output(const struct source_node *call);

/* moving.c: whether a statement may be moved. */
/* Asks whether the statement contains a return or a jump that leaves it, so that what is behind the
 * statement may not be executed. */
bool statement_may_be_left(const struct file *f, const struct source_node *top);
/* Asks whether each execution of `top` executes the node, which is below `top`: under no condition,
 * and with no return before it. */
bool node_is_sure(const struct source_node *n, const struct source_node *top);
/* Asks whether something that `top` does or calls may change the expression's value. */
bool expression_may_change(const struct source_unit *u, const struct source_node *top,
			   const char *expression);

/* macro.c: returns the left side of the macro's only assignment, with the arguments of this use;
 * NULL: the macro has none, or several. */
const char *macro_lvalue(struct codebase *code, const struct source_unit *u, struct file *f,
			 const struct source_use *use);

/* macro_body.c: a statement in a macro's definition that stores; offsets are in the macro's file */
struct macro_store {
	const char *lvalue;  /* with the macro's parameters, in one line */
	uint32_t begin, end; /* the statement with its semicolon */
	bool is_plain;       /* another statement can be added beside it */
};
/* Finds the program's own macro of that name, if it has parameters; NULL: none. */
const struct source_macro *macro_defined(const struct source_unit *u, const char *name);
/* Finds the outermost macro use at this place; NULL: none. */
const struct source_use *macro_use_at(const struct source_unit *u, const struct file *f,
				      uint32_t line, uint32_t column);
size_t macro_stores(struct codebase *code, const struct source_macro *m, const struct file *f,
		    struct macro_store *out, size_t max);
/* Adds a statement (with its semicolon) before or behind the store. False: impossible. */
bool macro_insert(struct codebase *code, struct file *f, const struct macro_store *s,
		  const char *text, bool is_behind);

/* names.c */
/* Finds all definitions and uses of the name (n of them), sorted by file and offset. */
const struct use *names_find(struct codebase *code, const char *name, size_t *n);
/* Returns the call whose callee is this name; NULL: the name is used in another way. */
const struct source_node *use_call(const struct source_node *name);
/* Finds the function's definition in any unit, and sets *u to that unit; NULL: none. */
const struct source_function *function_defined(struct codebase *code, struct source_unit **u,
					       const char *name);

/* pure.c: asks whether the function with this name only computes */
bool function_is_pure(const struct source_unit *u, const char *name); /* it only computes */
/* Like function_is_pure(), for a function that may be defined in another unit. */
bool function_computes(struct codebase *code, const struct source_unit *u, const char *name);
/* Asks whether evaluating the node again changes nothing. */
bool node_is_repeatable(const struct source_unit *u, const struct source_node *n);
/* Asks whether no order matters in the node: it has no jumps, and calls only functions that compute
 * or copy. */
bool node_is_calm(struct codebase *code, const struct source_unit *u, const struct source_node *n);
/* Like node_is_calm(), for a loop; jumps that stay in the loop are allowed. */
bool loop_is_calm(struct codebase *code, const struct source_unit *u, const struct file *f,
		  const struct source_node *loop);

/* Asks whether the name is used below `top`. */
static inline bool node_mentions(const struct source_node *top, const char *name)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_NAME && n->name && strcmp(n->name, name) == 0)
			return true;
	return false;
}

/* Asks whether evaluating the call's arguments again changes nothing. */
static inline bool node_arguments_repeat(const struct source_unit *u,
					 const struct source_node *call)
{
	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next)
		if (!node_is_repeatable(u, a))
			return false;
	return true;
}

/* Asks whether the line that begins at this offset is blank. */
static inline bool file_is_blank_line(const struct file *f, uint32_t line)
{
	while (line < f->len_bytes && strchr(" \t\r", f->text[line]))
		line++;
	return line >= f->len_bytes || f->text[line] == '\n';
}

#endif
