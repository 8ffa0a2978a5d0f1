/* What a dump was compared with, as JSON: written and read again. A text that is not known is left out. */
#include <string.h>

#include "report/internal.h"

static json_t *operation_json(const struct bug_comparison *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "number", json_number(c->operation));
	json_set_text(o, "name", c->name);
	json_set_text(o, "source", c->is_assumed ? "assumed" : "annotated");
	json_object_set_new(o, "in_flight", json_number(c->nflying));
	return o;
}

json_t *comparison_json(const struct bug_comparison *c)
{
	json_t *o = json_object(), *list = json_array();

	if (c->operation)
		json_object_set_new(o, "operation", operation_json(c));
	json_object_set_new(o, "allowed", json_number(c->nallowed));
	json_set_text(o, "before", c->before);
	json_set_text(o, "after", c->after);
	json_set_text(o, "found", c->found);
	json_object_set_new(o, "differences", json_number(c->ndifferences));
	for (size_t i = 0; i < c->n; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "line", json_number(c->list[i].line));
		json_set_text(one, "before", c->list[i].before);
		json_set_text(one, "after", c->list[i].after);
		json_set_text(one, "found", c->list[i].found);
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "difference", list);
	return o;
}

const struct bug_comparison *comparison_read(struct arena *a, const json_t *o, const char **why)
{
	const json_t *list = json_object_get(o, "difference"), *operation = json_object_get(o, "operation");
	const char *source = json_get_text(operation, "source");
	struct bug_difference *differences;
	struct bug_comparison *c;

	if (!o)
		return NULL;
	if (!json_is_object(o) || (list && !json_is_array(list))) {
		*why = "not an object with a list \"difference\"";
		return NULL;
	}
	c = arena_alloc(a, sizeof *c);
	differences = arena_alloc(a, (json_array_size(list) + 1) * sizeof *differences);
	*c = (struct bug_comparison){ .operation = json_get_number(operation, "number"),
				      .name = json_get_text(operation, "name"),
				      .is_assumed = source && strcmp(source, "assumed") == 0,
				      .nflying = json_get_number(operation, "in_flight"),
				      .nallowed = json_get_number(o, "allowed"),
				      .before = json_get_text(o, "before"),
				      .after = json_get_text(o, "after"),
				      .found = json_get_text(o, "found"),
				      .list = differences,
				      .n = json_array_size(list),
				      .ndifferences = json_get_number(o, "differences") };
	for (size_t i = 0; i < c->n; i++) {
		const json_t *one = json_array_get(list, i);
		const uint64_t line = json_get_number(one, "line");

		differences[i] = (struct bug_difference){ line < UINT32_MAX ? (uint32_t)line : UINT32_MAX, json_get_text(one, "before"), json_get_text(one, "after"), json_get_text(one, "found") };
	}
	return c;
}
