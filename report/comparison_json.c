/* Writes and reads, as JSON, what recovery read and what it left: the reads that had a choice, and
 * what a dump was compared with. Unknown values are left out. */
#include <string.h>

#include "report/internal.h"

static json_t *operation_json(const struct bug_comparison *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "number", json_number(c->operation));
	json_set_text(o, "name", c->name);
	json_set_text(o, "source",
		      c->is_assumed   ? "assumed"
		      : c->is_request ? "request"
				      : "annotated");
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
	const json_t *list = json_object_get(o, "difference"),
		     *operation = json_object_get(o, "operation");
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
				      .is_request = source && strcmp(source, "request") == 0,
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

		differences[i] =
			(struct bug_difference){ line < UINT32_MAX ? (uint32_t)line : UINT32_MAX,
						 json_get_text(one, "before"),
						 json_get_text(one, "after"),
						 json_get_text(one, "found") };
	}
	return c;
}

/* ---- choices ---- */

/* per crash; a longer list, in a report that somebody edited, is cut */
#define CHOICES_READ_MAX 200u

static json_t *values_json(const struct bug_choice *c,
			   void (*set_frame)(json_t *o, const struct bug_frame *frame))
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nvalues; i++) {
		const struct bug_value *v = &c->values[i];
		json_t *o = json_object(), *lost = json_array();

		json_set_text(o, "bytes", v->bytes);
		if (v->is_taken)
			json_object_set_new(o, "taken", json_true());
		for (size_t k = 0; k < v->nlost; k++) {
			json_t *frame = json_object();

			set_frame(frame, &v->lost[k]);
			json_array_append_new(lost, frame);
		}
		if (v->nlost)
			json_object_set(o, "lost", lost);
		json_decref(lost);
		json_array_append_new(list, o);
	}
	return list;
}

void choices_json(json_t *crash, const struct bug_crash *c,
		  void (*set_frame)(json_t *o, const struct bug_frame *frame))
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nchoices; i++) {
		json_t *o = json_object(), *read = json_object();

		set_frame(read, &c->choices[i].read);
		json_object_set_new(o, "read", read);
		json_set_text(o, "by", c->choices[i].by);
		json_set_text(o, "file", c->choices[i].file);
		json_object_set_new(o, "offset", json_number(c->choices[i].offset));
		json_object_set_new(o, "size", json_number(c->choices[i].size_bytes));
		json_object_set_new(o, "values", values_json(&c->choices[i], set_frame));
		json_object_set_new(o, "values_all", json_number(c->choices[i].nall));
		json_array_append_new(list, o);
	}
	if (c->nchoices) {
		json_object_set(crash, "choices", list);
		json_object_set_new(crash, "choices_all", json_number(c->nchoices_all));
	}
	json_decref(list);
}

static struct bug_frame frame_of(const json_t *o)
{
	return (struct bug_frame){ .function = json_get_text(o, "function"),
				   .file = json_get_text(o, "file"),
				   .object = json_get_text(o, "object"),
				   .text = json_get_text(o, "text"),
				   .line = (uint32_t)json_get_number(o, "line"),
				   .column = (uint32_t)json_get_number(o, "column"),
				   .function_line = (uint32_t)json_get_number(o, "function_line"),
				   .offset = json_get_number(o, "offset"),
				   .is_inlined = json_is_true(json_object_get(o, "inlined")) };
}

static const char *hex_of(const json_t *o)
{
	const char *text = json_get_text(o, "bytes");

	return text && strspn(text, "0123456789abcdef") == strlen(text) ? text : "";
}

static void values_read(struct arena *a, const json_t *list, struct bug_choice *c)
{
	struct bug_value *values = arena_alloc(a, (json_array_size(list) + 1) * sizeof *values);

	for (; c->nvalues < json_array_size(list) && c->nvalues < CHOICES_READ_MAX; c->nvalues++) {
		const json_t *o = json_array_get(list, c->nvalues),
			     *lost = json_object_get(o, "lost");
		struct bug_frame *frames =
			arena_alloc(a, (json_array_size(lost) + 1) * sizeof *frames);

		for (size_t i = 0; i < json_array_size(lost); i++)
			frames[i] = frame_of(json_array_get(lost, i));
		values[c->nvalues] =
			(struct bug_value){ hex_of(o), json_is_true(json_object_get(o, "taken")),
					    frames, json_array_size(lost) };
	}
	c->values = values;
}

void choices_read(struct arena *a, const json_t *crash, struct bug_crash *c)
{
	const json_t *list = json_object_get(crash, "choices");
	struct bug_choice *choices = arena_alloc(a, (json_array_size(list) + 1) * sizeof *choices);

	for (; c->nchoices < json_array_size(list) && c->nchoices < CHOICES_READ_MAX;
	     c->nchoices++) {
		const json_t *o = json_array_get(list, c->nchoices);
		struct bug_choice *one = &choices[c->nchoices];

		*one = (struct bug_choice){ .read = frame_of(json_object_get(o, "read")),
					    .by = json_get_text(o, "by"),
					    .file = json_get_text(o, "file"),
					    .offset = json_get_number(o, "offset"),
					    .size_bytes = (uint32_t)json_get_number(o, "size"),
					    .nall = json_get_number(o, "values_all") };
		values_read(a, json_object_get(o, "values"), one);
	}
	c->choices = choices;
	c->nchoices_all = json_get_number(crash, "choices_all");
	if (c->nchoices_all < c->nchoices)
		c->nchoices_all = c->nchoices;
}
