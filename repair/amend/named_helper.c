/* Corrects a helper that flushes less than it is given, if the report names the helper. The report
 * lists the stores that the helper misses under that finding. No flush is written for each missed
 * store: the next caller of the helper would miss the same. */
#include <string.h>

#include "repair/amend/internal.h"

/* Finds the short-flush finding that causes the bug; NULL: none. */
static const struct repair_bug *short_flush_of(const struct repair *r, const struct repair_bug *b)
{
	for (size_t i = 0; b->has_cause && i < r->bugs.n; i++)
		if (r->bugs.at[i]->origin == b->cause && r->bugs.at[i]->nplaces > 0 &&
		    strcmp(r->bugs.at[i]->kind, "short-flush") == 0)
			return r->bugs.at[i];
	return NULL;
}

bool amend_named_helper(struct repair *r, const struct fix *x, struct amendment *a)
{
	const struct repair_bug *cause = short_flush_of(r, r->bugs.at[x->bug]);
	const char *root = r->options->root, *why;

	*a = (struct amendment){ .how = AMEND_HELPER, .bug = x->bug };
	/* otherwise the report names a call, whose length is wrong */
	if (!cause || fix_enter_frame(r, &a->at, &cause->places[0], 0, &why) < 0 ||
	    !idiom_leaves_out(r, a->at.unit, a->at.function))
		return false;
	a->at.stmt = a->at.function->body;
	a->flush.helper = a->at.function;
	a->helper_file = a->at.file;
	if ((!root || path_is_below(a->helper_file->path, root)) &&
	    (idiom_mend_short(r, a->at.unit, a->at.function, &a->mend) ||
	     idiom_mend_line_loop(r, a->at.unit, a->at.function, &a->mend)))
		return true;
	r->failures.at[x->bug] = text_format(
		r->code, "%s does not flush all lines of the range that it is given; fix it",
		a->at.function->name);
	r->has_new_failures = true;
	return false;
}
