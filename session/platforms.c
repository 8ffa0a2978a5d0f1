/* Records and checks on every platform: chooses a trace that is valid for each platform, records
 * again where none is, and makes one report. If a platform cannot be checked, the report says
 * why. */
#include "session/platforms.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/machine.h"
#include "pools/restore.h"
#include "pools/unseen/sums.h"
#include "check/platform_choice.h"
#include "account/check_report.h"

static size_t platform_index(const struct platform *p)
{
	size_t i = 0;

	while (platforms[i] != p)
		i++;
	return i;
}

const struct trace *platform_trace_open(struct platform_trace *t, struct error *err)
{
	if (!t->trace && (sums_settle(t->path, err) < 0 || trace_open(&t->trace, t->path, err) < 0))
		t->trace = NULL;
	return t->trace;
}

/* Finds a trace that shows what the program does on p; NULL if there is none, with the last reason
 * in err. */
static const struct platform_trace *trace_for(const struct platform_traces *t,
					      const struct platform *p, struct error *err)
{
	for (size_t i = 0; i < t->list.n; i++) {
		const struct trace *trace = platform_trace_open(&t->list.at[i], err);

		if (trace && platform_serves(trace, t->list.at[i].platform, p, err) == 0)
			return &t->list.at[i];
	}
	return NULL;
}

int platform_traces_add(struct platform_traces *t, const char *path, struct error *err)
{
	struct platform_trace *added = vec_add(&t->list);

	*added = (struct platform_trace){ .path = xstrdup(path) };
	if (!platform_trace_open(added, err))
		return -1;
	added->platform = platform_recorded(added->trace, err);
	return added->platform ? 0 : -1;
}

/* ---- recording ---- */

static enum recorded record(struct platform_traces *t, const struct recording *how,
			    const struct platform *p, char **target, const char *folder,
			    struct error *err)
{
	struct platform_trace trace = { .path = xasprintf("%s/%s.pmt", folder, p->name),
					.platform = machine_recording(p) };
	struct recording r = *how;
	enum recorded status;

	r.platform = p;
	r.output = trace.path;
	status = recording_run(&r, target, err);
	if (status == RECORDED_WELL || status == RECORDED_FAILURE || status == RECORDED_STOPPED) {
		*vec_add(&t->list) = trace;
	} else {
		unlink(trace.path);
		free(trace.path);
	}
	return status;
}

static void trace_release(struct platform_trace *t)
{
	trace_close(t->trace);
	free(t->path);
}

static void forget_last(struct platform_traces *t)
{
	struct platform_trace *last = &t->list.at[--t->list.n];

	unlink(last->path);
	trace_release(last);
}

/* Records for another platform. why: NULL if it worked; otherwise the reason. */
static int record_again(struct platform_traces *t, const struct recording *how,
			const struct platform *p, char **target, const char *folder, char **why,
			struct error *err)
{
	struct restore *files;
	struct error failed;
	enum recorded status;

	*why = NULL;
	files = restore_begin(t->list.at[0].path, &failed);
	if (!files) {
		*why = xasprintf("the program cannot be run again from the same state: %s",
				 failed.msg);
		return 0;
	}
	notes_say(how->notes, "running the program once more, for %s", p->name);
	status = record(t, how, p, target, folder, err);
	if (status == RECORDED_FAILURE || status == RECORDED_STOPPED)
		forget_last(t);
	if (restore_end(files, status == RECORDED_WELL, &failed) < 0)
		notes_say(how->notes, "%s", failed.msg);
	if (status > 0)
		*why = xstrdup(
			"the program failed when it was run again; its files are as the first run left them");
	return status == RECORDED_NOTHING ? -1 : 0;
}

enum recorded platform_traces_record(struct platform_traces *t, const struct recording *how,
				     bool is_all, char **target, const char *folder,
				     struct error *err)
{
	enum recorded status = record(t, how, how->platform, target, folder, err);
	struct error ignored;

	for (size_t i = 0; t->list.n > 0 && status != RECORDED_STOPPED && is_all && platforms[i];
	     i++) {
		char *why = NULL;

		if (!machine_has(platforms[i]) || platforms[i]->is_variant ||
		    trace_for(t, platforms[i], &ignored))
			;
		else if (status == RECORDED_FAILURE)
			why = xstrdup("the program failed, so it was not run again");
		else if (record_again(t, how, platforms[i], target, folder, &why, err) < 0)
			return RECORDED_NOTHING;
		*vec_add(&t->failures) = why;
	}
	return status;
}

/* ---- judging ---- */

static void omit(struct report *r, const struct platform_traces *t, const struct platform *p,
		 const char *why)
{
	const char *failure = t->failures.n ? t->failures.at[platform_index(p)] : NULL;
	char *text = failure ? xstrdup(failure)
			     : xasprintf("%s; record again with 'pmend record --platform %s'", why,
					 p->name);

	report_add_omitted(r, p->name, text);
	free(text);
}

/* Judges all platforms that a trace is valid for; NULL with err if that fails. */
static struct report *judge_served(const struct platform_traces *t, const struct check_options *o,
				   const struct libraries *libraries, platform_fold *fold,
				   bool *is_complete, struct error *err)
{
	struct report *all = NULL, *r;
	const struct platform_trace *trace;
	struct check_options each = *o;
	const struct trace *first = platform_trace_open(&t->list.at[0], err);
	bool is_whole;

	*is_complete = true;
	if (!first)
		return NULL;
	for (size_t i = 0; platforms[i]; i++) {
		trace = platform_is_own(first, platforms[i]) && !platforms[i]->is_variant
				? trace_for(t, platforms[i], err)
				: NULL;
		if (!trace)
			continue;
		each.platform = platforms[i];
		r = check_report_make(trace->trace, &each, libraries, &is_whole, err);
		if (!r) {
			report_free(all);
			return NULL;
		}
		*is_complete &= is_whole;
		fold(r, trace->path, libraries);
		if (all) {
			report_merge(all, r);
			report_free(r);
		} else {
			all = r;
		}
	}
	return all;
}

struct report *platform_traces_judge(const struct platform_traces *t, const struct check_options *o,
				     const struct libraries *libraries, platform_fold *fold,
				     bool *is_complete, struct error *err)
{
	struct report *all = judge_served(t, o, libraries, fold, is_complete, err);

	if (!all)
		return NULL;
	for (size_t i = 0; platforms[i]; i++) {
		if (!platform_is_own(t->list.at[0].trace, platforms[i]) ||
		    trace_for(t, platforms[i], err))
			continue;
		omit(all, t, platforms[i], err->msg);
		*is_complete = false;
	}
	report_finish(all);
	return all;
}

void platform_traces_release(struct platform_traces *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		trace_release(&t->list.at[i]);
	for (size_t i = 0; i < t->failures.n; i++)
		free(t->failures.at[i]);
	vec_release(&t->list);
	vec_release(&t->failures);
}
