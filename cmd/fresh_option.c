/* Begins and ends --fresh. Files are moved back before pmend says anything about the recording,
 * because a message may end pmend. */
#include "cmd/fresh_option.h"

#include <string.h>

#include "cmd/cmd.h"

static bool is_scratch(const struct recording *r, const char *folder)
{
	return r->scratch_dir && strcmp(r->scratch_dir, folder) == 0;
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
		if (!is_scratch(r, r->files.item[i]) &&
		    set_aside_folder(r->fresh, r->files.item[i], &err) < 0)
			die("%s", err.msg);
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
