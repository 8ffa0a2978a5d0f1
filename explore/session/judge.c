/* Judges the run of one input: how the program ended, what the oracles say, and what recovery makes
 * of its crashes. Crashes are explored only if the run modified persistent memory with code that
 * had not done so before. */
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

static void bugs_add(struct exploring *x, const struct report *r, const struct explore_input *in)
{
	char *file = exploring_input_file(x, x->nruns),
	     *command = rerun_command(&x->parts, in->bytes, x->shown, file);
	const struct bug_input input = { file, command, input_size(x, in->bytes), file };

	report_add_run(x->report, r, &input);
	x->nbugs += report_count(r, BUG_CORRECTNESS);
	free(command);
	free(file);
}

static void failure_add(struct exploring *x, const char *kind, const char *message,
			const struct explore_input *in)
{
	char *file = exploring_input_file(x, x->nruns),
	     *command = rerun_command(&x->parts, in->bytes, x->shown, file);
	const struct bug_input input = { file, command, input_size(x, in->bytes), file };
	const struct bug b = {
		.kind = kind, .severity = BUG_CORRECTNESS, .message = message, .input = &input
	};

	report_add(x->report, &b);
	x->nbugs++;
	free(command);
	free(file);
}

static void ending_judge(struct exploring *x, const struct slot *s)
{
	char name[64], *message = NULL;

	if (s->end == BOUNDED_KILLED) {
		message = xasprintf("The program is killed by %s on this input.",
				    proc_signal_name(s->status, name, sizeof name));
		failure_add(x, "program-crash", message, &s->in);
	} else if (s->end == BOUNDED_HUNG) {
		message = xasprintf(
			"The program does not end within %u seconds (--timeout) on this input.",
			s->program.timeout_ms / 1000);
		failure_add(x, "program-hang", message, &s->in);
	} else if (s->end == BOUNDED_FLOODED) {
		x->nflooded++; /* pmend's own limit, not a bug */
	}
	free(message);
}

static bool modifies_pm(enum pmt_kind k)
{
	return trace_is_store(k) || trace_is_flush(k) || k == PMT_SFENCE || k == PMT_MFENCE ||
	       k == PMT_DSB;
}

/* Notes the instruction, and if it is in a library, the call in the user's code that led there. 1
 * if one of them is new. */
static int site_note(struct exploring *x, const struct trace_site *site, struct error *err)
{
	const struct trace_object *o = site->object;
	const struct trace_node *n = site->node;
	int noted = exploring_note_pm(x, o->path, site->pc - o->va + o->offset, err), called;

	if (noted < 0 || !objects_is_library(o->path))
		return noted;
	while (n && (!n->object || objects_is_library(n->object->path)))
		n = n->parent;
	if (!n || n->is_signal)
		return noted;
	called = exploring_note_pm(x, n->object->path,
				   n->pc - 1 - n->object->va + n->object->offset, err);
	return called < 0 ? -1 : noted | called;
}

/* Notes all instructions of the trace that modified PM. 1: one of them had not done so in any
 * earlier run. Ignores a trace that cannot be read, because judging it will report that. */
static int pm_note(struct exploring *x, const char *trace, struct error *err)
{
	struct trace_event ev;
	struct error ignored;
	struct map seen = { 0 }; /* site ids */
	struct trace *t;
	int noted = 0, result = 0;

	if (trace_open(&t, trace, &ignored) < 0)
		return 0;
	while (noted >= 0 && trace_next(t, &ev)) {
		if (!ev.site || !ev.site->object || !ev.site->pc || !modifies_pm(ev.kind) ||
		    map_get(&seen, ev.site->id))
			continue;
		map_set(&seen, ev.site->id, t);
		noted = site_note(x, ev.site, err);
		if (noted != 0)
			result = noted;
	}
	map_release(&seen);
	trace_close(t);
	return result;
}

/* Runs recovery on the crash states of this run. Keeps the recording for replays if there is a
 * bug. */
static int explore_crashes(struct exploring *x, const char *trace, struct report *r,
			   struct error *err)
{
	char *kept = exploring_trace_file(x, x->nruns);
	bool is_whole;
	int found;

	x->crash.options.may_lack_news = true; /* other inputs may do more */
	found = crashing_explore(&x->crash, trace, kept, r, &is_whole, err);
	if (found > 0 && copy_file(trace, kept) < 0)
		notes_say(x->notes, "cannot keep the trace as %s", kept);
	free(kept);
	return found < 0 ? -1 : 0;
}

/* Adds timelines to the findings of the report. If that fails, the findings stay without them. */
static void evidence_look(struct exploring *x, struct report *r, const char *trace)
{
	struct error why;

	if (report_nbugs(r) > 0 && evidence_add(r, trace, &x->checking.libraries, &why) < 0)
		notes_say(x->notes, "the report shows no timeline of some findings: %s", why.msg);
}

static int trace_judge(struct exploring *x, const struct slot *s, struct error *err)
{
	struct platform_traces traces = { 0 };
	bool is_complete;
	struct report *r;
	int is_new, result = -1;

	x->has_pm = true;
	is_new = pm_note(x, s->trace, err);
	if (is_new < 0)
		return -1;
	*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(s->trace) };
	r = checking_judge(&x->checking, &traces, &is_complete, err);
	if (r && (!x->wants_crashes || !is_new || explore_crashes(x, s->trace, r, err) == 0)) {
		causes_fold(r, s->trace, &x->checking.libraries,
			    x->wants_crashes && is_new ? &x->crash : NULL);
		report_finish(r);
		evidence_look(x, r, s->trace);
		bugs_add(x, r, &s->in);
		result = 0;
	}
	report_free(r);
	platform_traces_release(&traces);
	return result;
}

int exploring_judge(struct exploring *x, const struct slot *s, struct error *err)
{
	x->new_pm = 0;
	ending_judge(x, s);
	if (s->nfiles && trace_judge(x, s, err) < 0)
		return -1;
	exploring_found(x, explore_stats(x->explore).runs + 1, exploring_input_file(x, x->nruns),
			x->new_pm);
	return 0;
}
