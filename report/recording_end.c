/* Says how the recording ended and which stores were not flushed then. */
#include <string.h>

#include "report/internal.h"

const char *ending_unflushed(const struct report *r)
{
	if (r->has_ending &&
	    (strcmp(r->ending.how, "thread") == 0 || strcmp(r->ending.how, "exit") == 0))
		return "Not flushed when the program ended. These are not bugs; the threads still ran and had no chance to flush";
	return "Not flushed when the program was killed. These are not bugs; it had no chance to flush";
}

void report_set_ending(struct report *r, const struct report_ending *e)
{
	r->ending = *e;
	r->ending.how = arena_text(&r->arena, e->how);
	r->ending.text = arena_text(&r->arena, e->text);
	r->has_ending = true;
}

const struct report_ending *report_ending(const struct report *r)
{
	return r->has_ending ? &r->ending : NULL;
}

size_t report_nunflushed(const struct report *r)
{
	return r->unflushed.n;
}

const struct bug *report_unflushed(const struct report *r, size_t i)
{
	return &r->unflushed.at[i]->bug;
}

static json_t *unflushed_json(const struct bug *b,
			      json_t *(*location)(const struct bug_location *l))
{
	json_t *o = json_object(), *locations = json_array();

	json_object_set_new(o, "kind", json_text(b->kind));
	json_object_set_new(o, "message", json_text(b->message));
	json_object_set_new(o, "count", json_number(b->count));
	json_object_set_new(o, "first_event", json_number(b->first_seq));
	for (size_t i = 0; i < b->nlocations; i++)
		json_array_append_new(locations, location(&b->locations[i]));
	json_object_set_new(o, "locations", locations);
	return o;
}

json_t *ending_json(const struct report *r, json_t *(*location)(const struct bug_location *l))
{
	json_t *o = json_object(), *list = json_array();
	const struct report_ending *e = &r->ending;

	json_object_set_new(o, "how", json_text(e->how));
	if (e->code)
		json_object_set_new(o, strcmp(e->how, "signal") == 0 ? "signal" : "status",
				    json_number(e->code));
	json_object_set_new(o, "text", json_text(e->text));
	for (size_t i = 0; i < r->unflushed.n; i++)
		json_array_append_new(list, unflushed_json(report_unflushed(r, i), location));
	json_object_set_new(o, "not_flushed", list);
	return o;
}
