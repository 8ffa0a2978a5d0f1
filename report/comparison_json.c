/* What a dump was compared with, as JSON: written and read again. A text that is not known is left out. */
#include <string.h>

#include "report/internal.h"

static void set_text(json_t *o, const char *key, const char *s)
{
	if (s)
		json_object_set_new(o, key, json_text(s));
}

static json_t *operation_json(const struct bug_comparison *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "number", json_number(c->operation));
	set_text(o, "name", c->name);
	set_text(o, "source", c->is_assumed ? "assumed" : "annotated");
	json_object_set_new(o, "in_flight", json_number(c->nflying));
	return o;
}

json_t *comparison_json(const struct bug_comparison *c)
{
	json_t *o = json_object(), *list = json_array();

	if (c->operation)
		json_object_set_new(o, "operation", operation_json(c));
	json_object_set_new(o, "allowed", json_number(c->nallowed));
	set_text(o, "before", c->before);
	set_text(o, "after", c->after);
	set_text(o, "found", c->found);
	json_object_set_new(o, "differences", json_number(c->ndifferences));
	for (size_t i = 0; i < c->n; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "line", json_number(c->list[i].line));
		set_text(one, "before", c->list[i].before);
		set_text(one, "after", c->list[i].after);
		set_text(one, "found", c->list[i].found);
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "difference", list);
	return o;
}

static uint64_t count_of(const json_t *o, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(o, key));

	return n > 0 ? (uint64_t)n : 0;
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

const struct bug_comparison *comparison_read(struct arena *a, const json_t *o, const char **why)
{
	const json_t *list = json_object_get(o, "difference"), *operation = json_object_get(o, "operation");
	const char *source = text_of(operation, "source");
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
	*c = (struct bug_comparison){ .operation = count_of(operation, "number"),
				      .name = text_of(operation, "name"),
				      .is_assumed = source && strcmp(source, "assumed") == 0,
				      .nflying = count_of(operation, "in_flight"),
				      .nallowed = count_of(o, "allowed"),
				      .before = text_of(o, "before"),
				      .after = text_of(o, "after"),
				      .found = text_of(o, "found"),
				      .list = differences,
				      .n = json_array_size(list),
				      .ndifferences = count_of(o, "differences") };
	for (size_t i = 0; i < c->n; i++) {
		const json_t *one = json_array_get(list, i);
		const uint64_t line = count_of(one, "line");

		differences[i] = (struct bug_difference){ line < UINT32_MAX ? (uint32_t)line : UINT32_MAX, text_of(one, "before"), text_of(one, "after"), text_of(one, "found") };
	}
	return c;
}
