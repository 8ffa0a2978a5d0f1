/* Begins and ends --fresh. Files are moved back before pmend says anything about the recording,
 * because a message may end pmend. */
#include "cmd/fresh_option.h"

#include "cmd/cmd.h"

void fresh_option_begin(struct recording *r, bool is_fresh)
{
	struct error err;

	if (!is_fresh)
		return;
	r->fresh = set_aside_begin(&err);
	if (!r->fresh)
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
