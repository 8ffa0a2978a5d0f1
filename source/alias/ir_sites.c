/* Records where instructions are in the source, so that questions about a line find them, and names
 * the objects that they create. Each path is resolved once. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/alias/ir_internal.h"

static const char *path_of(struct alias *a, LLVMValueRef v)
{
	unsigned nfolder = 0, nname = 0;
	const char *folder = LLVMGetDebugLocDirectory(v, &nfolder),
		   *name = LLVMGetDebugLocFilename(v, &nname);
	uint64_t key = (uint64_t)(uintptr_t)name * 31 + (uint64_t)(uintptr_t)folder;
	char *found = name ? map_get(&a->paths, key) : NULL, joined[PATH_MAX], real[PATH_MAX];

	if (!name || found)
		return found;
	snprintf(joined, sizeof joined, "%.*s%s%.*s", name[0] == '/' ? 0 : (int)nfolder, folder,
		 name[0] == '/' ? "" : "/", (int)nname, name);
	found = arena_text(&a->arena, realpath(joined, real) ? real : joined);
	map_set(&a->paths, key, found);
	return found;
}

const char *site_name(struct alias *a, LLVMValueRef v, const char *what)
{
	const char *path = path_of(a, v), *slash = path ? strrchr(path, '/') : NULL;
	char *text = path ? xasprintf("%s at %s:%u", what, slash ? slash + 1 : path,
				      LLVMGetDebugLocLine(v))
			  : xasprintf("%s", what);
	const char *copy = arena_text(&a->arena, text);

	free(text);
	return copy;
}

void site_add(struct alias *a, LLVMValueRef v, bool is_store, const char *callee,
	      const uint32_t *pointers, size_t n)
{
	struct site s = {
		.file = path_of(a, v), .callee = callee, .is_store = is_store, .npointers = n
	};

	if (!s.file)
		return;
	s.line = LLVMGetDebugLocLine(v);
	s.column = LLVMGetDebugLocColumn(v);
	s.pointers = arena_alloc(&a->arena, (n + 1) * sizeof *s.pointers);
	memcpy(s.pointers, pointers, n * sizeof *pointers);
	*vec_add(&a->sites) = s;
}
