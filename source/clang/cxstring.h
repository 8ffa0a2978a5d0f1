/* Converts a string of libclang to a string in an arena. */
#ifndef SOURCE_CLANG_CXSTRING_H
#define SOURCE_CLANG_CXSTRING_H

#include <clang-c/CXString.h>

#include "util/alloc.h"

/* Copies the string into the arena and disposes of it; NULL if it is empty. */
static inline const char *cxstring_take(struct arena *a, CXString s)
{
	const char *text = clang_getCString(s);
	const char *copy = text && *text ? arena_text(a, text) : NULL;

	clang_disposeString(s);
	return copy;
}

#endif
