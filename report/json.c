/* Writes the report as JSON: the contract of docs/report.md. Unknown values are left out. Keys
 * beyond the contract, where they apply: "advice", "first_event", "executions", "input",
 * "consequences", "platforms" and "library" of a bug; "paths" of a bug with several call paths;
 * "object", "offset", "text" and "function_line" of a place; "inlined" and "signal" of a frame;
 * "internals" of a location, the frames of library code inside the shown place; of the whole report
 * "libraries" (what was folded), "library_globs", "suppressed" (the blocks of suppression files
 * that hid bugs), "ending" (how the recording ended, if not well, and what was not flushed then),
 * "platforms" and "why_incomplete". */
#include <string.h>

#include "report/format.h"
#include "report/internal.h"

static void set_flag(json_t *o, const char *key, bool flag)
{
	if (flag)
		json_object_set_new(o, key, json_true());
}

static void set_strings(json_t *o, const char *key, const char *const *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_text(list[i]));
	if (n)
		json_object_set(o, key, array);
	json_decref(array);
}

static void set_frame(json_t *o, const struct bug_frame *frame)
{
	json_set_text(o, "file", frame->file);
	json_set_number(o, "line", frame->line);
	json_set_number(o, "column", frame->column);
	json_set_text(o, "text", frame->text);
	json_set_text(o, "function", frame->function);
	json_set_number(o, "function_line", frame->function_line);
	json_set_text(o, "object", frame->object);
	if (frame->object)
		json_object_set_new(o, "offset", json_number(frame->offset));
	set_flag(o, "inlined", frame->is_inlined);
	set_flag(o, "signal", frame->is_signal);
}

static json_t *frames_json(const struct bug_frame *frames, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++) {
		json_t *o = json_object();

		set_frame(o, &frames[i]);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *location_json(const struct bug_location *l)
{
	const struct bug_frame *frame = bug_location_frame(l);
	json_t *o = json_object();
	size_t shown = frame ? (size_t)(frame - l->frames) : 0;

	json_set_text(o, "role", l->role);
	if (frame)
		set_frame(o, frame);
	if (shown)
		json_object_set_new(o, "internals", frames_json(l->frames, shown));
	if (shown && l->nsetters)
		json_object_set_new(o, "setters", json_number(l->nsetters));
	json_object_set_new(o, "stack",
			    frame ? frames_json(frame + 1, l->nframes - shown - 1) : json_array());
	return o;
}

static json_t *locations_json(const struct bug_location *locations, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, location_json(&locations[i]));
	return list;
}

/* Writes a crash. "lost" repeats the locations of that role, which scripts look for first. */
static json_t *crash_json(const struct bug_crash *c, const struct bug_location *locations,
			  size_t nlocations)
{
	json_t *o = json_object(), *lost = json_array();

	json_object_set_new(o, "failure_point", json_number(c->failure_point));
	for (size_t i = 0; i < nlocations; i++)
		if (locations[i].role && strcmp(locations[i].role, "lost") == 0)
			json_array_append_new(lost, location_json(&locations[i]));
	json_object_set_new(o, "lost", lost);
	json_set_text(o, "outcome", c->outcome);
	json_set_text(o, "endings", c->endings);
	json_set_text(o, "command", c->command);
	json_set_text(o, "output", c->output);
	if (c->varies)
		json_object_set_new(o, "varies", json_true());
	json_set_text(o, "torn", c->torn);
	if (c->is_flushed_late)
		json_object_set_new(o, "flushed_late", json_true());
	if (c->last_window) {
		json_t *window = json_object();

		json_object_set_new(window, "first", json_number(c->first_window));
		json_object_set_new(window, "last", json_number(c->last_window));
		json_object_set_new(o, "window", window);
	}
	if (c->nframes)
		json_object_set_new(o, "stack", frames_json(c->frames, c->nframes));
	if (c->comparison)
		json_object_set_new(o, "comparison", comparison_json(c->comparison));
	choices_json(o, c, set_frame);
	json_set_text(o, "replay", c->replay);
	json_set_number(o, "runs", c->runs);
	return o;
}

static json_t *paths_json(const struct bug *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->npaths; i++) {
		const struct bug_path *p = &b->paths[i];
		json_t *o = json_object();

		json_object_set_new(o, "count", json_number(p->count));
		json_set_number(o, "executions", p->executions);
		json_set_number(o, "first_event", p->first_seq);
		json_object_set_new(o, "locations", locations_json(p->locations, p->nlocations));
		if (p->crash)
			json_object_set_new(o, "crash",
					    crash_json(p->crash, p->locations, p->nlocations));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *input_json(const struct bug_input *i)
{
	json_t *o = json_object();

	json_set_text(o, "file", i->file);
	json_set_text(o, "command", i->command);
	json_object_set_new(o, "size", json_number(i->size));
	json_set_text(o, "first", i->first);
	return o;
}

static void set_schedules(json_t *o, const struct bug_schedules *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, json_number(s->seen[i]));
	json_object_set_new(o, "schedules_seen", list);
	json_set_text(o, "schedule_trace", s->trace);
}

static json_t *bug_json(const struct bug *b)
{
	json_t *o = json_object(), *consequences = json_array();

	json_set_text(o, "id", b->id);
	json_set_text(o, "kind", b->kind);
	json_set_text(o, "severity", bug_severity_name(b->severity));
	json_set_text(o, "message", b->message);
	json_set_text(o, "advice", b->advice);
	json_set_text(o, "recovery", bug_use_name(b->use));
	json_object_set_new(o, "count", json_number(b->count));
	json_set_number(o, "executions", b->executions);
	json_set_number(o, "first_event", b->first_seq);
	set_strings(o, "platforms", b->platforms, b->nplatforms);
	set_strings(o, "profiles", b->profiles, b->nprofiles);
	json_set_text(o, "test", b->test);
	json_set_text(o, "library", b->library);
	json_set_text(o, "reason", b->reason);
	json_set_text(o, "undecided_by", b->undecided_by);
	json_set_text(o, "may_share_cause", b->may_share_cause[0] ? b->may_share_cause : NULL);
	if (b->takes_all)
		json_object_set_new(o, "takes_all", json_true());
	json_object_set_new(o, "locations", locations_json(b->locations, b->nlocations));
	if (b->npaths)
		json_object_set_new(o, "paths", paths_json(b));
	if (b->crash)
		json_object_set_new(o, "crash", crash_json(b->crash, b->locations, b->nlocations));
	if (b->evidence)
		evidence_json(o, b->evidence);
	if (b->input)
		json_object_set_new(o, "input", input_json(b->input));
	if (b->schedules)
		set_schedules(o, b->schedules);
	for (size_t i = 0; i < b->nconsequences; i++)
		json_array_append_new(consequences, bug_json(&b->consequences[i]));
	if (b->nconsequences)
		json_object_set(o, "consequences", consequences);
	json_decref(consequences);
	return o;
}

static json_t *depth_json(const struct report_depth *d)
{
	json_t *o = json_object();

	json_object_set_new(o, "failure_points", json_number(d->all));
	json_object_set_new(o, "whole", json_number(d->whole));
	json_set_number(o, "sampled", d->sampled);
	json_set_number(o, "deeper", d->deeper);
	json_set_number(o, "first_runs", d->first_runs);
	json_set_number(o, "not_reached", d->not_reached);
	return o;
}

static json_t *schedules_json(const struct report_schedules *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "recorded", json_number(s->recorded));
	json_object_set_new(o, "different", json_number(s->different));
	json_object_set_new(o, "seed", json_number(s->seed));
	json_set_number(o, "departed", s->departed);
	json_set_number(o, "given_up", s->given_up);
	json_set_number(o, "pairs", s->pairs);
	return o;
}

static json_t *coverage_json(const struct report *r)
{
	const struct report_coverage *c = &r->coverage;
	json_t *o = json_object();

	json_object_set_new(o, "events", json_number(c->events));
	json_set_number(o, "failure_points", c->failure_points);
	json_set_number(o, "runs", c->runs);
	json_set_number(o, "inputs", c->inputs);
	json_set_number(o, "shared_runs", c->shared_runs);
	json_set_number(o, "diagnosis_runs", c->diagnosis_runs);
	json_set_number(o, "attributed_without_run", c->attributed_without_run);
	json_set_number(o, "faults", c->faults);
	json_set_number(o, "lazy_runs", c->lazy_runs);
	json_set_number(o, "whole_runs", c->whole_runs);
	json_set_text(o, "states", c->states);
	json_set_text(o, "states_all", c->states_all);
	json_set_text(o, "note", c->note);
	if (c->depth.all)
		json_object_set_new(o, "depth", depth_json(&c->depth));
	if (c->groups)
		json_object_set_new(o, "representative", groups_json(c->groups));
	if (c->schedules.recorded)
		json_object_set_new(o, "schedules", schedules_json(&c->schedules));
	found_json(o, c);
	json_object_set_new(o, "complete", json_boolean(c->is_complete));
	json_set_text(o, "why_incomplete", c->why_incomplete);
	set_strings(o, "incomplete_reasons", c->reasons, c->nreasons);
	json_set_text(o, "not_covered", report_not_covered(r));
	return o;
}

static json_t *folded_json(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->folded.n; i++) {
		json_t *o = json_object();

		json_set_text(o, "library", r->folded.at[i].library);
		json_set_number(o, "bugs", r->folded.at[i].nbugs);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *suppressed_json(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->suppressed.n; i++) {
		json_t *o = json_object();

		json_set_text(o, "file", r->suppressed.at[i].file);
		json_set_number(o, "line", r->suppressed.at[i].line);
		json_set_number(o, "bugs", r->suppressed.at[i].nbugs);
		json_array_append_new(list, o);
	}
	return list;
}

/* Writes all keys except "bugs" and "tests". */
static void head_json(json_t *top, const struct report *r)
{
	json_t *command = json_array();

	json_set_text(top, "platform", r->platform);
	if (r->is_platform_chosen)
		json_object_set_new(top, "platform_chosen", json_true());
	set_strings(top, "platforms", r->platforms.at, r->platforms.n);
	json_set_text(top, "files_profile", r->files_profile);
	if (r->is_files_only)
		json_object_set_new(top, "files_only", json_true());
	for (size_t i = 0; i < r->command.n; i++)
		json_array_append_new(command, json_text(r->command.at[i]));
	json_object_set_new(top, "command", command);
	set_strings(top, "recipe", r->recipe.at, r->recipe.n);
	set_strings(top, "files_options", r->files_options.at, r->files_options.n);
	set_strings(top, "crash_options", r->crash_options.at, r->crash_options.n);
	set_strings(top, "library_globs", r->library_globs.at, r->library_globs.n);
	project_json(top, r);
	if (r->has_ending)
		json_object_set_new(top, "ending", ending_json(r, location_json));
	if (r->folded.n)
		json_object_set_new(top, "libraries", folded_json(r));
	if (r->suppressed.n)
		json_object_set_new(top, "suppressed", suppressed_json(r));
	if (r->has_coverage)
		json_object_set_new(top, "coverage", coverage_json(r));
	outcome_json(top, r);
	if (r->shard.of)
		json_object_set_new(top, "shard", shard_json(&r->shard));
}

void report_json(FILE *f, const struct report *r, const struct report_options *o)
{
	json_t *top = json_object(), *bugs = json_array(), *tests = json_array();

	(void)o;
	json_set_text(top, "pmend", r->version);
	head_json(top, r);
	for (size_t i = 0; i < report_nbugs(r); i++)
		json_array_append_new(bugs, bug_json(report_bug(r, i)));
	json_object_set(top, "bugs", bugs);
	for (size_t i = 0; i < r->tests.n; i++) {
		json_t *test = json_object();

		head_json(test, r->tests.at[i]);
		json_array_append_new(tests, test);
	}
	if (r->tests.n)
		json_object_set(top, "tests", tests);
	json_decref(bugs);
	json_decref(tests);
	json_dumpf(top, f, JSON_INDENT(2));
	putc('\n', f);
	json_decref(top);
}
