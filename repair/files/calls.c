/* Knows the calls of the C library that write to files, change names and close files, and finds
 * them at the places that a report names. A function of the program with such a name is none. */
#include <string.h>

#include "repair/files/internal.h"
#include "source/source.h"

/* clang-format off */
static const struct file_call calls[] = {
	{ "write", ACT_WRITE, 0, -1, false },		{ "pwrite", ACT_WRITE, 0, -1, false },
	{ "pwrite64", ACT_WRITE, 0, -1, false },	{ "writev", ACT_WRITE, 0, -1, false },
	{ "pwritev", ACT_WRITE, 0, -1, false },		{ "pwritev2", ACT_WRITE, 0, -1, false },
	{ "sendfile", ACT_WRITE, 0, -1, false },	{ "copy_file_range", ACT_WRITE, 2, -1, false },
	{ "splice", ACT_WRITE, 2, -1, false },		{ "ftruncate", ACT_WRITE, 0, -1, false },
	{ "ftruncate64", ACT_WRITE, 0, -1, false },	{ "posix_fallocate", ACT_WRITE, 0, -1, false },
	{ "fallocate", ACT_WRITE, 0, -1, false },	{ "dprintf", ACT_WRITE, 0, -1, false },
	{ "vdprintf", ACT_WRITE, 0, -1, false },
	{ "fwrite", ACT_WRITE, 3, -1, true },		{ "fputs", ACT_WRITE, 1, -1, true },
	{ "fputc", ACT_WRITE, 1, -1, true },		{ "putc", ACT_WRITE, 1, -1, true },
	{ "fprintf", ACT_WRITE, 0, -1, true },		{ "vfprintf", ACT_WRITE, 0, -1, true },
	{ "fflush", ACT_WRITE, 0, -1, true },		{ "fclose", ACT_WRITE | ACT_CLOSE, 0, -1, true },
	{ "close", ACT_CLOSE, 0, -1, false },
	{ "lseek", ACT_OTHER, 0, -1, false },		{ "lseek64", ACT_OTHER, 0, -1, false },
	{ "read", ACT_OTHER, 0, -1, false },		{ "pread", ACT_OTHER, 0, -1, false },
	{ "fstat", ACT_OTHER, 0, -1, false },		{ "fsync", ACT_OTHER, 0, -1, false },
	{ "fdatasync", ACT_OTHER, 0, -1, false },	{ "fchmod", ACT_OTHER, 0, -1, false },
	{ "fseek", ACT_OTHER, 0, -1, true },		{ "ftell", ACT_OTHER, 0, -1, true },
	{ "ferror", ACT_OTHER, 0, -1, true },		{ "fileno", ACT_OTHER, 0, -1, true },
	{ "rename", ACT_NAME, 1, -1, false },		{ "renameat", ACT_NAME, 3, 2, false },
	{ "renameat2", ACT_NAME, 3, 2, false },		{ "link", ACT_NAME, 1, -1, false },
	{ "linkat", ACT_NAME, 3, 2, false },		{ "symlink", ACT_NAME, 1, -1, false },
	{ "symlinkat", ACT_NAME, 2, 1, false },		{ "unlink", ACT_NAME, 0, -1, false },
	{ "unlinkat", ACT_NAME, 1, 0, false },		{ "remove", ACT_NAME, 0, -1, false },
	{ "rmdir", ACT_NAME, 0, -1, false },		{ "mkdir", ACT_NAME, 0, -1, false },
	{ "mkdirat", ACT_NAME, 1, 0, false },		{ "open", ACT_NAME, 0, -1, false },
	{ "open64", ACT_NAME, 0, -1, false },		{ "openat", ACT_NAME, 1, 0, false },
	{ "creat", ACT_NAME, 0, -1, false },		{ "fopen", ACT_NAME, 0, -1, false },
	{ "mkstemp", ACT_NAME, 0, -1, false },
};
/* clang-format on */

const struct file_call *file_call_of(const struct source_unit *u, const struct source_node *call)
{
	const struct source_node *callee = call->child ? source_bare(call->child) : NULL;

	if (call->kind != SOURCE_CALL || !call->name || !callee || callee->kind == SOURCE_MEMBER ||
	    call_is_by_pointer(u, call))
		return NULL;
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (strcmp(calls[i].name, call->name) == 0)
			return function_named(u, call->name) ? NULL : &calls[i];
	return NULL;
}

const struct source_node *file_call_at(const struct fix *x, const struct repair_frame *at,
				       unsigned acts)
{
	const struct source_node *found = NULL;
	unsigned n_on_line = 0;

	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body)) {
		const struct file_call *c = n->line == at->line ? file_call_of(x->unit, n) : NULL;

		if (!c || !(c->act & acts))
			continue;
		if (n->column == at->column)
			return n;
		found = n;
		n_on_line++;
	}
	return n_on_line == 1 ? found : NULL;
}
