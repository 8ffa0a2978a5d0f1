/* Gives texts of a translation unit: strings of libclang, the bytes of the unit's files, and the
 * extent of a piece of syntax. What a macro produces has the extent of the macro's use. */
#include "source/clang/unit.h"

#include <limits.h>
#include <stdlib.h>

#include "source/clang/cxstring.h"

const char *unit_string(struct unit *u, CXString s)
{
	return cxstring_take(&u->arena, s);
}

static const char *absolute(struct unit *u, CXString name)
{
	char real[PATH_MAX];
	const char *path = unit_string(u, name);

	return path && realpath(path, real) ? arena_text(&u->arena, real) : path;
}

struct unit_text *unit_text(struct unit *u, CXFile file)
{
	struct unit_text *t;

	if (!file)
		return NULL;
	for (size_t i = 0; i < u->texts.n; i++)
		if (clang_File_isEqual(u->texts.at[i]->file, file))
			return u->texts.at[i];
	t = arena_alloc(&u->arena, sizeof *t);
	*t = (struct unit_text){ .file = file, .path = absolute(u, clang_getFileName(file)) };
	t->bytes = clang_getFileContents(u->tu, file, &t->len_bytes);
	*vec_add(&u->texts) = t;
	return t;
}

struct unit_text *unit_extent(struct unit *u, CXCursor c, uint32_t *begin, uint32_t *end)
{
	CXSourceRange range = clang_getCursorExtent(c);
	CXFile first = NULL, last = NULL;
	unsigned from = 0, to = 0;

	clang_getExpansionLocation(clang_getRangeStart(range), &first, NULL, NULL, &from);
	clang_getExpansionLocation(clang_getRangeEnd(range), &last, NULL, NULL, &to);
	*begin = from;
	*end = to;
	return clang_File_isEqual(first, last) && from <= to ? unit_text(u, first) : NULL;
}
