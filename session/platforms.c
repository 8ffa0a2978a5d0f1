/* Records and judges on every platform: which trace serves which, what is recorded once more, one report about all. A platform
 * that cannot be judged is named in the report with the reason. */
#include "session/platforms.h"

#include <stdlib.h>
#include <unistd.h>

#include "session/native.h"
#include "session/putback.h"

static size_t platform_index(const struct platform *p)
{
	size_t i = 0;

	while (platforms[i] != p)
		i++;
	return i;
}

/* A trace that tells what the program does on p; NULL if there is none, with the last reason in err. */
static const struct platform_trace *trace_for(const struct platform_traces *t, const struct platform *p, struct error *err)
{
	for (size_t i = 0; i < t->list.n; i++)
		if (judge_serves(t->list.at[i].path, t->list.at[i].platform, p, err) == 0)
			return &t->list.at[i];
	return NULL;
}

int platform_traces_add(struct platform_traces *t, const char *path, struct error *err)
{
	const struct platform *recorded = judge_platform(path, err);

	if (!recorded)
		return -1;
	*vec_add(&t->list) = (struct platform_trace){ xstrdup(path), recorded };
	return 0;
}

/* ---- recording ---- */

static int record(struct platform_traces *t, const struct recording *how, const struct platform *p, char **target,
		  const char *folder, struct error *err)
{
	struct platform_trace trace = { xasprintf("%s/%s.pmt", folder, p->name), p };
	struct recording r = *how;
	int status;

	r.platform = p;
	r.output = trace.path;
	status = recording_run(&r, target, err);
	if (status == 0) {
		*vec_add(&t->list) = trace;
	} else {
		unlink(trace.path);
		free(trace.path);
	}
	return status;
}

/* why: NULL if it worked; else why not. */
static int record_again(struct platform_traces *t, const struct recording *how, const struct platform *p, char **target,
			const char *folder, char **why, struct error *err)
{
	struct putback *files;
	struct error failed;
	int status;

	*why = NULL;
	files = putback_new(t->list.at[0].path, &failed);
	if (!files) {
		*why = xasprintf("the program cannot be run again from the same state: %s", failed.msg);
		return 0;
	}
	notes_say(how->notes, "running the program once more, for %s", p->name);
	status = record(t, how, p, target, folder, err);
	if (putback_end(files, status == 0, &failed) < 0)
		notes_say(how->notes, "%s", failed.msg);
	if (status > 0)
		*why = xstrdup("the program failed when it was run again; its files are as the first run left them");
	return status < 0 ? -1 : 0;
}

int platform_traces_record(struct platform_traces *t, const struct recording *how, bool is_all, char **target, const char *folder,
			   struct error *err)
{
	int status = record(t, how, how->platform, target, folder, err);
	struct error ignored;

	for (size_t i = 0; status == 0 && is_all && platforms[i]; i++) {
		char *why = NULL;

		if (native_has(platforms[i]) && !trace_for(t, platforms[i], &ignored))
			status = record_again(t, how, platforms[i], target, folder, &why, err);
		*vec_add(&t->failures) = why;
	}
	return status;
}

/* ---- judging ---- */

static void omit(struct report *r, const struct platform_traces *t, const struct platform *p, const char *why)
{
	const char *failure = t->failures.n ? t->failures.at[platform_index(p)] : NULL;
	char *text = failure ? xstrdup(failure) : xasprintf("%s; record again with 'pmend record --platform %s'", why, p->name);

	report_add_omitted(r, p->name, text);
	free(text);
}

/* Of all platforms that a trace serves; NULL with err if that fails. */
static struct report *judge_served(const struct platform_traces *t, const struct check_options *o, bool *is_complete,
				   struct error *err)
{
	struct report *all = NULL, *r;
	const struct platform_trace *trace;
	struct check_options each = *o;
	bool is_whole;

	*is_complete = true;
	for (size_t i = 0; platforms[i]; i++) {
		trace = judge_is_own(t->list.at[0].path, platforms[i]) ? trace_for(t, platforms[i], err) : NULL;
		if (!trace)
			continue;
		each.platform = platforms[i];
		r = judge_trace_begin(trace->path, &each, &is_whole, err);
		if (!r) {
			report_free(all);
			return NULL;
		}
		*is_complete &= is_whole;
		if (all) {
			report_merge(all, r);
			report_free(r);
		} else {
			all = r;
		}
	}
	return all;
}

struct report *platform_traces_judge(const struct platform_traces *t, const struct check_options *o, bool *is_complete,
				     struct error *err)
{
	struct report *all = judge_served(t, o, is_complete, err);

	if (!all)
		return NULL;
	for (size_t i = 0; platforms[i]; i++) {
		if (!judge_is_own(t->list.at[0].path, platforms[i]) || trace_for(t, platforms[i], err))
			continue;
		omit(all, t, platforms[i], err->msg);
		*is_complete = false;
	}
	report_finish(all);
	return all;
}

void platform_traces_remove(const struct platform_traces *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		unlink(t->list.at[i].path);
}

void platform_traces_release(struct platform_traces *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		free(t->list.at[i].path);
	for (size_t i = 0; i < t->failures.n; i++)
		free(t->failures.at[i]);
	vec_release(&t->list);
	vec_release(&t->failures);
}
