/* Reads a JSON report. Unknown keys are skipped, so that reports of a newer pmend can be read. A
 * known key of the wrong type is an error that names its place: "REPORT.json:
 * bugs[3].locations[0].line: not a number from 0 to 4294967295". */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "report/internal.h"

/* Keeps the first error. After it, reading goes on with empty values, and later errors are
 * ignored. */
struct reader {
	struct report *r;
	const char *path;
	struct error *err;
	bool failed;
	size_t bug, location; /* index of the bug and location that are being read, for errors */
	int depth;            /* what is being read: 0 the head, 1 a bug, 2 a location */
	struct arena arena;   /* frames and locations, until the report has copied them */
};

__attribute__((format(printf, 3, 4))) static void wrong(struct reader *in, const char *key,
							const char *fmt, ...)
{
	char what[256], place[64] = "";
	va_list args;

	if (in->failed)
		return;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	if (in->depth == 1)
		snprintf(place, sizeof place, "bugs[%zu].", in->bug);
	if (in->depth == 2)
		snprintf(place, sizeof place, "bugs[%zu].locations[%zu].", in->bug, in->location);
	error_set(in->err, "%s: %s%s: %s", in->path, place, key, what);
	in->failed = true;
}

static const char *get_text(struct reader *in, const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	if (value && !json_is_string(value))
		wrong(in, key, "not a string");
	return value ? json_string_value(value) : NULL;
}

static const char *get_needed_text(struct reader *in, const json_t *o, const char *key)
{
	const char *text = get_text(in, o, key);

	if (!text)
		wrong(in, key, "missing");
	return text ? text : "";
}

/* Reads the message of a bug or place; "" if there is none, so that renderings need not check. */
static const char *get_message(struct reader *in, const json_t *o)
{
	const char *text = get_text(in, o, "message");

	return text ? text : "";
}

static uint64_t get_number(struct reader *in, const json_t *o, const char *key, uint64_t max)
{
	const json_t *value = json_object_get(o, key);
	json_int_t n = json_integer_value(value);

	if (value && (!json_is_integer(value) || n < 0 || (uint64_t)n > max)) {
		wrong(in, key, "not a number from 0 to %llu", (unsigned long long)max);
		return 0;
	}
	return (uint64_t)n;
}

static bool get_flag(struct reader *in, const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	if (value && !json_is_boolean(value))
		wrong(in, key, "neither true nor false");
	return json_is_true(value);
}

/* Gives the array of a key; NULL if there is none. jansson takes NULL for an empty array. */
static const json_t *get_array(struct reader *in, const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	if (value && !json_is_array(value))
		wrong(in, key, "not an array");
	return value;
}

/* Copies an array's strings to the reader's arena; returns how many. */
static size_t read_strings(struct reader *in, const json_t *o, const char *key, const char ***list)
{
	const json_t *array = get_array(in, o, key);
	size_t i, n = json_array_size(array);

	*list = arena_alloc(&in->arena, (n + 1) * sizeof **list);
	for (i = 0; i < n; i++) {
		(*list)[i] = json_string_value(json_array_get(array, i));
		if (!(*list)[i]) {
			wrong(in, key, "[%zu] is not a string", i);
			return 0;
		}
	}
	return n;
}

static struct bug_frame read_frame(struct reader *in, const json_t *o)
{
	return (struct bug_frame){
		.function = get_text(in, o, "function"),
		.file = get_text(in, o, "file"),
		.object = get_text(in, o, "object"),
		.text = get_text(in, o, "text"),
		.line = (uint32_t)get_number(in, o, "line", UINT32_MAX),
		.column = (uint32_t)get_number(in, o, "column", UINT32_MAX),
		.function_line = (uint32_t)get_number(in, o, "function_line", UINT32_MAX),
		.offset = get_number(in, o, "offset", INT64_MAX),
		.is_inlined = get_flag(in, o, "inlined"),
		.is_signal = get_flag(in, o, "signal"),
	};
}

static void read_frames(struct reader *in, struct bug_frame *frames, const json_t *list,
			const char *key)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);

		if (!json_is_object(o))
			wrong(in, key, "[%zu] is not an object", i);
		frames[i] = read_frame(in, o);
	}
}

static struct bug_location read_location(struct reader *in, const json_t *o)
{
	const json_t *internals = get_array(in, o, "internals"), *stack = get_array(in, o, "stack");
	struct bug_location l = { .role = get_text(in, o, "role"),
				  .shown = json_array_size(internals) };
	struct bug_frame *frames =
		arena_alloc(&in->arena, (l.shown + 1 + json_array_size(stack)) * sizeof *frames);

	read_frames(in, frames, internals, "internals");
	frames[l.shown] = read_frame(in, o);
	read_frames(in, frames + l.shown + 1, stack, "stack");
	l.frames = frames;
	if (l.shown || json_array_size(stack) || frames[0].function || frames[0].file ||
	    frames[0].object)
		l.nframes = l.shown + 1 + json_array_size(stack);
	l.nsetters = get_number(in, o, "setters", l.shown);
	return l;
}

static enum bug_severity read_severity(struct reader *in, const json_t *o)
{
	const char *text = get_needed_text(in, o, "severity");

	for (enum bug_severity s = BUG_CORRECTNESS; s < BUG_SEVERITIES; s++)
		if (strcmp(text, bug_severity_name(s)) == 0)
			return s;
	wrong(in, "severity", "neither correctness nor performance");
	return BUG_CORRECTNESS;
}

static void take_id(struct reader *in, const char *key, const char *text, char id[17])
{
	size_t len = strlen(text);

	if (len == 0 || len > 16 || strspn(text, "0123456789abcdef") != len)
		wrong(in, key, "not 1 to 16 hexadecimal digits");
	else
		memcpy(id, text, len + 1);
}

static void read_id(struct reader *in, const json_t *o, char id[17])
{
	take_id(in, "id", get_needed_text(in, o, "id"), id);
}

static void read_may_share(struct reader *in, const json_t *o, char id[17])
{
	const char *text = get_text(in, o, "may_share_cause");

	if (text)
		take_id(in, "may_share_cause", text, id);
}

static const struct bug_crash *read_crash(struct reader *in, const json_t *o)
{
	const struct bug_comparison *comparison;
	const json_t *stack, *window;
	struct bug_frame *frames;
	struct bug_crash *c;
	const char *why = NULL;

	if (!o)
		return NULL;
	if (!json_is_object(o))
		wrong(in, "crash", "not an object");
	stack = get_array(in, o, "stack");
	frames = arena_alloc(&in->arena, (json_array_size(stack) + 1) * sizeof *frames);
	read_frames(in, frames, stack, "stack");
	comparison = comparison_read(&in->arena, json_object_get(o, "comparison"), &why);
	if (why)
		wrong(in, "comparison", "%s", why);
	c = arena_alloc(&in->arena, sizeof *c);
	*c = (struct bug_crash){ .failure_point = get_number(in, o, "failure_point", INT64_MAX),
				 .outcome = get_text(in, o, "outcome"),
				 .endings = get_text(in, o, "endings"),
				 .command = get_text(in, o, "command"),
				 .output = get_text(in, o, "output"),
				 .replay = get_text(in, o, "replay"),
				 .runs = get_number(in, o, "runs", INT64_MAX),
				 .varies = get_flag(in, o, "varies"),
				 .torn = get_text(in, o, "torn"),
				 .is_flushed_late = get_flag(in, o, "flushed_late"),
				 .frames = frames,
				 .nframes = json_array_size(stack),
				 .comparison = comparison };
	window = json_object_get(o, "window");
	if (window && !json_is_object(window))
		wrong(in, "window", "not an object");
	if (window) {
		c->first_window = get_number(in, window, "first", INT64_MAX);
		c->last_window = get_number(in, window, "last", INT64_MAX);
	}
	choices_read(&in->arena, o, c);
	return c;
}

static const struct bug_input *read_input(struct reader *in, const json_t *o)
{
	struct bug_input *i;

	if (!o)
		return NULL;
	if (!json_is_object(o))
		wrong(in, "input", "not an object");
	i = arena_alloc(&in->arena, sizeof *i);
	*i = (struct bug_input){ .file = get_needed_text(in, o, "file"),
				 .command = get_needed_text(in, o, "command"),
				 .size = get_number(in, o, "size", INT64_MAX),
				 .first = get_text(in, o, "first") };
	return i;
}

static const struct bug_schedules *read_schedules(struct reader *in, const json_t *o)
{
	const json_t *list = get_array(in, o, "schedules_seen");
	struct bug_schedules *s;
	uint32_t *seen;

	if (json_array_size(list) == 0)
		return NULL;
	s = arena_alloc(&in->arena, sizeof *s);
	seen = arena_alloc(&in->arena, json_array_size(list) * sizeof *seen);
	*s = (struct bug_schedules){ .seen = seen, .trace = get_text(in, o, "schedule_trace") };
	for (; s->n < json_array_size(list); s->n++) {
		const json_t *number = json_array_get(list, s->n);

		if (!json_is_integer(number) || json_integer_value(number) < 1 ||
		    json_integer_value(number) > UINT32_MAX) {
			wrong(in, "schedules_seen", "[%zu] is not the number of a schedule", s->n);
			return NULL;
		}
		seen[s->n] = (uint32_t)json_integer_value(number);
	}
	return s;
}

static enum bug_use read_use(struct reader *in, const json_t *o)
{
	const char *text = get_text(in, o, "recovery");

	for (enum bug_use u = BUG_USE_READS; text && u <= BUG_USE_NONE; u++)
		if (strcmp(text, bug_use_name(u)) == 0)
			return u;
	return BUG_USE_UNKNOWN;
}

/* Reads the locations of a bug or of one of its paths. */
static struct bug_location *read_locations(struct reader *in, const json_t *o, size_t *n)
{
	const json_t *list = get_array(in, o, "locations");
	struct bug_location *locations =
		arena_alloc(&in->arena, (json_array_size(list) + 1) * sizeof *locations);

	in->depth = 2;
	for (in->location = *n = 0; in->location < json_array_size(list); in->location++) {
		const json_t *l = json_array_get(list, in->location);

		if (!json_is_object(l))
			wrong(in, "role", "no object to hold it");
		locations[(*n)++] = read_location(in, l);
	}
	in->depth = 1;
	return locations;
}

static void read_paths(struct reader *in, const json_t *o, struct bug *b)
{
	const json_t *list = get_array(in, o, "paths");
	struct bug_path *paths =
		arena_alloc(&in->arena, (json_array_size(list) + 1) * sizeof *paths);

	for (size_t i = 0; i < json_array_size(list) && !in->failed; i++) {
		const json_t *one = json_array_get(list, i);

		if (!json_is_object(one)) {
			wrong(in, "paths", "[%zu] is not an object", i);
			return;
		}
		paths[i] = (struct bug_path){
			.count = get_number(in, one, "count", INT64_MAX),
			.executions = get_number(in, one, "executions", INT64_MAX),
			.first_seq = get_number(in, one, "first_event", INT64_MAX),
			.crash = read_crash(in, json_object_get(one, "crash"))
		};
		paths[i].locations = read_locations(in, one, &paths[i].nlocations);
		if (b->nlocations && !paths[i].nlocations)
			wrong(in, "paths", "[%zu] has no locations", i);
	}
	b->paths = paths;
	b->npaths = json_array_size(list);
}

static struct bug read_bug(struct reader *in, const json_t *o, bool has_consequences);

/* Reads the consequences of a bug; a consequence has none of its own. */
static const struct bug *read_consequences(struct reader *in, const json_t *o, size_t *n)
{
	const json_t *list = get_array(in, o, "consequences");
	struct bug *bugs = arena_alloc(&in->arena, (json_array_size(list) + 1) * sizeof *bugs);

	for (*n = 0; *n < json_array_size(list) && !in->failed; ++*n)
		if (json_is_object(json_array_get(list, *n)))
			bugs[*n] = read_bug(in, json_array_get(list, *n), false);
		else
			wrong(in, "consequences", "[%zu] is not an object", *n);
	return bugs;
}

static struct bug read_bug(struct reader *in, const json_t *o, bool has_consequences)
{
	struct bug b = { .kind = get_needed_text(in, o, "kind"),
			 .severity = read_severity(in, o),
			 .message = get_message(in, o),
			 .advice = get_text(in, o, "advice"),
			 .use = read_use(in, o),
			 .count = get_number(in, o, "count", INT64_MAX),
			 .executions = get_number(in, o, "executions", INT64_MAX),
			 .first_seq = get_number(in, o, "first_event", INT64_MAX) };
	const char **platforms, *why = NULL;

	b.nplatforms = read_strings(in, o, "platforms", &platforms);
	b.platforms = platforms;
	b.nprofiles = read_strings(in, o, "profiles", &platforms);
	b.profiles = platforms;
	b.library = get_text(in, o, "library");
	b.test = get_text(in, o, "test");
	b.reason = get_text(in, o, "reason");
	b.undecided_by = get_text(in, o, "undecided_by");
	b.takes_all = !has_consequences && get_flag(in, o, "takes_all");
	read_may_share(in, o, b.may_share_cause);
	read_id(in, o, b.id);
	b.crash = read_crash(in, json_object_get(o, "crash"));
	b.input = read_input(in, json_object_get(o, "input"));
	b.schedules = read_schedules(in, o);
	b.evidence = evidence_read(&in->arena, o, &why);
	if (why)
		wrong(in, "timeline", "%s", why);
	b.locations = read_locations(in, o, &b.nlocations);
	read_paths(in, o, &b);
	if (has_consequences)
		b.consequences = read_consequences(in, o, &b.nconsequences);
	return b;
}

static struct report_depth read_depth(struct reader *in, const json_t *o)
{
	if (!o)
		return (struct report_depth){ 0 };
	if (!json_is_object(o))
		wrong(in, "depth", "not an object");
	return (struct report_depth){ .all = get_number(in, o, "failure_points", INT64_MAX),
				      .whole = get_number(in, o, "whole", INT64_MAX),
				      .sampled = get_number(in, o, "sampled", INT64_MAX),
				      .deeper = get_number(in, o, "deeper", INT64_MAX),
				      .first_runs = get_number(in, o, "first_runs", INT64_MAX),
				      .not_reached = get_number(in, o, "not_reached", INT64_MAX) };
}

static struct report_schedules read_schedule_counts(struct reader *in, const json_t *o)
{
	if (!o)
		return (struct report_schedules){ 0 };
	if (!json_is_object(o))
		wrong(in, "schedules", "not an object");
	return (struct report_schedules){ .seed = get_number(in, o, "seed", INT64_MAX),
					  .recorded = get_number(in, o, "recorded", INT64_MAX),
					  .different = get_number(in, o, "different", INT64_MAX),
					  .departed = get_number(in, o, "departed", INT64_MAX),
					  .given_up = get_number(in, o, "given_up", INT64_MAX),
					  .pairs = get_number(in, o, "pairs", INT64_MAX) };
}

static void read_coverage(struct reader *in, const json_t *o)
{
	const struct report_groups *groups;
	struct report_coverage found = { 0 };
	const char **reasons = NULL;
	size_t nreasons;
	const char *why = NULL;

	if (!o)
		return;
	if (!json_is_object(o))
		wrong(in, "coverage", "not an object");
	groups = groups_read(&in->arena, json_object_get(o, "representative"), &why);
	if (why)
		wrong(in, "representative", "%s", why);
	found_read(&in->arena, o, &found);
	nreasons = read_strings(in, o, "incomplete_reasons", &reasons);
	report_set_coverage(
		in->r,
		&(struct report_coverage){
			.groups = groups,
			.depth = read_depth(in, json_object_get(o, "depth")),
			.schedules = read_schedule_counts(in, json_object_get(o, "schedules")),
			.events = get_number(in, o, "events", INT64_MAX),
			.failure_points = get_number(in, o, "failure_points", INT64_MAX),
			.inputs = get_number(in, o, "inputs", INT64_MAX),
			.found = found.found,
			.nfound = found.nfound,
			.nfound_all = found.nfound_all,
			.runs = get_number(in, o, "runs", INT64_MAX),
			.shared_runs = get_number(in, o, "shared_runs", INT64_MAX),
			.diagnosis_runs = get_number(in, o, "diagnosis_runs", INT64_MAX),
			.attributed_without_run =
				get_number(in, o, "attributed_without_run", INT64_MAX),
			.faults = get_number(in, o, "faults", INT64_MAX),
			.lazy_runs = get_number(in, o, "lazy_runs", INT64_MAX),
			.whole_runs = get_number(in, o, "whole_runs", INT64_MAX),
			.states = get_text(in, o, "states"),
			.states_all = get_text(in, o, "states_all"),
			.note = get_text(in, o, "note"),
			.is_complete = get_flag(in, o, "complete"),
			.why_incomplete = get_text(in, o, "why_incomplete"),
			.reasons = reasons,
			.nreasons = nreasons,
		});
}

static void read_unflushed(struct reader *in, const json_t *o)
{
	struct bug b = { .kind = get_needed_text(in, o, "kind"),
			 .message = get_message(in, o),
			 .count = get_number(in, o, "count", INT64_MAX),
			 .first_seq = get_number(in, o, "first_event", INT64_MAX) };
	const json_t *list = get_array(in, o, "locations");
	struct bug_location *locations =
		arena_alloc(&in->arena, (json_array_size(list) + 1) * sizeof *locations);

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!json_is_object(json_array_get(list, i)))
			wrong(in, "not_flushed", "a location is not an object");
		else
			locations[b.nlocations++] = read_location(in, json_array_get(list, i));
	}
	b.locations = locations;
	if (!in->failed)
		report_add_unflushed(in->r, &b);
}

static void read_ending(struct reader *in, const json_t *o)
{
	struct report_ending e = { 0 };
	const json_t *list;

	if (!o)
		return;
	if (!json_is_object(o))
		wrong(in, "ending", "not an object");
	e.how = get_needed_text(in, o, "how");
	e.text = get_needed_text(in, o, "text");
	e.code = (uint32_t)get_number(in, o, strcmp(e.how, "signal") == 0 ? "signal" : "status",
				      255);
	list = get_array(in, o, "not_flushed");
	for (size_t i = 0; i < json_array_size(list) && !in->failed; i++)
		if (json_is_object(json_array_get(list, i)))
			read_unflushed(in, json_array_get(list, i));
		else
			wrong(in, "not_flushed", "[%zu] is not an object", i);
	if (!in->failed)
		report_set_ending(in->r, &e);
}

static void read_command(struct reader *in, const json_t *top)
{
	const char **list;
	size_t i, n = read_strings(in, top, "command", &list);

	for (i = 0; i < n; i++)
		report_add_argument(in->r, list[i]);
	n = read_strings(in, top, "recipe", &list);
	for (i = 0; i < n; i++)
		report_add_recipe(in->r, list[i]);
	n = read_strings(in, top, "files_options", &list);
	for (i = 0; i < n; i++)
		report_add_files_option(in->r, list[i]);
	n = read_strings(in, top, "crash_options", &list);
	for (i = 0; i < n; i++)
		report_add_crash_option(in->r, list[i]);
}

static void read_libraries(struct reader *in, const json_t *top)
{
	const json_t *folded = get_array(in, top, "libraries");
	const char **list;
	size_t n = read_strings(in, top, "library_globs", &list);

	for (size_t i = 0; i < n; i++)
		report_add_library_glob(in->r, list[i]);
	for (size_t i = 0; i < json_array_size(folded) && !in->failed; i++) {
		const json_t *o = json_array_get(folded, i);

		*vec_add(&in->r->folded) =
			(struct report_folded){ arena_text(&in->r->arena,
							   get_needed_text(in, o, "library")),
						get_number(in, o, "bugs", INT64_MAX) };
	}
}

static void read_platforms(struct reader *in, const json_t *top)
{
	const char *platform = get_text(in, top, "platform"), **list;
	size_t i, n = read_strings(in, top, "platforms", &list);

	if (platform)
		report_set_platform(in->r, platform);
	report_set_platform_chosen(in->r, json_is_true(json_object_get(top, "platform_chosen")));
	if (get_text(in, top, "files_profile"))
		report_set_files(in->r, get_text(in, top, "files_profile"),
				 json_is_true(json_object_get(top, "files_only")));
	for (i = 0; i < n; i++)
		*vec_add(&in->r->platforms) = arena_text(&in->r->arena, list[i]);
}

/* Reads all keys except "bugs" and "tests". */
static void read_head(struct reader *in, const json_t *top)
{
	const char *why;

	read_platforms(in, top);
	read_command(in, top);
	read_libraries(in, top);
	read_coverage(in, json_object_get(top, "coverage"));
	read_ending(in, json_object_get(top, "ending"));
	if (json_object_get(top, "shard") &&
	    !shard_read(in->r, json_object_get(top, "shard"), &why))
		wrong(in, "shard", "%s", why);
	if (!outcome_read(in->r, top, &why))
		wrong(in, "failure", "%s", why);
	if (!project_read(in->r, top, &why))
		wrong(in, "project", "%s", why);
}

/* Reads the bugs of the test `of`; NULL: all bugs. */
static void read_bugs(struct reader *in, const json_t *bugs, const char *of)
{
	const size_t depth = in->depth;
	struct bug b;

	in->depth = 1;
	for (in->bug = 0; in->bug < json_array_size(bugs) && !in->failed; in->bug++) {
		const json_t *o = json_array_get(bugs, in->bug);

		if (!json_is_object(o)) {
			wrong(in, "id", "no object to hold it");
			continue;
		}
		b = read_bug(in, o, true);
		if (in->failed || (of && (!b.test || strcmp(b.test, of) != 0)))
			continue;
		if (of)
			b.test = NULL;
		report_append(in->r, &b);
	}
	in->depth = depth;
}

/* Makes the reports of single tests. Each gets the bugs that have its name. */
static void read_tests(struct reader *in, const json_t *top)
{
	const json_t *tests = get_array(in, top, "tests"), *o;
	struct report *all = in->r;

	for (size_t i = 0; i < json_array_size(tests) && !in->failed; i++) {
		o = json_array_get(tests, i);
		in->r = report_new();
		in->r->version = arena_text(&in->r->arena, all->version);
		*vec_add(&all->tests) = in->r;
		if (json_is_object(o))
			read_head(in, o);
		if (!in->failed && !in->r->project.test)
			wrong(in, "tests", "[%zu] has no name", i);
		if (!in->failed)
			read_bugs(in, json_object_get(top, "bugs"), in->r->project.test);
		order_sort(in->r->bugs.at, in->r->bugs.n);
		in->r->is_finished = true;
	}
	in->r = all;
}

static void read_top(struct reader *in, const json_t *top)
{
	const char *version = json_string_value(json_object_get(top, "pmend"));

	if (!version || !json_is_array(json_object_get(top, "bugs"))) {
		error_set(in->err, "%s: not a report of pmend: no \"pmend\" or no \"bugs\" in it",
			  in->path);
		in->failed = true;
		return;
	}
	in->r->version = arena_text(&in->r->arena, version);
	read_head(in, top);
	read_bugs(in, json_object_get(top, "bugs"), NULL);
	read_tests(in, top);
}

static json_t *file_parse(const char *path, struct error *err)
{
	FILE *f = fopen(path, "re");
	json_error_t why;
	struct stat st;
	json_t *top = NULL;

	if (!f) {
		error_set(err, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
		error_set(err, "cannot read %s: it is a folder", path);
		goto out;
	}
	top = json_loadf(f, 0, &why);
	if (!top)
		error_set(err, "%s:%d: not JSON: %s", path, why.line > 0 ? why.line : 1, why.text);
out:
	fclose(f);
	return top;
}

/* Reads a parsed report, and frees `top`. */
static struct report *read_report(const char *path, json_t *top, struct error *err)
{
	struct reader in = { .path = path, .err = err };

	in.r = report_new();
	read_top(&in, top);
	json_decref(top);
	arena_release(&in.arena);
	if (in.failed) {
		report_free(in.r);
		return NULL;
	}
	/* the file's ids are kept; only the order is made anew, since an older pmend had another
	 * one */
	order_sort(in.r->bugs.at, in.r->bugs.n);
	in.r->is_finished = true;
	return in.r;
}

struct report *report_read(const char *path, struct error *err)
{
	json_t *top = file_parse(path, err);

	return top ? read_report(path, top, err) : NULL;
}

struct report *report_parse(const char *text, const char *name, struct error *err)
{
	json_error_t why;
	json_t *top = json_loads(text, 0, &why);

	if (top)
		return read_report(name, top, err);
	error_set(err, "%s: not JSON: %s", name, why.text);
	return NULL;
}
