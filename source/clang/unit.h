/* A translation unit: how it is opened, its text, and what is copied from it. */
#ifndef SOURCE_CLANG_UNIT_H
#define SOURCE_CLANG_UNIT_H

#include <clang-c/Index.h>

#include "source/source.h"
#include "util/alloc.h"
#include "util/vec.h"

/* The bytes of a file that is part of the unit. */
struct unit_text {
	CXFile file;
	const char *path, *bytes;
	size_t len_bytes;
};

struct unit {
	struct source_unit unit; /* first: it is what others see */
	struct arena arena;
	CXTranslationUnit tu;
	VEC(struct unit_text *) texts;
	VEC(struct source_function) functions;
	VEC(struct source_macro) macros;
	VEC(struct source_use) uses;
};

/* A unit whose u->tu stays open: errors are borne, nothing is copied from it. */
struct unit *unit_open(CXIndex index, const struct source_commands *commands, const char *file,
		       struct error *err);
void unit_close(struct unit *u);

/* What libpmend_source.so offers of this: see struct source_api. */
struct source_unit *unit_parse(const struct source_database *db, const char *file,
			       struct error *err);
void unit_release(struct source_unit *unit);
int unit_compiles(const struct source_database *db, const char *file,
		  const struct source_text *changed, size_t nchanged, bool is_strict,
		  struct error *err);

extern const struct source_typing_api typing_api; /* typing.c */

/* unit_text.c */
struct unit_text *unit_text(struct unit *u, CXFile file); /* NULL for no file */
/* takes it over; NULL for an empty one */
const char *unit_string(struct unit *u, CXString s);
/* The extent in the file where the macro was used, if one was. */
struct unit_text *unit_extent(struct unit *u, CXCursor c, uint32_t *begin, uint32_t *end);

void declarations_copy(struct unit *u); /* into u->functions, macros and uses (declarations.c) */
/* of what a pointer points to, of an array's element; 0 if not known (tree.c) */
uint32_t type_target_bytes(CXType t);
struct source_node *tree_copy(struct unit *u, CXCursor body); /* tree.c */

#endif
