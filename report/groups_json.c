/* Writes and reads two parts of a report's coverage as JSON. The account of representative testing
 * is a table of numbers, so writing and reading use the same names; that of an exploration lists
 * the inputs that showed something new. */
#include "report/internal.h"

/* The numbers of representative testing and their names in JSON. */
static const struct {
	const char *key;
	size_t at;
} numbers[] = {
	{ "stores_by_source", offsetof(struct report_groups, by_source) },
	{ "stores_by_dwarf", offsetof(struct report_groups, by_dwarf) },
	{ "stores_by_path", offsetof(struct report_groups, by_path) },
	{ "behaviours", offsetof(struct report_groups, behaviours) },
	{ "behaviours_tested", offsetof(struct report_groups, behaviours_tested) },
	{ "behaviours_represented", offsetof(struct report_groups, behaviours_represented) },
	{ "followed_up", offsetof(struct report_groups, followed_up) },
	{ "groups", offsetof(struct report_groups, groups) },
	{ "groups_begun", offsetof(struct report_groups, groups_begun) },
	{ "groups_tested", offsetof(struct report_groups, groups_tested) },
	{ "groups_failed", offsetof(struct report_groups, groups_failed) },
};
#define NNUMBERS (sizeof numbers / sizeof *numbers)

static uint64_t *number_of(struct report_groups *g, size_t i)
{
	return (uint64_t *)((char *)g + numbers[i].at);
}

static json_t *group_json(const struct report_group *g)
{
	json_t *o = json_object();

	json_object_set_new(o, "type", json_text(g->type));
	json_object_set_new(o, "fields", json_text(g->fields));
	json_object_set_new(o, "places", json_text(g->places));
	json_object_set_new(o, "behaviours", json_integer((json_int_t)g->nbehaviours));
	json_object_set_new(o, "tested", json_boolean(g->is_tested));
	json_object_set_new(o, "failed", json_boolean(g->has_failed));
	return o;
}

json_t *groups_json(const struct report_groups *g)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < NNUMBERS; i++)
		json_object_set_new(
			o, numbers[i].key,
			json_integer((json_int_t)*number_of((struct report_groups *)g, i)));
	for (size_t i = 0; i < g->n; i++)
		json_array_append_new(list, group_json(&g->list[i]));
	json_object_set_new(o, "list", list);
	return o;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_get_text(o, key);

	return text ? text : "";
}

const struct report_groups *groups_read(struct arena *a, const json_t *o, const char **why)
{
	const json_t *list = json_object_get(o, "list");
	struct report_groups *g = arena_alloc(a, sizeof *g);
	struct report_group *groups = arena_alloc(a, (json_array_size(list) + 1) * sizeof *groups);

	if (!o)
		return NULL;
	if (!json_is_object(o) || (list && !json_is_array(list))) {
		*why = "not an object with a list";
		return NULL;
	}
	*g = (struct report_groups){ .list = groups, .n = json_array_size(list) };
	for (size_t i = 0; i < NNUMBERS; i++)
		*number_of(g, i) = json_get_number(o, numbers[i].key);
	for (size_t i = 0; i < g->n; i++) {
		const json_t *one = json_array_get(list, i);

		groups[i] = (struct report_group){
			.type = text_of(one, "type"),
			.fields = text_of(one, "fields"),
			.places = text_of(one, "places"),
			.nbehaviours = json_get_number(one, "behaviours"),
			.is_tested = json_is_true(json_object_get(one, "tested")),
			.has_failed = json_is_true(json_object_get(one, "failed"))
		};
	}
	return g;
}

/* ---- inputs ---- */

void found_json(json_t *coverage, const struct report_coverage *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nfound; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "input", json_number(c->found[i].number));
		json_set_text(o, "file", c->found[i].file);
		json_set_number(o, "new_pm", c->found[i].new_pm);
		json_set_number(o, "new_bugs", c->found[i].new_bugs);
		json_array_append_new(list, o);
	}
	if (c->nfound)
		json_object_set(coverage, "progress", list);
	if (c->nfound_all > c->nfound)
		json_object_set_new(coverage, "progress_left_out",
				    json_number(c->nfound_all - c->nfound));
	json_decref(list);
}

/* Gives the number of a key, cut to what an exploration can reach, so that sums cannot overflow. */
static uint64_t found_number(const json_t *o, const char *key)
{
	const uint64_t n = json_get_number(o, key);

	return n < UINT32_MAX ? n : UINT32_MAX;
}

void found_read(struct arena *a, const json_t *coverage, struct report_coverage *c)
{
	const json_t *list = json_object_get(coverage, "progress");
	struct report_found *found = arena_alloc(a, (json_array_size(list) + 1) * sizeof *found);

	c->found = found;
	for (size_t i = 0; i < json_array_size(list) && c->nfound < REPORT_FOUND_MAX; i++) {
		const json_t *o = json_array_get(list, i);

		if (json_get_number(o, "input") && json_get_text(o, "file"))
			found[c->nfound++] =
				(struct report_found){ .number = json_get_number(o, "input"),
						       .file = json_get_text(o, "file"),
						       .new_pm = found_number(o, "new_pm"),
						       .new_bugs = found_number(o, "new_bugs") };
	}
	c->nfound_all = c->nfound + json_get_number(coverage, "progress_left_out");
}
