/* Begins and ends --fresh. Files are moved back before pmend says anything about the recording,
 * because a message may end pmend. */
#include "cmd/fresh_option.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/alloc.h"
#include "util/str.h"

static bool is_scratch(const struct recording *r, const char *folder)
{
	return r->scratch_dir && strcmp(r->scratch_dir, folder) == 0;
}

/* Is the trace written to the folder, or below it? What is left there is removed at the end. */
static bool has_trace(const char *folder, const char *trace)
{
	const char *slash = strrchr(trace, '/');
	char *name = slash ? xasprintf("%.*s", (int)(slash - trace) + 1, trace) : xstrdup("."),
	     *at = realpath(name, NULL), *path = realpath(folder, NULL);
	const bool result =
		at && path && (strcmp(at, path) == 0 || strcmp(path_below(at, path), at) != 0);

	free(name);
	free(at);
	free(path);
	return result;
}

/* Empties a folder of --files. */
static void begin_folder(struct recording *r, const char *folder)
{
	struct error err;

	if (r->output && has_trace(folder, r->output))
		die("--fresh: the trace would be in %s, which becomes empty again: name another place for it with -o, or start pmend elsewhere",
		    folder);
	if (set_aside_folder(r->fresh, folder, &err) < 0)
		die("%s", err.msg);
}

void fresh_option_begin(struct recording *r, bool is_fresh)
{
	struct error err;

	if (!is_fresh)
		return;
	r->fresh = set_aside_begin(&err);
	if (!r->fresh)
		die("%s", err.msg);
	for (size_t i = 0; i < r->files.n; i++)
		if (!is_scratch(r, r->files.item[i]))
			begin_folder(r, r->files.item[i]);
}

bool fresh_option_end(struct recording *r)
{
	struct error err;
	int result = set_aside_end(r->fresh, &err);

	r->fresh = NULL;
	if (result < 0)
		warn("%s", err.msg);
	return result == 0;
}
