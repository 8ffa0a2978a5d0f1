/* Runs the oracles over a trace and makes a report of their findings, with the source lines of each
 * place. Oracles that know only at the end what to look for see the events a second time. */
#include "account/check_report.h"

#include <stdlib.h>
#include <string.h>

#include "account/recorded.h"
#include "source/locate.h"
#include "util/alloc.h"
#include "util/vec.h"

typedef VEC(struct bug_frame) frames;

/* Appends the stack of a site; its first frame's index is the list's length before. library: the
 * PMDK library that did this by itself, or NULL. is_at_call: shows the call of a function that
 * flushes for others, not its inside. */
static void add_stack(struct locator *l, const struct trace_site *site, frames *all,
		      struct bug_location *where, bool is_at_call, const char **library)
{
	const struct frame *list;
	size_t n = locate_stack(l, site, &list);

	where->nframes = n;
	where->shown = locate_place(l, list, n);
	where->nsetters = n ? where->shown - locate_shown(l, list, n) : 0;
	*library = locate_decider(list, where->shown);
	if (n > 0 && is_at_call) {
		where->nsetters = 0;
		where->shown = locate_call(l, list, n, locate_shown(l, list, n));
	}
	for (size_t i = 0; i < n; i++) {
		struct bug_frame *f = vec_add(all);

		*f = bug_frame_of(list[i].symbol);
		f->is_signal = list[i].is_signal;
	}
}

static bool is_flush_or_fence(const char *role)
{
	return strcmp(role, "flush") == 0 || strcmp(role, "fence") == 0;
}

void check_report_add(struct report *r, struct locator *l, const struct finding *f)
{
	struct bug_location where[FINDING_MAX_PLACES] = { 0 };
	const struct bug_kind *kind = bug_kind_find(f->kind);
	const enum bug_severity usual = kind                                 ? kind->severity
					: f->severity == FINDING_PERFORMANCE ? BUG_PERFORMANCE
									     : BUG_CORRECTNESS;
	struct bug b = { .kind = f->kind,
			 .severity = f->reason ? BUG_WARNING : usual,
			 .message = f->message,
			 .advice = f->advice,
			 .reason = f->reason,
			 .count = f->count,
			 .executions = f->executions,
			 .first_seq = f->first_seq,
			 .locations = where,
			 .nlocations = f->nplaces };
	const char *profiles[FILES_PROFILES];
	frames all = { 0 };
	const char *library;
	size_t at = 0;

	b.nprofiles = recorded_profiles(f->profiles, profiles);
	b.profiles = profiles;
	for (size_t i = 0; i < f->nplaces; i++) {
		where[i].role = f->places[i].role;
		where[i].seq = i == 0 ? f->first_seq : 0;
		where[i].site = f->places[i].site ? f->places[i].site->id : 0;
		add_stack(l, f->places[i].site, &all, &where[i], strcmp(f->kind, FLUSH_CLEAN) == 0,
			  &library);
		if (i == 0 && usual == BUG_PERFORMANCE && is_flush_or_fence(where[i].role))
			b.library = library;
	}
	for (size_t i = 0; i < f->nplaces; i++) {
		where[i].frames = where[i].nframes ? all.at + at : NULL;
		at += where[i].nframes;
	}
	(f->is_cut ? report_add_unflushed : report_add)(r, &b);
	vec_release(&all);
}

/* What was counted in one pass over the trace. */
struct counted {
	uint64_t nevents, nold_bytes, ntrusted;
	size_t ncandidates;
	const struct trace_site *last; /* the last site; NULL: no event had one */
	bool has_store;
};

/* Makes the note that the report has about the recording, such as the name of a file that was not
 * compared with the trace. free() it; NULL: there is nothing to note. */
static char *note_of(const struct trace *t, const struct counted *n, enum files_profile profile)
{
	char *uncompared = recorded_uncompared(t), *old = recorded_old_bytes(t, n->nold_bytes),
	     *files = recorded_files(t, profile), *note = NULL, *longer;
	char *candidates = recorded_candidates(n->ncandidates);
	const char *parts[] = { old, files, candidates,
				n->ntrusted                ? recorded_trusted
				: trace_meta(t, "sandbox") ? recorded_sandbox
							   : uncompared };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!parts[i])
			continue;
		longer = xasprintf("%s%s%s", note ? note : "", note ? ". " : "", parts[i]);
		free(note);
		note = longer;
	}
	free(uncompared);
	free(files);
	free(old);
	free(candidates);
	return note;
}

static void describe(struct report *r, const struct trace *t, const struct check_options *o,
		     const struct counted *n)
{
	const char *missing =
		recorded_loss(t) ? recorded_loss(t)
		: n->has_store   ? trace_unseen(t)
		: trace_meta(t, "files")
			? "the program changed no file below --files, and stored nothing to persistent memory"
			: "the program stored nothing to persistent memory";
	char *note = note_of(t, n, o->profile), *cut_short = recorded_cut_short(t);
	struct report_coverage coverage = { .events = n->nevents,
					    .note = note,
					    .is_complete = !missing,
					    .why_incomplete = missing };

	report_set_platform(r, o->platform->name);
	report_set_platform_chosen(r, o->is_platform_chosen);
	if (!o->is_for_all && trace_meta(t, "files"))
		recorded_set_files(r, t, o->profile);
	recorded_add_command(r, t);
	report_set_coverage(r, &coverage);
	if (cut_short)
		report_add_reason(r, cut_short);
	free(cut_short);
	free(note);
}

/* Passes the events of the trace to the oracles once more, for those that know only at the end what
 * to look for. */
static void read_again(struct check *c, const struct trace *trace, uint64_t nevents)
{
	struct trace_event ev;
	struct trace *t;

	if (!check_wants_again(c))
		return;
	t = trace_cursor(trace);
	check_again(c);
	while (nevents-- && trace_next(t, &ev))
		check_event(c, &ev);
	check_finish_again(c);
	trace_close(t);
}

/* Notes which functions flush for others; debug information is read only if somebody asks. */
static void note_served(struct locator *l, const struct check *c)
{
	bool is_asked = false;

	for (size_t i = 0; i < check_nfindings(c); i++)
		is_asked |= strcmp(check_finding(c, i)->kind, FLUSH_CLEAN) == 0;
	for (size_t i = 0; is_asked && i < check_nserved(c); i++)
		locate_note_served(l, check_served(c, i)->flush, check_served(c, i)->store);
}

/* Does the profile of files that the user asked for have the finding? */
static bool is_wanted(const struct finding *f, const struct check_options *o)
{
	return f->profiles == 0 || (f->profiles & 1u << o->profile);
}

struct report *check_report_make(const struct trace *trace, const struct check_options *o,
				 const struct libraries *libraries, bool *is_complete,
				 struct error *err)
{
	struct trace *t = trace_cursor(trace);
	struct locator *l = locator_new(t, libraries);
	struct check_options own = *o;
	struct check *c;
	struct trace_event ev;
	struct report *r = NULL;
	struct counted n = { 0 };
	followed_files followed = followed_of(trace);

	own.is_same_line = locate_is_same_line;
	own.line_arg = l;
	own.followed = &followed;
	c = check_new(&own, err);
	if (!c)
		goto out;
	while (trace_next(t, &ev)) {
		check_event(c, &ev);
		n.has_store |= trace_is_store(ev.kind) || ev.kind == PMT_MOVE ||
			       ev.kind == PMT_UNNAME ||
			       (ev.kind == PMT_NAME && ev.arg[2] != PMT_NAMED_BEFORE);
		n.nold_bytes += ev.kind == PMT_OLD ? trace_old_len(&ev) : 0;
		n.last = ev.site ? ev.site : n.last;
		n.nevents++;
	}
	check_finish(c);
	read_again(c, t, n.nevents);
	r = report_new();
	note_served(l, c);
	for (size_t i = 0; i < check_nfindings(c); i++)
		if (is_wanted(check_finding(c, i), o))
			check_report_add(r, l, check_finding(c, i));
	n.ntrusted = check_ntrusted(c);
	n.ncandidates = o->is_schedule ? 0 : check_ncandidates(c);
	describe(r, t, o, &n);
	for (size_t i = 0; libraries && i < libraries->n; i++)
		report_add_library_glob(r, libraries->globs[i]);
	recorded_add_ending(r, t, check_cut(c), n.last);
	*is_complete = !recorded_loss(t);
	check_free(c);
out:
	vec_release(&followed);
	locator_free(l);
	trace_close(t);
	return r;
}
