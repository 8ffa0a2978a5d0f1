/* Judges the run of one input: how the program ended, what the oracles say, and what recovery makes
 * of its crashes. Crashes are explored only if the run modified persistent memory with code that
 * had not done so before. Of an input that was recorded under several orders of threads, each is
 * judged, and crashes of each are explored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore/session/rerun.h"
#include "explore/session/slots.h"
#include "account/causes/causes.h"
#include "account/evidence/evidence.h"
#include "session/platforms.h"
#include "util/files.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/proc.h"

/* Gives the size of the input without the zeros at its end. */
static uint64_t input_size(const struct exploring *x, const uint8_t *bytes)
{
	size_t n = x->parts.len_bytes;

	while (n && !bytes[n - 1])
		n--;
	return n;
}

/* Adds what a report of this input has to that of all. */
static void bugs_add(struct exploring *x, const struct report *r, const struct slot *s)
{
	const struct rerun_options options = { &x->checking.recording,
					       s->schedules ? schedules_number(s->schedules) : 0,
					       x->schedule_seed };
	char *file = exploring_input_file(x, x->nruns),
	     *command = rerun_command(&x->parts, s->in.bytes, x->shown, file, &options);
	const struct bug_input input = { file, command, input_size(x, s->in.bytes), file };

	report_add_run(x->report, r, &input);
	x->nbugs += report_count(r, BUG_CORRECTNESS);
	free(command);
	free(file);
}

static void failure_add(struct report *r, const char *kind, char *message)
{
	const struct bug b = { .kind = kind, .severity = BUG_CORRECTNESS, .message = message };

	report_add(r, &b);
	free(message);
}

/* Adds to the report how the program ended, if that is a bug. A schedule that took too long is
 * none: threads that wait for each other without a call can be slow in some orders. */
static void ending_judge(struct exploring *x, const struct slot *s, const struct slot_recording *of,
			 struct report *r)
{
	char name[64];

	if (of->end == BOUNDED_KILLED)
		failure_add(r, "program-crash",
			    xasprintf("The program is killed by %s on this input.",
				      proc_signal_name(of->status, name, sizeof name)));
	else if (of->end == BOUNDED_HUNG && of == s->recordings.at)
		failure_add(
			r, "program-hang",
			xasprintf(
				"The program does not end within %u seconds (--timeout) on this input.",
				x->timeout_ms / 1000));
	else if (of->end == BOUNDED_FLOODED)
		x->nflooded++; /* pmend's own limit, not a bug */
}

static bool modifies_pm(enum pmt_kind k)
{
	return trace_is_store(k) || trace_is_flush(k) || k == PMT_SFENCE || k == PMT_MFENCE ||
	       k == PMT_DSB;
}

/* Finds the call in the user's code that led to an instruction in a library. NULL: the instruction
 * is in no library, or there is no such call. */
static const struct trace_node *user_call(const struct trace_site *site)
{
	const struct trace_node *n = site->node;

	if (!objects_is_library(site->object->path))
		return NULL;
	while (n && (!n->object || objects_is_library(n->object->path)))
		n = n->parent;
	return n && !n->is_signal ? n : NULL;
}

static uint64_t site_offset(const struct trace_site *site)
{
	return site->pc - site->object->va + site->object->offset;
}

static uint64_t call_offset(const struct trace_node *n)
{
	return n->pc - 1 - n->object->va + n->object->offset;
}

/* Notes the instruction, and if it is in a library, the call in the user's code that led there. 1
 * if one of them is new. */
static int site_note(struct exploring *x, const struct trace_site *site, struct error *err)
{
	const struct trace_node *n = user_call(site);
	int noted = exploring_note_pm(x, site->object->path, site_offset(site), err), called = 0;

	if (noted >= 0 && n)
		called = exploring_note_pm(x, n->object->path, call_offset(n), err);
	return noted < 0 || called < 0 ? -1 : noted | called;
}

static bool site_is_new(struct exploring *x, const struct trace_site *site)
{
	const struct trace_node *n = user_call(site);

	return !explore_is_covered(x->explore, site->object->path, site_offset(site)) ||
	       (n && !explore_is_covered(x->explore, n->object->path, call_offset(n)));
}

/* Calls for each place of the trace that modified PM, until the result is not 0. Gives that; 0 also
 * for a trace that cannot be read, because judging it will report that. */
static int each_pm_site(struct exploring *x, const char *trace,
			int (*each)(struct exploring *x, const struct trace_site *site, void *arg),
			void *arg)
{
	struct trace_event ev;
	struct error ignored;
	struct map seen = { 0 }; /* site ids */
	struct trace *t;
	int result = 0;

	if (trace_open(&t, trace, &ignored) < 0)
		return 0;
	while (result == 0 && trace_next(t, &ev)) {
		if (!ev.site || !ev.site->object || !ev.site->pc || !modifies_pm(ev.kind) ||
		    map_get(&seen, ev.site->id))
			continue;
		map_set(&seen, ev.site->id, t);
		result = each(x, ev.site, arg);
	}
	map_release(&seen);
	trace_close(t);
	return result;
}

struct noting {
	bool is_new;
	struct error *err;
};

static int note_site(struct exploring *x, const struct trace_site *site, void *arg)
{
	struct noting *n = arg;
	const int noted = site_note(x, site, n->err);

	n->is_new |= noted > 0;
	return noted < 0 ? -1 : 0;
}

/* Notes all instructions of the trace that modified PM. 1: one of them had not done so in any
 * earlier run. */
static int pm_note(struct exploring *x, const char *trace, struct error *err)
{
	struct noting n = { .err = err };

	return each_pm_site(x, trace, note_site, &n) < 0 ? -1 : n.is_new;
}

static int look_at_site(struct exploring *x, const struct trace_site *site, void *arg)
{
	(void)arg;
	return site_is_new(x, site);
}

bool exploring_is_new(struct exploring *x, const char *trace)
{
	return each_pm_site(x, trace, look_at_site, NULL) != 0;
}

/* Adds timelines to the findings of the report. If that fails, the findings stay without them. */
static void evidence_look(struct exploring *x, struct report *r, const char *trace)
{
	struct error why;

	if (report_nbugs(r) > 0 && evidence_add(r, trace, &x->checking.libraries, &why) < 0)
		notes_say(x->notes, "the report shows no timeline of some findings: %s", why.msg);
}

/* Makes a finished report about the trace. kept: the name that the trace gets if it is needed.
 * *is_needed: replays read it. */
static struct report *trace_judge(struct exploring *x, const struct slot_recording *of,
				  const char *kept, bool *is_needed, struct error *err)
{
	const int is_new = pm_note(x, of->trace, err);
	const bool wants_crashes = x->wants_crashes && (is_new > 0 || of->schedule > 1);
	struct platform_traces traces = { 0 };
	bool is_complete, is_whole;
	struct report *r;
	int found = 0;

	if (is_new < 0)
		return NULL;
	x->has_pm = true;
	x->crash.options.may_lack_news = true; /* other inputs may do more */
	*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(of->trace) };
	r = checking_judge(&x->checking, &traces, &is_complete, err);
	if (r && wants_crashes)
		found = crashing_explore(&x->crash, of->trace, kept, r, &is_whole, err);
	if (r && found >= 0) {
		causes_fold(r, of->trace, &x->checking.libraries, wants_crashes ? &x->crash : NULL);
		report_finish(r);
		evidence_look(x, r, of->trace);
	} else {
		report_free(r);
		r = NULL;
	}
	platform_traces_release(&traces);
	*is_needed = found > 0;
	return r;
}

/* Adds a finished report about a recording to what is known of the input; frees it. */
static void report_take(struct exploring *x, const struct slot *s, const struct slot_recording *of,
			struct report *r, const char *kept, bool is_needed)
{
	if (s->schedules)
		is_needed = of->nfiles > 0 && schedules_is_new(s->schedules, r);
	if (is_needed && copy_file(of->trace, kept) < 0)
		notes_say(x->notes, "cannot keep the trace as %s", kept);
	if (s->schedules) {
		schedules_add(s->schedules, of->schedule, r, kept);
		return;
	}
	bugs_add(x, r, s);
	report_free(r);
}

static int recording_judge(struct exploring *x, const struct slot *s,
			   const struct slot_recording *of, struct error *err)
{
	char *kept = exploring_trace_file(x, x->nruns, of->schedule);
	struct report *ending = exploring_report(x), *r = NULL;
	bool is_needed = false;

	ending_judge(x, s, of, ending);
	report_finish(ending);
	report_take(x, s, of, ending, kept, false);
	if (of->nfiles)
		r = trace_judge(x, of, kept, &is_needed, err);
	if (r)
		report_take(x, s, of, r, kept, is_needed);
	free(kept);
	return of->nfiles && !r ? -1 : 0;
}

int exploring_judge(struct exploring *x, const struct slot *s, struct error *err)
{
	struct report *all;
	int result = 0;

	x->new_pm = 0;
	for (size_t i = 0; result == 0 && i < s->recordings.n; i++)
		result = recording_judge(x, s, &s->recordings.at[i], err);
	if (result == 0 && s->schedules) {
		all = schedules_report(s->schedules);
		report_finish(all);
		bugs_add(x, all, s);
		report_free(all);
	}
	if (result == 0)
		exploring_found(x, explore_stats(x->explore).runs + 1,
				exploring_input_file(x, x->nruns), x->new_pm);
	return result;
}
