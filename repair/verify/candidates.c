/* Lists the bugs for which a cure can be tried: those that a crash shows, and whose locations say
 * which stores were lost or survived. A bug that cannot be cured gets the reason. */
#include <string.h>

#include "repair/verify/cures_internal.h"

const char *cures_keep(struct cures *c, char *text)
{
	*vec_add(&c->texts) = text;
	return text;
}

void cures_decline(struct cures *c, size_t bug, char *why)
{
	c->bugs[bug]->cure = (struct repair_cure){ .kind = CURE_NONE, .why = cures_keep(c, why) };
}

void cures_tell_failure(const struct cures *c, size_t bug, const char *what)
{
	const struct bug *b = report_bug(c->report, bug);
	const struct bug_frame *at = bug_frame(b);

	if (c->options->is_explained)
		notes_say(c->notes, "%s:%u: %s: tried and failed: %s: %s",
			  at && at->file ? at->file : "?", at ? at->line : 0, b->kind, what,
			  c->judge.outcome);
}

static bool is_candidate(const struct bug *b)
{
	static const char *const kinds[] = { "ordering", "atomicity", "missing-flush",
					     "missing-flush-fence" };

	/* states of files cannot be explored with a change yet */
	for (size_t i = 0; b->nprofiles == 0 && b->crash && b->crash->replay && b->nlocations > 0 &&
			   i < sizeof kinds / sizeof *kinds;
	     i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return strcmp(b->locations[0].role, "lost") == 0 ||
			       strcmp(b->locations[0].role, "survived") == 0;
	return false;
}

void cures_list(struct cures *c)
{
	for (size_t i = 0; i < report_nbugs(c->report); i++)
		if (is_candidate(report_bug(c->report, i)) && !c->bugs[i]->is_left_out &&
		    !bug_goes_with_add((const struct repair_bug *const *)c->bugs,
				       report_nbugs(c->report), c->bugs[i]))
			*vec_add(&c->candidates) = (struct candidate){ .bug = i };
}
