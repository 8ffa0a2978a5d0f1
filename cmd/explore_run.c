/* One input of an exploration: the program is recorded on it, from the pools' original content, and judged; then it is traced, from the same
 * content. Two runs, because the recorder sees the program as it is, and the tracer with other string functions. */
#include "cmd/exploring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/header.h"
#include "cmd/platforms.h"
#include "cmd/scratch.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/proc.h"

#define LEAST_TIMEOUT_MS 60000

static void restore(struct exploring *x)
{
	struct error err;

	if (pools_restore(&x->pools, &err) < 0)
		die("%s; the runs after this one would not start from the same content", err.msg);
}

static void words_free(char **words)
{
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
}

static void run(struct exploring *x, const struct parts_run *r, char **argv, char **env, enum contained_end *end, int *status)
{
	char *log = xasprintf("%s/log", x->folder);
	const struct contained c = { .argv = argv,
				     .env = env,
				     .stdin_path = r->stdin_path,
				     .output_path = log,
				     .timeout_ms = x->timeout_ms,
				     .port = r->port,
				     .bytes = r->bytes,
				     .len_bytes = r->len_bytes };
	struct timespec before, after;
	struct error err;
	unsigned took_ms;

	clock_gettime(CLOCK_MONOTONIC, &before);
	if (contained_run(&c, end, status, &err) < 0)
		die("%s", err.msg);
	clock_gettime(CLOCK_MONOTONIC, &after);
	took_ms = (unsigned)((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000);
	if (took_ms > x->longest_ms)
		x->longest_ms = took_ms;
	free(log);
}

/* ---- recording and judging ---- */

static void log_show(const struct exploring *x)
{
	char *name = xasprintf("%s/log", x->folder), line[512];
	FILE *f = fopen(name, "r");

	while (f && fgets(line, sizeof line, f))
		fputs(line, stderr);
	if (f)
		fclose(f);
	free(name);
}

/* The length that matters: bytes behind it are 0. */
static uint64_t input_size(const struct exploring *x, const uint8_t *bytes)
{
	size_t n = x->parts.len_bytes;

	while (n && !bytes[n - 1])
		n--;
	return n;
}

static void bugs_add(struct exploring *x, const struct report *r, const struct explore_input *in)
{
	char *file = exploring_input_file(x, x->nruns), *command = parts_rerun(&x->parts, in->bytes, x->target, file);
	const struct bug_input input = { file, command, input_size(x, in->bytes) };

	for (size_t i = 0; i < report_nbugs(r); i++) {
		struct bug b = *report_bug(r, i);

		b.input = &input;
		report_add(x->report, &b);
	}
	free(command);
	free(file);
}

static void failure_add(struct exploring *x, const char *kind, const char *message, const struct explore_input *in)
{
	char *file = exploring_input_file(x, x->nruns), *command = parts_rerun(&x->parts, in->bytes, x->target, file);
	const struct bug_input input = { file, command, input_size(x, in->bytes) };
	const struct bug b = { .kind = kind, .severity = BUG_CORRECTNESS, .message = message, .input = &input };

	report_add(x->report, &b);
	free(command);
	free(file);
}

static void ending_judge(struct exploring *x, const struct explore_input *in, enum contained_end end, int status)
{
	char name[64], *message = NULL;

	if (end == CONTAINED_KILLED) {
		message = xasprintf("The program is killed by %s on this input.", proc_signal_name(status, name, sizeof name));
		failure_add(x, "program-crash", message, in);
		x->ncrashed++;
	} else if (end == CONTAINED_HUNG) {
		message = xasprintf("The program does not end within %u seconds on this input.", x->timeout_ms / 1000);
		failure_add(x, "program-hang", message, in);
		x->nhung++;
	}
	free(message);
}

static bool modifies_pm(enum pmt_kind k)
{
	return trace_is_store(k) || k == PMT_CLWB || k == PMT_CLFLUSH || k == PMT_CLFLUSHOPT || k == PMT_SFENCE || k == PMT_MFENCE;
}

/* True if something was modified by code that had not done so before. */
static bool pm_note(struct exploring *x)
{
	struct trace_event ev;
	bool is_new = false;
	struct error err;
	struct trace *t;

	if (trace_open(&t, x->trace, &err) < 0)
		return false;
	while (trace_next(t, &ev)) {
		const struct trace_object *o = ev.site ? ev.site->object : NULL;

		if (o && ev.site->pc && modifies_pm(ev.kind) && exploring_note_pm(x, o->path, ev.site->pc - o->va + o->offset))
			is_new = true;
	}
	trace_close(t);
	return is_new;
}

/* Runs recovery on what a crash of this run can leave. The recording stays, for replaying. */
static void crash(struct exploring *x, struct report *r)
{
	char *kept = exploring_trace_file(x, x->nruns);
	bool is_whole;

	x->ncrash_runs++;
	if (crashing_explore(&x->crash, x->trace, kept, r, &is_whole) && copy_file(x->trace, kept) < 0)
		warn("cannot keep the trace as %s", kept);
	free(kept);
}

static void judge(struct exploring *x, const struct explore_input *in, uint32_t nfiles)
{
	struct platform_traces traces = { 0 };
	bool is_complete, is_new;
	struct report *r;

	if (nfiles == 0)
		return;
	x->has_pm = true;
	is_new = pm_note(x);
	*vec_add(&traces.list) = (struct platform_trace){ xstrdup(x->trace), NULL };
	r = checking_judge(&x->checking, &traces, &is_complete);
	if (x->wants_crashes && is_new)
		crash(x, r);
	report_finish(r);
	bugs_add(x, r, in);
	report_free(r);
	platform_traces_release(&traces);
}

static void record(struct exploring *x, const struct parts_run *r, const struct explore_input *in)
{
	char **argv = recording_argv(&x->checking.recording, x->trace, 2, r->argv), **env = recording_env(&x->checking.recording, r->env);
	enum contained_end end;
	struct pmt_header h;
	struct error err;
	int status;

	unlink(x->trace);
	run(x, r, argv, env, &end, &status);
	if (header_read(&h, x->trace, &err) < 0 || h.seq == 0) {
		log_show(x);
		die("valgrind could not record the program (status %d); its messages, if any, are above", status);
	}
	x->nevents += h.seq;
	ending_judge(x, in, end, status);
	judge(x, in, h.nfiles);
	if (pools_learn(&x->pools, x->trace, &err) < 0)
		die("%s; an exploration has to start each run from the same content", err.msg);
	words_free(argv);
	words_free(env);
}

/* ---- tracing ---- */

static char **tracer_argv(const struct exploring *x, const char *path_file, char **target)
{
	VEC(char *) w = { 0 };

	*vec_add(&w) = xstrdup(x->valgrind);
	*vec_add(&w) = xstrdup("--command-line-only=yes");
	*vec_add(&w) = xstrdup("--tool=pmend-trace");
	*vec_add(&w) = xstrdup("-q");
	*vec_add(&w) = xstrdup("--sigill-diagnostics=no");
	*vec_add(&w) = xstrdup("--vgdb=no");
	*vec_add(&w) = xasprintf("--path-file=%s", path_file);
	for (size_t i = 0; i < x->parts.list.n; i++)
		*vec_add(&w) = part_tracer_option(&x->parts.list.at[i]);
	for (size_t i = 0; target[i]; i++)
		*vec_add(&w) = xstrdup(target[i]);
	*vec_add(&w) = NULL;
	return w.at;
}

static void trace(struct exploring *x, const struct parts_run *r, const struct explore_input *in)
{
	char *path_file = exploring_path_file(x, x->nruns), **argv = tracer_argv(x, path_file, r->argv);
	char **env = recording_env(&x->checking.recording, r->env);
	enum contained_end end;
	struct error err;
	int status;

	unlink(path_file);
	run(x, r, argv, env, &end, &status);
	if (explore_done(x->explore, in, path_file, &err) < 0) {
		if (x->nruns == 0) {
			log_show(x);
			die("valgrind could not trace the program (status %d): %s; its messages, if any, are above", status, err.msg);
		}
		x->nbad++;
	}
	words_free(argv);
	words_free(env);
	free(path_file);
}

void exploring_run(struct exploring *x, const struct explore_input *in)
{
	struct parts_run r;

	restore(x);
	parts_run_init(&r, &x->parts, in->bytes, x->target, environ);
	record(x, &r, in);
	restore(x);
	parts_run_release(&r);
	parts_run_init(&r, &x->parts, in->bytes, x->target, environ); /* the program may have changed its input file */
	trace(x, &r, in);
	restore(x);
	parts_run_release(&r);
	exploring_save(x, in);
	if (x->is_timeout_learned && x->nfresh == 0)
		x->timeout_ms = 10 * x->longest_ms > LEAST_TIMEOUT_MS ? 10 * x->longest_ms : LEAST_TIMEOUT_MS;
	x->nruns++;
	x->nfresh++;
}
