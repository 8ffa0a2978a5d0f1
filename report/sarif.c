/* Writes SARIF 2.1.0, as far as GitHub's code scanning uses it: a rule for each kind, a physical
 * location for each result, a code flow for each call stack (outermost call first), and the bug's
 * id as fingerprint. Limits: columns are those of the debug info (bytes); frames without source
 * line are not in the code flows. */
#include <string.h>

#include "report/format.h"
#include "report/internal.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define BASE_ID "%SRCROOT%"

struct sarif {
	const struct report *r;
	const char *cwd;
	VEC(const char *) rules; /* names of kinds, by rule index */
};

/* Makes a number, cut to 32 bits, because programs that read SARIF keep numbers in 32 bits. */
static json_t *small_number(uint64_t n)
{
	return json_number(n < INT32_MAX ? n : INT32_MAX);
}

static json_t *text_object(const char *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "text", json_text(s));
	return o;
}

/* Makes a message. Single braces would be placeholders in it, so they are doubled. */
static json_t *message_object(const char *s)
{
	char *doubled = xmalloc(2 * strlen(s) + 1), *out = doubled;
	json_t *o;

	for (; *s; s++) {
		if (*s == '{' || *s == '}')
			*out++ = *s;
		*out++ = *s;
	}
	*out = '\0';
	o = text_object(doubled);
	free(doubled);
	return o;
}

static const char *level(enum bug_severity s)
{
	switch (s) {
	case BUG_CORRECTNESS: return "error";
	case BUG_PERFORMANCE:
	case BUG_WARNING: return "warning";
	case BUG_PORTING: return "note";
	case BUG_SEVERITIES: break;
	}
	BUG("severity %d", (int)s);
}

static json_t *strings(const char *first, const char *second)
{
	json_t *list = json_array();

	json_array_append_new(list, json_text(first));
	json_array_append_new(list, json_text(second));
	return list;
}

static json_t *rule_json(const char *kind, enum bug_severity severity)
{
	const struct bug_kind *known = bug_kind_find(kind);
	json_t *o = json_object(), *configuration = json_object(), *properties = json_object();

	json_object_set_new(o, "id", json_text(kind));
	json_object_set_new(o, "name", json_text(kind));
	json_object_set_new(o, "shortDescription", text_object(known ? known->summary : kind));
	json_object_set_new(o, "fullDescription", text_object(known ? known->summary : kind));
	json_object_set_new(
		o, "help", text_object(known ? known->advice : "See the plug-in that reports it."));
	json_object_set_new(configuration, "level", json_text(level(severity)));
	json_object_set_new(o, "defaultConfiguration", configuration);
	json_object_set_new(properties, "tags",
			    strings("persistent-memory", bug_severity_name(severity)));
	json_object_set_new(properties, "precision", json_text("high"));
	json_object_set_new(properties, "problem.severity", json_text(level(severity)));
	json_object_set_new(o, "properties", properties);
	return o;
}

static json_t *rules_json(struct sarif *s)
{
	const struct bug_kind *known;
	json_t *list = json_array();
	size_t i, k;

	for (known = bug_kinds; known->name; known++) {
		*vec_add(&s->rules) = known->name;
		json_array_append_new(list, rule_json(known->name, known->severity));
	}
	for (i = 0; i < report_nbugs(s->r); i++) {
		const struct bug *b = report_bug(s->r, i);

		for (k = 0; k < s->rules.n && strcmp(s->rules.at[k], b->kind) != 0; k++)
			;
		if (k < s->rules.n)
			continue;
		*vec_add(&s->rules) = b->kind;
		json_array_append_new(list, rule_json(b->kind, b->severity));
	}
	return list;
}

static json_t *artifact_json(const struct sarif *s, const char *path)
{
	json_t *o = json_object();
	bool is_below;
	char *uri = path_uri(path, s->cwd, &is_below);

	json_object_set_new(o, "uri", json_text(uri));
	if (is_below)
		json_object_set_new(o, "uriBaseId", json_text(BASE_ID));
	free(uri);
	return o;
}

static bool has_line(const struct bug_frame *frame)
{
	return frame->file && frame->line;
}

/* Makes the place of a result: its source line, or else the binary, or else the program. GitHub
 * refuses a result without place. */
static json_t *physical_json(const struct sarif *s, const struct bug_frame *frame)
{
	const char *command = s->r->command.n ? s->r->command.at[0] : "unknown";
	const char *path = frame && frame->object ? frame->object : command, *found = NULL;
	json_t *o = json_object(), *region = json_object();
	bool is_source = frame && has_line(frame);

	if (is_source) {
		found = frame->file[0] == '/' ? NULL : source_path(s->r->sources, frame->file);
		path = found ? found : frame->file;
	}
	json_object_set_new(o, "artifactLocation", artifact_json(s, path));
	json_object_set_new(region, "startLine", small_number(is_source ? frame->line : 1));
	if (is_source && frame->column)
		json_object_set_new(region, "startColumn", small_number(frame->column));
	json_object_set_new(o, "region", region);
	return o;
}

static json_t *location_json(const struct sarif *s, const struct bug_frame *frame,
			     const char *message)
{
	json_t *o = json_object(), *logical, *list;

	json_object_set_new(o, "physicalLocation", physical_json(s, frame));
	if (frame && frame->function) {
		logical = json_object();
		list = json_array();
		json_object_set_new(logical, "fullyQualifiedName", json_text(frame->function));
		json_object_set_new(logical, "kind", json_text("function"));
		json_array_append_new(list, logical);
		json_object_set_new(o, "logicalLocations", list);
	}
	if (message)
		json_object_set_new(o, "message", message_object(message));
	return o;
}

/* Gives the index of the innermost frame that has a line; nframes if none has. */
static size_t flow_end(const struct bug_location *l)
{
	size_t i;

	for (i = 0; i < l->nframes && !has_line(&l->frames[i]); i++)
		;
	return i;
}

static json_t *flow_json(const struct sarif *s, const struct bug_location *l)
{
	json_t *steps = json_array(), *thread = json_object(), *threads = json_array(),
	       *flow = json_object();
	size_t i, end = flow_end(l);

	for (i = l->nframes; i-- > end;) {
		const struct bug_frame *frame = &l->frames[i];
		json_t *step;
		char *text;

		if (!has_line(frame))
			continue;
		text = xasprintf("%s in %s",
				 i > end   ? "call"
				 : l->role ? l->role
					   : "here",
				 frame->function ? frame->function : "??");
		step = json_object();
		json_object_set_new(step, "location", location_json(s, frame, text));
		json_array_append_new(steps, step);
		free(text);
	}
	json_object_set_new(thread, "locations", steps);
	json_array_append_new(threads, thread);
	json_object_set_new(flow, "message", message_object(l->role ? l->role : "stack"));
	json_object_set_new(flow, "threadFlows", threads);
	return flow;
}

static void set_locations(const struct sarif *s, json_t *result, const struct bug *b)
{
	json_t *first = json_array(), *others = json_array(), *flows = json_array();
	size_t i;

	json_array_append_new(first, location_json(s, bug_frame(b), NULL));
	for (i = 0; i < b->nlocations; i++) {
		const struct bug_location *l = &b->locations[i];
		json_t *o;

		if (flow_end(l) < l->nframes)
			json_array_append_new(flows, flow_json(s, l));
		if (i == 0)
			continue;
		o = location_json(s, bug_location_frame(l), l->role ? l->role : "see");
		json_object_set_new(o, "id", json_number(i));
		json_array_append_new(others, o);
	}
	for (i = 1; i < b->npaths; i++)
		if (b->nlocations &&
		    flow_end(&b->paths[i].locations[0]) < b->paths[i].locations[0].nframes)
			json_array_append_new(flows, flow_json(s, &b->paths[i].locations[0]));
	json_object_set_new(result, "locations", first);
	for (i = 0; i < b->nconsequences; i++) {
		const struct bug *one = &b->consequences[i];
		char *text = xasprintf("the same cause%s: %s: %s",
				       one->takes_all ? ", with the other bugs of the report" : "",
				       one->kind, one->message);
		json_t *o = location_json(s, bug_frame(one), text);

		json_object_set_new(o, "id", json_number(b->nlocations + i));
		json_array_append_new(others, o);
		free(text);
	}
	if (json_array_size(others))
		json_object_set(result, "relatedLocations", others);
	if (json_array_size(flows))
		json_object_set(result, "codeFlows", flows);
	json_decref(others);
	json_decref(flows);
}

/* Gives the first difference of a dump as text, "\nbefore: b 2\nafter: b 3\nfound: b 9"; "" if
 * there is none. free() it. */
static char *comparison_of(const struct bug_crash *c)
{
	const struct bug_difference *d =
		c && c->comparison && c->comparison->n ? &c->comparison->list[0] : NULL;
	const char *nothing = "(no such line)";

	if (!d)
		return xstrdup("");
	if (!c->comparison->after)
		return xasprintf("\nallowed: %s\nfound: %s", d->before ? d->before : nothing,
				 d->found ? d->found : nothing);
	return xasprintf("\nbefore: %s\nafter: %s\nfound: %s", d->before ? d->before : nothing,
			 d->after ? d->after : nothing, d->found ? d->found : nothing);
}

static char *message_of(const struct sarif *s, const struct bug *b)
{
	const char *advice = report_advice(s->r, b);
	char *platforms = platforms_text(s->r, b), *comparison = comparison_of(b->crash), *message;

	message = xasprintf("%s%s%s%s%s%s%s%s%s", b->message,
			    b->crash ? "\nRecovery after a crash: " : "",
			    b->crash && b->crash->outcome ? b->crash->outcome : "",
			    b->crash ? "." : "", comparison, platforms ? "\n" : "",
			    platforms ? platforms : "", advice ? "\n" : "", advice ? advice : "");
	free(comparison);
	free(platforms);
	return message;
}

/* Makes an object that says how recovery ended, with the keys of pmend's own JSON. */
static json_t *crash_properties(const struct bug_crash *c)
{
	const struct {
		const char *key, *text;
	} texts[] = { { "outcome", c->outcome },
		      { "command", c->command },
		      { "output", c->output },
		      { "replay", c->replay } };
	json_t *o = json_object();

	json_object_set_new(o, "failurePoint", json_number(c->failure_point));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].text)
			json_object_set_new(o, texts[i].key, json_text(texts[i].text));
	if (c->varies)
		json_object_set_new(o, "varies", json_true());
	if (c->comparison)
		json_object_set_new(o, "comparison", comparison_json(c->comparison));
	return o;
}

static void set_properties(json_t *result, const struct bug *b)
{
	json_t *properties = json_object(), *list = json_array();

	for (size_t i = 0; i < b->nplatforms; i++)
		json_array_append_new(list, json_text(b->platforms[i]));
	if (b->nplatforms)
		json_object_set(properties, "platforms", list);
	if (b->library)
		json_object_set_new(properties, "library", json_text(b->library));
	if (b->reason)
		json_object_set_new(properties, "reason", json_text(b->reason));
	if (b->undecided_by)
		json_object_set_new(properties, "undecidedBy", json_text(b->undecided_by));
	if (b->may_share_cause[0])
		json_object_set_new(properties, "mayShareCause", json_text(b->may_share_cause));
	if (b->crash)
		json_object_set_new(properties, "crash", crash_properties(b->crash));
	if (b->npaths)
		json_object_set_new(properties, "callPaths", json_number(b->npaths));
	if (json_object_size(properties))
		json_object_set(result, "properties", properties);
	json_decref(list);
	json_decref(properties);
}

static json_t *result_json(const struct sarif *s, const struct bug *b)
{
	json_t *o = json_object(), *fingerprints = json_object();
	char *message = message_of(s, b);
	size_t rule;

	for (rule = 0; strcmp(s->rules.at[rule], b->kind) != 0; rule++)
		;
	json_object_set_new(o, "ruleId", json_text(b->kind));
	json_object_set_new(o, "ruleIndex", json_number(rule));
	json_object_set_new(o, "level", json_text(level(b->severity)));
	json_object_set_new(o, "message", message_object(message));
	set_locations(s, o, b);
	/* GitHub looks only at the first location */
	json_object_set_new(fingerprints, "primaryLocationLineHash", json_text(b->id));
	json_object_set_new(fingerprints, "pmendBugId/v1", json_text(b->id));
	json_object_set_new(o, "partialFingerprints", fingerprints);
	json_object_set_new(o, "occurrenceCount", small_number(b->count));
	set_properties(o, b);
	free(message);
	return o;
}

static json_t *tool_json(struct sarif *s)
{
	json_t *tool = json_object(), *driver = json_object();

	json_object_set_new(driver, "name", json_text("pmend"));
	json_object_set_new(driver, "version", json_text(s->r->version));
	json_object_set_new(driver, "rules", rules_json(s));
	json_object_set_new(tool, "driver", driver);
	return tool;
}

static char *folder_uri(const char *folder)
{
	bool is_below;
	char *uri = path_uri(folder, NULL, &is_below), *with_slash;

	with_slash = xasprintf("%s%s", uri, uri[strlen(uri) - 1] == '/' ? "" : "/");
	free(uri);
	return with_slash;
}

/* Writes the folder to which relative paths belong. */
static void set_base(const struct sarif *s, json_t *run)
{
	json_t *bases = json_object(), *base = json_object();
	char *uri;

	if (s->cwd) {
		uri = folder_uri(s->cwd);
		json_object_set_new(base, "uri", json_text(uri));
		json_object_set(bases, BASE_ID, base);
		json_object_set(run, "originalUriBaseIds", bases);
		free(uri);
	}
	json_decref(base);
	json_decref(bases);
}

static json_t *notification_json(const char *kind, const char *text)
{
	json_t *note = json_object();

	json_object_set_new(note, "level", json_text(kind));
	json_object_set_new(note, "message", message_object(text));
	return note;
}

/* Writes unflushed stores as notes and not as results, since there is nothing to fix in the
 * code. */
static void add_ending(const struct sarif *s, json_t *notes)
{
	if (!s->r->has_ending)
		return;
	json_array_append_new(notes, notification_json("warning", s->r->ending.text));
	for (size_t i = 0; i < report_nunflushed(s->r); i++) {
		const struct bug *b = report_unflushed(s->r, i);
		json_t *note = notification_json("note", b->message), *locations = json_array();

		json_array_append_new(locations, location_json(s, bug_frame(b), NULL));
		json_object_set_new(note, "locations", locations);
		json_array_append_new(notes, note);
	}
}

static void add_folded(const struct sarif *s, json_t *notes)
{
	for (size_t i = 0; i < s->r->folded.n; i++) {
		char *text = folded_text(&s->r->folded.at[i]);

		json_array_append_new(notes, notification_json("note", text));
		free(text);
	}
}

static json_t *invocation_json(const struct sarif *s)
{
	const struct report_coverage *c = &s->r->coverage;
	json_t *list = json_array(), *o = json_object(), *notes = json_array();

	json_object_set_new(o, "executionSuccessful", json_true());
	if (s->r->has_coverage && !c->is_complete)
		json_array_append_new(
			notes, notification_json("warning",
						 c->why_incomplete ? c->why_incomplete
								   : "the analysis is incomplete"));
	add_ending(s, notes);
	add_folded(s, notes);
	if (report_not_covered(s->r))
		json_array_append_new(notes, notification_json("note", report_not_covered(s->r)));
	if (json_array_size(notes))
		json_object_set(o, "toolExecutionNotifications", notes);
	json_decref(notes);
	json_array_append_new(list, o);
	return list;
}

/* Makes a run of the log. of: the name of the test that the run is about; NULL: there is only one.
 * Services tell runs of one tool apart by this name. */
static json_t *run_json(const struct report *r, const struct report_options *o, const char *of)
{
	struct sarif s = { .r = r, .cwd = o->cwd };
	json_t *run = json_object(), *results = json_array(), *details = json_object();
	char *id = of ? xasprintf("pmend/%s/", of) : NULL;

	json_object_set_new(run, "tool", tool_json(&s));
	json_set_text(details, "id", id);
	if (of)
		json_object_set(run, "automationDetails", details);
	json_object_set_new(run, "invocations", invocation_json(&s));
	set_base(&s, run);
	for (size_t i = 0; i < report_nbugs(r); i++)
		json_array_append_new(results, result_json(&s, report_bug(r, i)));
	json_object_set_new(run, "results", results);
	json_decref(details);
	free(id);
	vec_release(&s.rules);
	return run;
}

void report_sarif(FILE *f, const struct report *r, const struct report_options *o)
{
	json_t *top = json_object(), *runs = json_array();

	for (size_t i = 0; i < r->tests.n; i++)
		json_array_append_new(runs,
				      run_json(r->tests.at[i], o, r->tests.at[i]->project.test));
	if (r->tests.n == 0)
		json_array_append_new(runs, run_json(r, o, NULL));
	json_object_set_new(top, "$schema", json_text(SCHEMA));
	json_object_set_new(top, "version", json_text("2.1.0"));
	json_object_set_new(top, "runs", runs);
	json_dumpf(top, f, JSON_INDENT(2));
	putc('\n', f);
	json_decref(top);
}
