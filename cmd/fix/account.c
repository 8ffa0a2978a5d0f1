/* Reports the outcome of each bug: fixed, left, or not applicable. The text has one line per bug,
 * counted as in the report; JSON also has each finding under a bug. A bug is fixed if all call
 * paths to it are fixed, and all findings of the same cause. */
#include "cmd/fix/account.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "util/alloc.h"
#include "util/whole_file.h"

static const char *const words[] = { [REPAIR_MENDED] = "fixed",
				     [REPAIR_DECLINED] = "left",
				     [REPAIR_NOT_APPLICABLE] = "not applicable" };
static const char *const library_text = "inside the library; --libraries lists what it is";

static const char *s_of(size_t n)
{
	return n == 1 ? "" : "s";
}

static int rank(enum repair_status s)
{
	return s == REPAIR_DECLINED ? 2 : s == REPAIR_NOT_APPLICABLE;
}

/* Is the finding left out, because --only asks for others? */
static bool is_left_out(const struct account *a, size_t origin)
{
	return a->f->bugs[a->shown[origin]]->is_left_out;
}

/* Counts bugs as the report does: a bug includes the findings under it. */
static void count_bugs(struct account *a)
{
	const struct report *r = a->f->report;
	bool *is_left = xcalloc(a->norigins + 1, sizeof *is_left),
	     *is_mended = xcalloc(a->norigins + 1, sizeof *is_mended);

	for (size_t i = 0; i < report_nbugs(r); i++) {
		size_t cause = report_origin_cause(r, i),
		       bug = cause != REPORT_NO_CAUSE ? cause : report_origin(r, i);

		is_left[bug] |= repair_outcome(a->f->repair, i).status == REPAIR_DECLINED;
		is_mended[bug] |= repair_outcome(a->f->repair, i).status == REPAIR_MENDED;
	}
	for (size_t i = 0; i < a->norigins; i++) {
		if (report_origin_cause(r, a->shown[i]) != REPORT_NO_CAUSE)
			continue;
		if (is_left_out(a, i)) {
			a->nleft_out++;
			continue;
		}
		a->nbugs++;
		a->npartly += is_left[i] && is_mended[i];
		a->nbugs_by[is_left[i] ? REPAIR_DECLINED
				       : repair_outcome(a->f->repair, a->shown[i]).status]++;
	}
	free(is_left);
	free(is_mended);
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

		if (*shown == nbugs || rank(repair_outcome(f->repair, i).status) >
					       rank(repair_outcome(f->repair, *shown).status))
			*shown = i;
	}
	for (size_t i = 0; i < a->norigins; i++) {
		enum repair_status status = repair_outcome(f->repair, a->shown[i]).status;
		enum bug_severity severity = report_bug(f->report, a->shown[i])->severity;

		if (is_left_out(a, i))
			continue;
		a->n[status]++;
		a->nfailing += status == REPAIR_DECLINED &&
			       (severity == BUG_CORRECTNESS || f->fail_on.severity[severity]);
	}
	for (size_t i = 0; !f->only.n && i < report_nlibraries(f->report); i++) {
		size_t n;

		report_library(f->report, i, &n);
		a->nlibrary += n;
	}
	a->n[REPAIR_NOT_APPLICABLE] += a->nlibrary;
	count_bugs(a);
}

void account_release(struct account *a)
{
	free(a->shown);
}

/* ---- text ---- */

/* Says what would help against a bug that is left; NULL if that was said already. */
static const char *help_of(const struct report *r, const struct bug *b,
			   const struct repair_outcome *o)
{
	if (o->status != REPAIR_DECLINED)
		return NULL;
	return o->help ? (*o->help ? o->help : NULL) : report_advice(r, b);
}

/* Makes the line of a bug. more: text behind the outcome's word. */
static char *line_of(const struct account *a, size_t i, const char *more)
{
	const struct bug *b = report_bug(a->f->report, i);
	const struct bug_frame *at = bug_frame(b);
	struct repair_outcome o = repair_outcome(a->f->repair, i);
	const char *help = *o.text ? help_of(a->f->report, b, &o) : NULL;

	return xasprintf("%s:%u: %s: %s%s: %s%s%s", at && at->file ? at->file : "?",
			 at ? at->line : 0, b->kind, words[o.status], more, o.text,
			 !help                               ? ""
			 : o.text[strlen(o.text) - 1] == '?' ? " "
							     : ". ",
			 help ? help : "");
}

/* Was another call path of the same bug with the same outcome printed already? */
static bool is_told(const struct account *a, size_t i)
{
	char *line = line_of(a, i, "");
	bool is_told = false;

	for (size_t k = 0; k < i && !is_told; k++)
		if (report_origin(a->f->report, k) == report_origin(a->f->report, i)) {
			char *other = line_of(a, k, "");

			is_told = strcmp(line, other) == 0;
			free(other);
		}
	free(line);
	return is_told;
}

static void tell_line(const struct account *a, size_t i, const char *indent, const char *more)
{
	char *line = is_told(a, i) ? NULL : line_of(a, i, more);

	if (line) {
		escape_printf(stderr, "%s%s", indent, line);
		fputc('\n', stderr);
	}
	free(line);
}

static enum repair_status status_of(const struct account *a, size_t origin)
{
	return repair_outcome(a->f->repair, a->shown[origin]).status;
}

/* Says how many more findings of the same cause have this outcome; "" if none has. */
static char *more_of(const struct account *a, size_t origin)
{
	size_t n = 0, nsame = 0;

	for (size_t k = 0; k < a->norigins; k++) {
		bool is_of_it = report_origin_cause(a->f->report, a->shown[k]) == origin;

		n += is_of_it;
		nsame += is_of_it && status_of(a, k) == status_of(a, origin);
	}
	if (nsame == 0)
		return xstrdup("");
	return nsame == n
		       ? xasprintf(", with %zu more finding%s of the same cause", n, s_of(n))
		       : xasprintf(", with %zu of %zu more findings of the same cause", nsame, n);
}

/* Prints a bug. Findings under it with another outcome get lines of their own. */
static void tell_bug(const struct account *a, size_t origin)
{
	const struct report *r = a->f->report;
	char *more = more_of(a, origin);

	for (size_t i = 0; i < report_nbugs(r); i++)
		if (report_origin(r, i) == origin)
			tell_line(a, i, "", i == a->shown[origin] ? more : "");
	for (size_t i = 0; i < report_nbugs(r); i++)
		if (report_origin_cause(r, i) == origin &&
		    status_of(a, report_origin(r, i)) != status_of(a, origin))
			tell_line(a, i, "  ", "");
	free(more);
}

static void tell_bugs(const struct account *a)
{
	for (size_t i = 0; i < a->norigins; i++)
		if (report_origin_cause(a->f->report, a->shown[i]) == REPORT_NO_CAUSE &&
		    !is_left_out(a, i))
			tell_bug(a, i);
	for (size_t i = 0; !a->f->only.n && i < report_nlibraries(a->f->report); i++) {
		size_t nbugs;
		const char *library = report_library(a->f->report, i, &nbugs);

		escape_printf(stderr, "%s: %zu finding%s: not applicable: %s", library, nbugs,
			      s_of(nbugs), library_text);
		fputc('\n', stderr);
	}
}

/* Says what the patch does, for example how many flushes and fences it adds; leaves out what the
 * patch does not do. */
static void tell_patch(const struct repair *r, bool is_page_cache)
{
	const struct {
		size_t n;
		const char *one, *several, *done;
	} parts[] = {
		{ repair_nflushes(r) + (is_page_cache ? repair_nsyncs(r) : 0),
		  is_page_cache ? "sync" : "flush", is_page_cache ? "syncs" : "flushes", "added" },
		{ is_page_cache ? 0 : repair_nsyncs(r), "sync", "syncs", "added" },
		{ repair_nfences(r), "fence", "fences", "added" },
		{ repair_namended(r), "flush", "flushes", "corrected" },
		{ repair_nlogs(r), "range", "ranges", "logged" },
		{ repair_ntransactions(r), "transaction", "transactions", "added" },
		{ repair_nremoved(r), "redundant statement", "redundant statements", "removed" },
	};
	size_t nfiles = repair_nfiles(r);
	char *text = xstrdup("");

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char *longer =
			parts[i].n
				? xasprintf("%s%s%zu %s %s", text, *text ? ", " : ": ", parts[i].n,
					    parts[i].n == 1 ? parts[i].one : parts[i].several,
					    parts[i].done)
				: NULL;

		if (!longer)
			continue;
		free(text);
		text = longer;
	}
	if (nfiles)
		warn("the patch changes %zu file%s%s", nfiles, s_of(nfiles), text);
	free(text);
}

void account_tell(const struct account *a)
{
	size_t total = a->nbugs + a->nleft_out;
	char *partly =
		a->npartly ? xasprintf(" (%zu of them fixed in part)", a->npartly) : xstrdup("");
	char *of = a->nleft_out ? xasprintf(" of %zu", total) : xstrdup("");

	tell_bugs(a);
	tell_patch(a->f->repair, a->f->options.is_page_cache);
	warn("%zu%s finding%s in the report: %zu fixed, %zu left%s, %zu not applicable", a->nbugs,
	     of, s_of(total), a->nbugs_by[REPAIR_MENDED], a->nbugs_by[REPAIR_DECLINED], partly,
	     a->nbugs_by[REPAIR_NOT_APPLICABLE]);
	free(of);
	free(partly);
}

/* ---- JSON ---- */

static void set_text(json_t *o, const char *key, const char *s)
{
	json_t *text = s ? json_string(s) : NULL;

	if (s) /* text that is not UTF-8 is left out */
		json_object_set_new(o, key, text ? text : json_null());
}

static void set_outcome(json_t *o, const struct report *r, const struct bug *b,
			const struct repair_outcome *outcome)
{
	set_text(o, "outcome", words[outcome->status]);
	set_text(o, "why", outcome->text);
	set_text(o, "help", help_of(r, b, outcome));
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
		set_outcome(o, a->f->report, report_bug(a->f->report, i), &outcome);
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
	set_outcome(o, a->f->report, b, &outcome);
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
	size_t n = 0;

	for (int s = 0; s < REPAIR_STATUSES; s++)
		n += a->n[s];
	json_object_set_new(o, "bugs", json_integer((json_int_t)n));
	for (int s = 0; s < REPAIR_STATUSES; s++)
		json_object_set_new(o, words[s], json_integer((json_int_t)a->n[s]));
	return o;
}

void account_write(const struct account *a, const char *path)
{
	json_t *top = json_object(), *bugs = json_array(), *libraries = json_array(),
	       *cures = json_object();
	struct whole_file file;
	struct error err;

	set_text(top, "pmend", PMEND_VERSION);
	set_text(top, "report", a->f->report_path);
	json_object_set_new(top, "counts", counts_json(a));
	for (size_t i = 0; i < a->norigins; i++)
		if (!is_left_out(a, i))
			json_array_append_new(bugs, bug_json(a, i));
	json_object_set_new(top, "bugs", bugs);
	for (size_t i = 0; !a->f->only.n && i < report_nlibraries(a->f->report); i++)
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
