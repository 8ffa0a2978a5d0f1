/* Checks a result that another process wrote, before anybody uses it: numbers that select something
 * must be valid for this trace, and required texts must be there. Crash states are checked where
 * they are parsed (state_text.h). */
#include "crash/part.h"

/* The upper bounds of the numbers. */
struct bounds {
	const struct plan *plan;
	uint64_t npoints;
};

static bool is_site(const struct bounds *b, uint32_t id)
{
	return id == 0 || (id < b->plan->sites.n && b->plan->sites.at[id]);
}

static bool is_point(const struct bounds *b, uint64_t point)
{
	return point > 0 && point <= b->npoints;
}

/* Does each store have an event? Findings are compared by that. */
static bool are_stores(const struct bounds *b, const struct crash_store *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_site(b, list[i].site))
			return false;
	return true;
}

static bool is_choice(const struct bounds *b, const struct crash_choice *c)
{
	for (size_t i = 0; i < c->values.n; i++)
		if (!c->values.at[i].bytes ||
		    !are_stores(b, c->values.at[i].lost.at, c->values.at[i].lost.n))
			return false;
	return (unsigned)c->part < PART_N;
}

static bool are_choices(const struct bounds *b, const crash_choices *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!is_choice(b, &list->at[i]))
			return false;
	return true;
}

static bool is_bug(const struct bounds *b, const struct crash_bug *bug)
{
	return are_stores(b, bug->lost.at, bug->lost.n) &&
	       are_stores(b, bug->survived.at, bug->survived.n) &&
	       are_stores(b, &bug->acknowledged, 1) && is_site(b, bug->at_site) &&
	       (bug->is_clean || is_point(b, bug->point)) && are_choices(b, &bug->choices) &&
	       bug->outcome && bug->state;
}

static bool is_race(const struct bounds *b, const struct race *r)
{
	return (unsigned)r->kind <= RACE_UNINITIALISED && (unsigned)r->state <= RACE_UNTRIED &&
	       are_stores(b, &r->store, 1) && are_stores(b, r->commits, 2) &&
	       is_point(b, r->point) && r->outcome && (r->values || r->kind != RACE_UNDURABLE);
}

static bool is_entry(const struct bounds *b, const struct race_entry *e)
{
	return e->part < PART_N && is_site(b, e->site) && e->kind <= RACE_UNINITIALISED &&
	       e->state <= RACE_UNTRIED;
}

/* Is the turn valid: its failure point, and the table entries before and after each of its changes?
 * A change must be about one entry. */
static bool is_turn(const struct bounds *b, const struct race_turn *t)
{
	for (size_t i = 0; i < t->changes.n; i++) {
		const struct race_change *c = &t->changes.at[i];

		if (!is_entry(b, &c->before) || !is_entry(b, &c->after) ||
		    !race_entry_is_same(&c->before, &c->after))
			return false;
	}
	return is_point(b, t->point);
}

static bool are_findings(const struct bounds *b, const struct crash_result *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		if (!is_bug(b, &r->bugs.at[i]))
			return false;
	for (size_t i = 0; i < r->races.n; i++)
		if (!is_race(b, &r->races.at[i]))
			return false;
	for (size_t i = 0; i < r->race_turns.n; i++)
		if (!is_turn(b, &r->race_turns.at[i]))
			return false;
	for (size_t i = 0; i < r->first_crashes.n; i++)
		if (!is_point(b, r->first_crashes.at[i].point) || !r->first_crashes.at[i].state)
			return false;
	for (size_t i = 0; i < r->failing.n; i++)
		if (!is_point(b, r->failing.at[i].point) ||
		    r->failing.at[i].kind > VERDICT_OUTPUT || r->failing.at[i].kind == VERDICT_OK)
			return false;
	for (size_t i = 0; i < r->outputs.doubts.n; i++)
		if (!is_point(b, r->outputs.doubts.at[i].point))
			return false;
	return true;
}

/* Are the objects (executable files in recovery's memory) valid? No object's addresses may wrap
 * around, because it would contain every address. */
static bool are_objects(const struct crash_result *r)
{
	for (int part = 0; part < PART_N; part++)
		for (size_t i = 0; i < r->objects[part].n; i++) {
			const struct trace_object *o = &r->objects[part].at[i];

			if (!o->path || o->va + o->len_bytes < o->va ||
			    o->id != i * PART_N + (size_t)part)
				return false;
		}
	return true;
}

bool part_is_sound(const struct crash_result *r, const struct plan *p)
{
	const struct bounds b = { p, r->npoints };

	return r->ndone <= r->nshare && are_findings(&b, r) && are_objects(r);
}
