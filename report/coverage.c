/* Handles the record of how much an analysis looked at: copies it into an arena, says in words how
 * deep the analysis went, and keeps which part of an analysis the report is about. */
#include "report/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct report_groups *groups_copy(struct arena *a, const struct report_groups *g)
{
	struct report_groups *copy = arena_alloc(a, sizeof *copy);
	struct report_group *list = arena_alloc(a, (g->n + 1) * sizeof *list);

	*copy = *g;
	for (size_t i = 0; i < g->n; i++) {
		list[i] = g->list[i];
		list[i].type = arena_text(a, g->list[i].type);
		list[i].fields = arena_text(a, g->list[i].fields);
		list[i].places = arena_text(a, g->list[i].places);
	}
	copy->list = list;
	return copy;
}

/* Is the report about a part (shard) of an exploration of crashes, even if it has no runs yet? */
static bool is_part_of_crashes(const struct report *r)
{
	return r->shard.of && strcmp(r->shard.command, "check") != 0;
}

const char *report_not_covered(const struct report *r)
{
	const struct report_coverage *c = &r->coverage;

	if (r->has_coverage && c->not_asked)
		return c->not_asked;
	if (!r->has_coverage || c->runs || c->failure_points || c->depth.all ||
	    is_part_of_crashes(r))
		return NULL;
	return "Ordering and atomicity bugs were not looked for: 'pmend crash' finds them by running recovery on crash states";
}

char *report_depth_text(const struct report *r)
{
	return r->has_coverage ? depth_text(&r->coverage) : NULL;
}

static const struct report_found *found_copy(struct arena *a, const struct report_found *found,
					     size_t n)
{
	struct report_found *copy = arena_alloc(a, (n + 1) * sizeof *copy);

	for (size_t i = 0; i < n; i++) {
		copy[i] = found[i];
		copy[i].file = arena_text(a, found[i].file);
	}
	return copy;
}

void coverage_copy(struct arena *a, struct report_coverage *copy, const struct report_coverage *c)
{
	*copy = *c;
	copy->why_incomplete = arena_text(a, c->why_incomplete);
	copy->nreasons = c->nreasons ? c->nreasons : c->why_incomplete != NULL;
	copy->reasons =
		strings_copy(a, c->nreasons ? c->reasons : &c->why_incomplete, copy->nreasons);
	copy->states = arena_text(a, c->states);
	copy->states_all = arena_text(a, c->states_all);
	copy->note = arena_text(a, c->note);
	copy->not_asked = arena_text(a, c->not_asked);
	copy->groups = c->groups ? groups_copy(a, c->groups) : NULL;
	copy->found = found_copy(a, c->found, c->nfound);
}

void report_add_reason(struct report *r, const char *why)
{
	struct report_coverage *c = &r->coverage;
	const char **list;
	char *text;

	for (size_t i = 0; i < c->nreasons; i++)
		if (strcmp(c->reasons[i], why) == 0)
			return;
	text = c->why_incomplete ? xasprintf("%s; %s", c->why_incomplete, why) : xstrdup(why);
	list = arena_alloc(&r->arena, (c->nreasons + 1) * sizeof *list);
	for (size_t i = 0; i < c->nreasons; i++)
		list[i] = c->reasons[i];
	list[c->nreasons++] = arena_text(&r->arena, why);
	c->reasons = list;
	c->why_incomplete = arena_text(&r->arena, text);
	c->is_complete = false;
	r->has_coverage = true;
	free(text);
}

char *depth_text(const struct report_coverage *c)
{
	const struct report_depth *d = &c->depth;
	const struct {
		uint64_t n;
		const char *text;
	} parts[] = {
		{ d->sampled, "had as many runs as --sample allows" },
		{ d->deeper, "had more than their first runs and have states left" },
		{ d->first_runs, "had only their first runs" },
		{ d->not_reached, "were not reached" },
	};
	char *text, *longer;

	if (d->whole == d->all)
		return NULL;
	text = xasprintf("Of %" PRIu64 " failure points, %" PRIu64 " were explored whole", d->all,
			 d->whole);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i].n == 0)
			continue;
		longer = xasprintf("%s, %" PRIu64 " %s", text, parts[i].n, parts[i].text);
		free(text);
		text = longer;
	}
	return text;
}

/* ---- parts ---- */

void report_set_shard(struct report *r, const struct report_shard *s)
{
	const char **words = arena_alloc(&r->arena, (s->ncheck_options + 1) * sizeof *words);

	r->shard = *s;
	for (size_t i = 0; i < s->ncheck_options; i++)
		words[i] = arena_text(&r->arena, s->check_options[i]);
	r->shard.check_options = words;
	r->shard.command = arena_text(&r->arena, s->command ? s->command : "crash");
	r->shard.fingerprint = arena_text(&r->arena, s->fingerprint);
	r->shard.trace = arena_text(&r->arena, s->trace);
	r->shard.data = arena_text(&r->arena, s->data);
}

const struct report_shard *report_shard(const struct report *r)
{
	return r->shard.of ? &r->shard : NULL;
}

json_t *shard_json(const struct report_shard *s)
{
	json_t *o = json_object(), *words = json_array();

	json_set_text(o, "command", s->command);
	for (size_t i = 0; i < s->ncheck_options; i++)
		json_array_append_new(words, json_text(s->check_options[i]));
	if (s->ncheck_options)
		json_object_set(o, "check_options", words);
	json_decref(words);
	json_object_set_new(o, "index", json_number(s->index));
	json_object_set_new(o, "of", json_number(s->of));
	json_object_set_new(o, "failure_points", json_number(s->failure_points));
	json_object_set_new(o, "done", json_number(s->done));
	json_set_text(o, "fingerprint", s->fingerprint);
	json_set_text(o, "trace", s->trace);
	json_set_text(o, "data", s->data);
	return o;
}

static bool is_command(const char *name)
{
	return !name || strcmp(name, "crash") == 0 || strcmp(name, "test") == 0 ||
	       strcmp(name, "check") == 0;
}

bool shard_read(struct report *r, const json_t *o, const char **why)
{
	const json_t *words = json_object_get(o, "check_options");
	struct report_shard s = { .index = (uint32_t)json_get_number(o, "index"),
				  .of = (uint32_t)json_get_number(o, "of"),
				  .failure_points = json_get_number(o, "failure_points"),
				  .done = json_get_number(o, "done"),
				  .fingerprint = json_get_text(o, "fingerprint"),
				  .trace = json_get_text(o, "trace"),
				  .data = json_get_text(o, "data"),
				  .command = json_get_text(o, "command"),
				  .ncheck_options = json_array_size(words) };
	const char **list = arena_alloc(&r->arena, (s.ncheck_options + 1) * sizeof *list);
	bool has_other = false;

	for (size_t i = 0; i < s.ncheck_options; i++) {
		list[i] = json_string_value(json_array_get(words, i));
		has_other |= !list[i];
	}
	s.check_options = list;
	*why = has_other                        ? "a word of \"check_options\" is no string"
	       : !is_command(s.command)         ? "\"command\" is none that has parts"
	       : s.index == 0 || s.index > s.of ? "\"index\" is from 1 to \"of\""
	       : s.done > s.failure_points      ? "\"done\" is more than \"failure_points\""
	       : !s.fingerprint || !s.trace || !s.data
		       ? "\"fingerprint\", \"trace\" or \"data\" is missing"
		       : NULL;
	if (!*why)
		report_set_shard(r, &s);
	return !*why;
}
