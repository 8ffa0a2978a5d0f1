/* What became of each bug of the report: mended, left, or not applicable. A bug is what the report lists, also under a cause; one to which several call
 * paths lead is mended if all of them are. */
#include "cmd/fix_account.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/whole_file.h"

static const char *const words[] = { [REPAIR_MENDED] = "mended", [REPAIR_DECLINED] = "left", [REPAIR_NOT_APPLICABLE] = "not applicable" };
static const char *const library_text = "inside the library; --libraries lists what it is";

static int rank(enum repair_status s)
{
	return s == REPAIR_DECLINED ? 2 : s == REPAIR_NOT_APPLICABLE;
}

void account_init(struct account *a, const struct fixing *f)
{
	size_t nbugs = report_nbugs(f->report);

	*a = (struct account){ .f = f, .norigins = report_norigins(f->report) };
	a->shown = xcalloc(a->norigins + 1, sizeof *a->shown);
	for (size_t i = 0; i < a->norigins; i++)
		a->shown[i] = nbugs;
	for (size_t i = 0; i < nbugs; i++) {
		size_t *shown = &a->shown[report_origin(f->report, i)];

		if (*shown == nbugs || rank(repair_outcome(f->repair, i).status) > rank(repair_outcome(f->repair, *shown).status))
			*shown = i;
	}
	for (size_t i = 0; i < a->norigins; i++)
		a->n[repair_outcome(f->repair, a->shown[i]).status]++;
	for (size_t i = 0; i < report_nlibraries(f->report); i++) {
		size_t n;

		report_library(f->report, i, &n);
		a->nlibrary += n;
	}
	a->n[REPAIR_NOT_APPLICABLE] += a->nlibrary;
}

void account_release(struct account *a)
{
	free(a->shown);
}

/* ---- for people ---- */

/* What would help against a bug that is left; NULL if that is said already. */
static const char *help_of(const struct bug *b, const struct repair_outcome *o)
{
	if (o->status != REPAIR_DECLINED)
		return NULL;
	return o->help ? (*o->help ? o->help : NULL) : bug_advice(b);
}

static char *line_of(const struct account *a, size_t i)
{
	const struct bug *b = report_bug(a->f->report, i);
	const struct bug_frame *at = bug_frame(b);
	struct repair_outcome o = repair_outcome(a->f->repair, i);
	const char *help = *o.text ? help_of(b, &o) : NULL;

	return xasprintf("%s:%u: %s: %s: %s%s%s", at && at->file ? at->file : "?", at ? at->line : 0, b->kind, words[o.status], o.text, !help ? "" : o.text[strlen(o.text) - 1] == '?' ? " " : ". ", help ? help : "");
}

/* Call paths of one bug that came to the same are told once. */
static bool is_told(const struct account *a, size_t i, char **lines)
{
	for (size_t k = 0; k < i; k++)
		if (report_origin(a->f->report, k) == report_origin(a->f->report, i) && strcmp(lines[k], lines[i]) == 0)
			return true;
	return false;
}

static void tell_bugs(const struct account *a)
{
	size_t n = report_nbugs(a->f->report);
	char **lines = xcalloc(n + 1, sizeof *lines);

	for (size_t i = 0; i < n; i++) {
		lines[i] = line_of(a, i);
		if (!is_told(a, i, lines))
			fprintf(stderr, "%s\n", lines[i]);
	}
	for (size_t i = 0; i < n; i++)
		free(lines[i]);
	free(lines);
	for (size_t i = 0; i < report_nlibraries(a->f->report); i++) {
		size_t nbugs;
		const char *library = report_library(a->f->report, i, &nbugs);

		fprintf(stderr, "%s: %zu finding%s: not applicable: %s\n", library, nbugs, nbugs == 1 ? "" : "s", library_text);
	}
}

static const char *s_of(size_t n)
{
	return n == 1 ? "" : "s";
}

void account_tell(const struct account *a)
{
	const struct repair *r = a->f->repair;
	size_t total = a->norigins + a->nlibrary;

	tell_bugs(a);
	if (repair_ntransactions(r))
		warn("%zu transaction%s added", repair_ntransactions(r), s_of(repair_ntransactions(r)));
	if (repair_nlogs(r))
		warn("%zu range%s logged", repair_nlogs(r), s_of(repair_nlogs(r)));
	if (repair_namended(r))
		warn("%zu flush%s moved, widened or mended", repair_namended(r), repair_namended(r) == 1 ? "" : "es");
	if (repair_nremoved(r))
		warn("%zu redundant statement%s removed", repair_nremoved(r), s_of(repair_nremoved(r)));
	warn("%zu bug%s in the report: %zu fixed by %zu flush%s and %zu fence%s in %zu file%s, %zu left, %zu not applicable", total, s_of(total),
	     a->n[REPAIR_MENDED], repair_nflushes(r), repair_nflushes(r) == 1 ? "" : "es", repair_nfences(r), s_of(repair_nfences(r)), repair_nfiles(r),
	     s_of(repair_nfiles(r)), a->n[REPAIR_DECLINED], a->n[REPAIR_NOT_APPLICABLE]);
}

/* ---- for programs ---- */

static void set_text(json_t *o, const char *key, const char *s)
{
	json_t *text = s ? json_string(s) : NULL;

	if (s) /* what is not UTF-8 is left out */
		json_object_set_new(o, key, text ? text : json_null());
}

static void set_outcome(json_t *o, const struct bug *b, const struct repair_outcome *outcome)
{
	set_text(o, "outcome", words[outcome->status]);
	set_text(o, "why", outcome->text);
	set_text(o, "help", help_of(b, outcome));
}

static json_t *paths_json(const struct account *a, size_t origin)
{
	json_t *list = json_array();

	for (size_t i = 0; i < report_nbugs(a->f->report); i++) {
		struct repair_outcome outcome = repair_outcome(a->f->repair, i);
		json_t *o;

		if (report_origin(a->f->report, i) != origin)
			continue;
		o = json_object();
		set_outcome(o, report_bug(a->f->report, i), &outcome);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *bug_json(const struct account *a, size_t origin)
{
	const struct report *r = a->f->report;
	size_t i = a->shown[origin], cause = report_origin_cause(r, i);
	const struct bug *b = report_bug(r, i);
	const struct bug_frame *at = bug_frame(b);
	struct repair_outcome outcome = repair_outcome(a->f->repair, i);
	json_t *o = json_object(), *paths = paths_json(a, origin);

	set_text(o, "id", b->id);
	set_text(o, "kind", b->kind);
	set_text(o, "severity", bug_severity_name(b->severity));
	set_text(o, "file", at ? at->file : NULL);
	if (at && at->line)
		json_object_set_new(o, "line", json_integer(at->line));
	set_text(o, "cause", cause != REPORT_NO_CAUSE ? report_bug(r, a->shown[cause])->id : NULL);
	set_outcome(o, b, &outcome);
	if (json_array_size(paths) > 1)
		json_object_set(o, "paths", paths);
	json_decref(paths);
	return o;
}

static json_t *library_json(const struct account *a, size_t i)
{
	json_t *o = json_object();
	size_t n;

	set_text(o, "library", report_library(a->f->report, i, &n));
	json_object_set_new(o, "bugs", json_integer((json_int_t)n));
	set_text(o, "outcome", words[REPAIR_NOT_APPLICABLE]);
	set_text(o, "why", library_text);
	return o;
}

static json_t *counts_json(const struct account *a)
{
	json_t *o = json_object();

	json_object_set_new(o, "bugs", json_integer((json_int_t)(a->norigins + a->nlibrary)));
	for (int s = 0; s < REPAIR_STATUSES; s++)
		json_object_set_new(o, words[s], json_integer((json_int_t)a->n[s]));
	return o;
}

void account_write(const struct account *a, const char *path)
{
	json_t *top = json_object(), *bugs = json_array(), *libraries = json_array(), *cures = json_object();
	struct whole_file file;
	struct error err;

	set_text(top, "pmend", PMEND_VERSION);
	set_text(top, "report", a->f->report_path);
	json_object_set_new(top, "counts", counts_json(a));
	for (size_t i = 0; i < a->norigins; i++)
		json_array_append_new(bugs, bug_json(a, i));
	json_object_set_new(top, "bugs", bugs);
	for (size_t i = 0; i < report_nlibraries(a->f->report); i++)
		json_array_append_new(libraries, library_json(a, i));
	json_object_set_new(top, "libraries", libraries);
	json_object_set_new(cures, "tried", json_integer((json_int_t)a->f->effort.ntried));
	json_object_set_new(cures, "failed", json_integer((json_int_t)a->f->effort.nfailed));
	json_object_set_new(cures, "runs", json_integer((json_int_t)a->f->effort.nruns));
	json_object_set_new(top, "cures", cures);
	whole_file_begin(&file, path);
	json_dumpf(top, file.out, JSON_INDENT(2));
	putc('\n', file.out);
	json_decref(top);
	if (whole_file_end(&file, &err) < 0)
		die("%s", err.msg);
}
