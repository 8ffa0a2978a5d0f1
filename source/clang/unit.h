/* Opens a translation unit, gives its text, and declares what is copied from it. */
#ifndef SOURCE_CLANG_UNIT_H
#define SOURCE_CLANG_UNIT_H

#include <clang-c/Index.h>

#include "source/source.h"
#include "util/alloc.h"
#include "util/vec.h"

/* A file that is part of the unit, with its bytes. */
struct unit_text {
	CXFile file;
	const char *path, *bytes;
	size_t len_bytes;
};

struct unit {
	struct source_unit unit; /* must be first: callers get a pointer to it */
	struct arena arena;
	CXTranslationUnit tu;
	VEC(struct unit_text *) texts;
	VEC(struct source_function) functions;
	VEC(struct source_macro) macros;
	VEC(struct source_use) uses;
};

/* Opens a unit whose u->tu stays open. Errors are ignored, and nothing is copied. */
struct unit *unit_open(CXIndex index, const struct source_commands *commands, const char *file,
		       struct error *err);
void unit_close(struct unit *u);

/* Parts of struct source_api (source/source.h describes them): read a translation unit and copy
 * what others need. */
struct source_unit *unit_parse(const struct source_database *db, const char *file,
			       const struct source_text *changed, size_t nchanged,
			       struct error *err);
void unit_release(struct source_unit *unit);
int unit_compiles(const struct source_database *db, const char *file,
		  const struct source_text *changed, size_t nchanged, bool is_strict,
		  struct error *err);

extern const struct source_typing_api typing_api; /* typing.c */

/* unit_text.c: gives the bytes of a file of the unit */
struct unit_text *unit_text(struct unit *u, CXFile file); /* NULL if file is NULL */
/* Copies the string into the unit, and disposes of it; NULL if it is empty. */
const char *unit_string(struct unit *u, CXString s);
/* Gives the extent of a piece of syntax in its file; inside a macro, the extent of the macro's
 * use. */
struct unit_text *unit_extent(struct unit *u, CXCursor c, uint32_t *begin, uint32_t *end);

/* Copies the declarations of the unit into u->functions, macros and uses (declarations.c). */
void declarations_copy(struct unit *u);
/* Gives the size of what a pointer points to, or of an array's element; 0 if unknown (tree.c). */
uint32_t type_target_bytes(CXType t);
struct source_node *tree_copy(struct unit *u, CXCursor body); /* tree.c */

#endif
