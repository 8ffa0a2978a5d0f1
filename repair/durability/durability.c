/* Fixes bugs of durability and order with flushes and fences. The stages: plan fixes for each bug,
 * move them to outer functions, merge those that are unnecessary, turn them into edits. */
#include "repair/durability/durability.h"

#include <stdlib.h>

#include "repair/durability/internal.h"

void durability_new(struct repair *r)
{
	r->durability = xcalloc(1, sizeof *r->durability);
}

void durability_free(struct repair *r)
{
	if (r->durability->alias)
		r->code->api->alias->close(r->durability->alias);
	vec_release(&r->durability->removals);
	vec_release(&r->durability->amendments);
	vec_release(&r->durability->macro_flushes);
	free(r->durability);
}

void durability_forget(struct repair *r)
{
	r->durability->removals.n = r->durability->amendments.n = r->durability->macro_flushes.n =
		0;
}

void durability_plan(struct repair *r, size_t bug)
{
	const char *kind = r->bugs.at[bug]->kind, *why;

	if ((barrier_is_kind(kind) || redundant_is_kind(kind)) && !r->wanted.at[bug])
		r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_DECLINED, "rejected", "" };
	else if (barrier_is_kind(kind) && barrier_plan(r, bug, &why) < 0)
		r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_DECLINED, why, NULL };
	else if (redundant_is_kind(kind))
		redundant_plan(r, bug);
}

bool durability_join(struct repair *r, size_t bug)
{
	return barrier_join(r, bug);
}

void durability_place(struct repair *r)
{
	if (!r->options->no_hoist && !r->options->is_page_cache) {
		callback_fixes(r);
		hoist_fixes(r);
	}
	deadline_fences(r);
	for (size_t i = 0; i < r->fixes.n; i++)
		loop_leave(r, &r->fixes.at[i]);
}

void durability_emit(struct repair *r)
{
	reduce_fixes(r);
	group_by_place(r);
	emit_fixes(r);
	late_fences_remove(r);
	macro_flush_emit(r);
}

void durability_remove(struct repair *r)
{
	redundant_emit(r);
	redundant_mark_needed(r);
}

const char *durability_missing(const struct repair *r)
{
	const char *why = r->durability->alias_why;

	return why && why[0] ? why : NULL;
}
