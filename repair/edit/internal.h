/* What the bottom floor of repair/ gives to those above: the sources that are read, their trees,
 * and edits of their text. All strings live in the arena of struct codebase. */
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

/* A function's definition, or a place where its name is used. */
struct use {
	const char *name;
	struct source_unit *unit;
	const struct source_function *in; /* the definition, or the function that uses it */
	const struct source_node *node;   /* NULL: the definition */
	uint32_t at;
};

/* What was read so far: each file and each unit once. */
struct codebase {
	const struct source_api *api;
	const struct source_database *db;
	/* files that are read as they will be */
	const struct source_text *changed;
	size_t nchanged;
	struct arena arena;
	VEC(struct file *) files;
	VEC(struct source_unit *) units;
	VEC(struct use) uses; /* of names.c */
	size_t nunits_indexed;
};

/* files.c */
/* borrows all */
struct codebase *codebase_new(const struct source_api *api, const struct source_database *db);
void codebase_free(struct codebase *code);
void codebase_forget_edits(struct codebase *code);
struct file *file_open(struct codebase *code, const char *path); /* NULL if it cannot be read */
/* absolute; NULL if it is not there */
const char *file_resolve(struct codebase *code, const char *path);
/* NULL with a reason */
struct source_unit *unit_open(struct codebase *code, const char *file, const char **why);

/* text.c */
const char *text_format(struct codebase *code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *text_copy(struct codebase *code, const char *from, size_t len_bytes);
uint32_t text_skip_blanks(const struct file *f, uint32_t at); /* blanks and comments */
/* just after it; 0 if none follows directly */
uint32_t text_semicolon(const struct file *f, uint32_t at);
uint32_t text_line_begin(const struct file *f, uint32_t at);
uint32_t text_line_end(const struct file *f, uint32_t at); /* of the newline or the end */
/* what is compiled under a condition does not always come before what follows */
bool text_has_directive(const struct file *f, uint32_t from, uint32_t to);
/* of the line at */
const char *text_indent(struct codebase *code, const struct file *f, uint32_t at);
/* as written, in one line if it can be */
const char *text_of(struct codebase *code, const struct file *f, const struct source_node *n);
bool text_begins_line(const struct file *f, uint32_t at); /* only blanks are before it */
bool text_is_identifier(const char *text);
bool text_has_word(const char *text, const char *word);
/* in parentheses, unless it is a postfix expression or a number */
const char *text_wrapped(struct codebase *code, const char *text);
/* may have -> or [] appended, & before it, without parentheses */
bool text_is_postfix(const char *text);
/* The arguments of a call or macro use in [at, end); NULL if it is none. Ends with NULL. */
const char **text_arguments(struct codebase *code, const struct file *f, uint32_t at, uint32_t end);
/* Every identifier names[i] replaced by values[i]; those behind . and ->, too, in a macro's
 * text. */
const char *text_substitute(struct codebase *code, const char *text, bool in_members,
			    const char *const *names, const char *const *values, size_t n);

/* edit.c */
void file_edit(struct file *f, uint32_t at, uint32_t removed, const char *insert);
const char *file_edited(struct codebase *code, struct file *f, uint32_t from, uint32_t to);
/* Where a byte of the edited file was before; UINT32_MAX: nowhere. file_edited() must have sorted
 * the edits. */
uint32_t file_origin(const struct file *f, uint32_t after);
/* Does the range of the edited file, or of the file before, have no byte that the other one has? */
bool file_is_inserted(const struct file *f, uint32_t from, uint32_t to);
bool file_is_removed(const struct file *f, uint32_t from, uint32_t to);

/* statement.c */
/* one step of indentation in the function */
const char *indent_unit(struct codebase *code, const struct file *f,
			const struct source_function *fn);
/* behind the semicolon */
uint32_t statement_end(const struct file *f, const struct source_node *stmt);
void statement_remove(struct file *f, const struct source_node *stmt);
/* where the line ends, behind comments; 0 if code follows */
uint32_t line_end_behind(const struct file *f, uint32_t at);

/* nodes.c */
/* preorder; NULL at the end */
const struct source_node *node_next(const struct source_node *n, const struct source_node *top);
const struct source_function *function_at(const struct source_unit *u, const char *file,
					  uint32_t line);
/* with a body */
const struct source_function *function_named(const struct source_unit *u, const char *name);
/* also in another unit */
bool function_is_same(const struct source_function *a, const struct source_function *b);
/* that it comes from; NULL */
const struct source_use *macro_use(const struct source_unit *u, const char *file,
				   const struct source_node *n);
bool node_is_assignment(const struct source_node *n);
bool node_may_assign(const struct source_node *n); /* the same, or a macro hides the operator */
bool node_is_own_variable(const struct source_node *n); /* of the function, so not persistent */
/* a variable */
bool node_assigns(const struct source_node *top, const struct source_node *besides,
		  const char *name);
bool type_is_pool(const char *type); /* of libpmemobj; NULL is none */
bool node_is_statement(const struct source_node *n);
/* a statement, not part of a header */
bool node_is_body(const struct file *f, const struct source_node *n);
bool node_is_in_lambda(const struct source_node *n);

/* locate.c */
const struct source_node *store_at(const struct source_unit *u, const struct source_function *fn,
				   const struct file *f, uint32_t line, uint32_t column);
const struct source_node *call_at(const struct source_function *fn, const char *callee,
				  uint32_t line, uint32_t column);
/* perhaps to persistent memory */
bool node_is_store(const struct source_unit *u, const struct file *f, const struct source_node *n);
/* Is there an atomic or volatile store in it? Who writes that cares for the order: what was stored
 * before shall be durable before. */
bool node_publishes(struct codebase *code, const struct source_unit *u, const struct file *f,
		    const struct source_node *top);
/* of __atomic_store_n(…) and the like, "store_n(…"; NULL: it is none */
const char *atomic_operation(const struct file *f, const struct source_node *n);
uint32_t file_offset(const struct file *f, uint32_t line, uint32_t column); /* 0 for column 0 */

/* atomics.c: the object that a call of std::atomic's functions writes; NULL: it is none. */
const struct source_node *atomic_object(const struct source_node *call);

/* writers.c: which argument a library's function stores to. */
enum { WRITES_NOTHING = -1 };
int call_writes_to(const struct source_unit *u, const struct source_node *call);
/* the std::array that it writes a part of, as an lvalue; NULL: none */
const struct source_node *call_writes_into(const struct source_unit *u,
					   const struct source_node *call);
/* How many bytes, and which argument tells it; NULL: not known. */
const char *call_writes_bytes(struct codebase *code, const struct source_unit *u,
			      const struct source_node *call, const char *const *args, int *which);
/* NULL: there is none */
const struct source_node *call_argument(const struct source_node *call, int i);
/* The only argument to whose object a function of the program stores; WRITES_NOTHING: there is
 * none, or it stores elsewhere, too. */
int callee_stores_to(struct codebase *code, const struct source_unit *u,
		     const struct source_node *call);

/* library.c: where calls store whose code is not seen. */
bool call_is_by_pointer(const struct source_unit *u, const struct source_node *call);
/* which method it is, the object tells */
bool call_is_virtual(const struct source_unit *u, const struct source_node *call);
/* it stores to its own memory, and to what it is given, only */
bool call_is_of_library(const struct source_unit *u, const struct source_node *call);
bool call_is_made_by_compiler(const struct source_unit *u, const struct source_node *call);
/* what somebody outside may see; errors and logs on standard error are no answers */
bool call_is_output(const struct source_node *call);

/* moving.c: may a statement stand somewhere else? */
/* by a return or a jump: who does that does not come to what is behind it */
bool statement_may_be_left(const struct file *f, const struct source_node *top);
/* whoever comes to `top` comes to the node below it: no condition, no return before */
bool node_is_sure(const struct source_node *n, const struct source_node *top);
/* by what `top` does, or calls */
bool expression_may_change(const struct source_unit *u, const struct source_node *top,
			   const char *expression);

/* macro.c: the left side of the only assignment in the macro, in terms of this use; NULL if there
 * is none or more. */
const char *macro_lvalue(struct codebase *code, const struct source_unit *u, struct file *f,
			 const struct source_use *use);

/* macro_body.c: a statement of a macro's definition that stores, in the macro's file */
struct macro_store {
	const char *lvalue;  /* in terms of the parameters, in one line */
	uint32_t begin, end; /* of the statement, behind its semicolon */
	bool is_plain;       /* another statement can stand beside it */
};
/* one of the code base's that has parameters; NULL */
const struct source_macro *macro_defined(const struct source_unit *u, const char *name);
/* the outermost; NULL */
const struct source_use *macro_use_at(const struct source_unit *u, const struct file *f,
				      uint32_t line, uint32_t column);
size_t macro_stores(struct codebase *code, const struct source_macro *m, const struct file *f,
		    struct macro_store *out, size_t max);
/* Before or behind it; text has its semicolon. False: it cannot be. */
bool macro_insert(struct codebase *code, struct file *f, const struct macro_store *s,
		  const char *text, bool is_behind);

/* names.c */
/* n of them, by file and place */
const struct use *names_find(struct codebase *code, const char *name, size_t *n);
/* The call of which this name is the callee; NULL: it is none. */
const struct source_node *use_call(const struct source_node *name);
/* in any unit; NULL */
const struct source_function *function_defined(struct codebase *code, struct source_unit **u,
					       const char *name);

/* pure.c */
bool function_is_pure(const struct source_unit *u, const char *name); /* only computes */
/* the same, if it may be defined in another unit */
bool function_computes(struct codebase *code, const struct source_unit *u, const char *name);
/* evaluating it again changes nothing */
bool node_is_repeatable(const struct source_unit *u, const struct source_node *n);
/* Nothing in it needs an order: no jumps, no calls but of functions that only compute or copy. */
bool node_is_calm(struct codebase *code, const struct source_unit *u, const struct source_node *n);
/* of one that is in f: its own jumps do not matter */
bool loop_is_calm(struct codebase *code, const struct source_unit *u, const struct file *f,
		  const struct source_node *loop);

/* The name is used somewhere in it. */
static inline bool node_mentions(const struct source_node *top, const char *name)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_NAME && n->name && strcmp(n->name, name) == 0)
			return true;
	return false;
}

/* Evaluating the arguments of a call again changes nothing. */
static inline bool node_arguments_repeat(const struct source_unit *u,
					 const struct source_node *call)
{
	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next)
		if (!node_is_repeatable(u, a))
			return false;
	return true;
}

/* The line that begins at this byte. */
static inline bool file_is_blank_line(const struct file *f, uint32_t line)
{
	while (line < f->len_bytes && strchr(" \t\r", f->text[line]))
		line++;
	return line >= f->len_bytes || f->text[line] == '\n';
}

#endif
