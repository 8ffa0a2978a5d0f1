/* See explore_slots.h. Each input is run twice from the pools' original content: recorded and then traced. Two runs, because the recorder sees the program as it
 * is, and the tracer with other string functions. */
#include "explore/session/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/header.h"
#include "session/scratch.h"
#include "util/alloc.h"

static char *slot_file(const struct slot *s, const char *name)
{
	return xasprintf("%s/%s", s->folder, name);
}

void slot_init(struct slot *s, unsigned number)
{
	struct error err;

	*s = (struct slot){ .number = number, .folder = scratch_folder(&err) };
	if (!s->folder)
		die("%s", err.msg);
	s->trace = slot_file(s, "run.pmt");
	s->path = slot_file(s, "run.pmp");
	s->log = slot_file(s, "log");
}

void slot_release(struct slot *s)
{
	static const char *const names[] = { "run.pmt", "run.pmp", "log", "input", "stdin", "memory" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *file = slot_file(s, names[i]);

		unlink(file);
		free(file);
	}
	rmdir(s->folder);
	free(s->folder);
	free(s->trace);
	free(s->path);
	free(s->log);
}

static void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static void log_show(const struct slot *s)
{
	FILE *f = fopen(s->log, "r");
	char line[512];

	for (int n = 0; n < 50 && f && fgets(line, sizeof line, f); n++)
		fputs(line, stderr);
	if (f)
		fclose(f);
}

/* ---- starting ---- */

static char **tracer_argv(const struct exploring *x, const struct slot *s)
{
	const char *const first[] = { "--command-line-only=yes", "--tool=pmend-trace", "-q", "--sigill-diagnostics=no", "--vgdb=no" };
	VEC(char *) w = { 0 };

	*vec_add(&w) = xstrdup(x->valgrind);
	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
		*vec_add(&w) = xstrdup(first[i]);
	*vec_add(&w) = xasprintf("--path-file=%s", s->path);
	for (size_t i = 0; i < x->parts.list.n; i++)
		*vec_add(&w) = part_tracer_option(&x->parts.list.at[i], s->folder);
	for (size_t i = 0; s->parts.argv[i]; i++)
		*vec_add(&w) = xstrdup(s->parts.argv[i]);
	*vec_add(&w) = NULL;
	return w.at;
}

/* The program may have changed its pools and its input. */
static void begin(struct exploring *x, struct slot *s, bool is_traced)
{
	struct error err;

	if (pools_restore(&x->pools, s->number, &err) < 0)
		exploring_die(x, "%s; the runs after this one would not start from the same content", err.msg);
	parts_run_init(&s->parts, &x->parts, s->in.bytes, x->target, environ, s->folder);
	pools_rename(&x->pools, s->number, s->parts.argv);
	pools_rename(&x->pools, s->number, s->parts.env);
	s->argv = is_traced ? tracer_argv(x, s) : recorder_argv(&x->checking.recording, s->trace, 2, s->parts.argv, &err);
	s->env = s->argv ? recorder_env(&x->checking.recording, s->parts.env, &err) : NULL;
	if (!s->env)
		exploring_die(x, "%s", err.msg);
	unlink(is_traced ? s->path : s->trace);
	s->contained = (struct contained){ .argv = s->argv,
					   .env = s->env,
					   .stdin_path = s->parts.stdin_path,
					   .output_path = s->log,
					   .timeout_ms = x->timeout_ms,
					   .port = s->parts.port,
					   .bytes = s->parts.bytes,
					   .len_bytes = s->parts.len_bytes };
	if (contained_start(&s->run, &s->contained, &err) < 0)
		exploring_die(x, "%s", err.msg);
	s->state = is_traced ? SLOT_TRACING : SLOT_RECORDING;
}

static void end(struct exploring *x, struct slot *s)
{
	if (s->run.took_ms > x->longest_ms)
		x->longest_ms = s->run.took_ms;
	words_free(s->argv);
	words_free(s->env);
	parts_run_release(&s->parts);
	s->state = SLOT_FREE;
	if (s->run.end == CONTAINED_FULL)
		exploring_die(x, "a run leaves hardly any room on the disk; what it wrote besides its pools is still there");
}

void slot_start(struct exploring *x, struct slot *s, const struct explore_input *in)
{
	s->in = *in;
	begin(x, s, false);
}

/* ---- going on ---- */

static void recorded(struct exploring *x, struct slot *s)
{
	struct pmt_header h;
	struct error err;

	s->end = s->run.end;
	s->status = s->run.status;
	if (header_read(&h, s->trace, &err) < 0 || h.seq == 0) {
		log_show(s);
		exploring_die(x, "valgrind could not record the program (status %d); its messages, if any, are above", s->status);
	}
	s->nfiles = h.nfiles;
	x->nevents += h.seq;
	if (pools_learn(&x->pools, s->trace, &err) < 0)
		exploring_die(x, "%s; an exploration has to start each run from the same content", err.msg);
	begin(x, s, true);
}

static void traced(struct exploring *x, struct slot *s)
{
	char *kept = exploring_path_file(x, x->nruns);
	struct error err;

	exploring_judge(x, s);
	if (access(s->path, F_OK) == 0 && copy_file(s->path, kept) < 0)
		exploring_die(x, "cannot write %s: %s", kept, strerror(errno));
	if (explore_done(x->explore, &s->in, s->path, &err) < 0) {
		if (x->nruns == 0) {
			log_show(s);
			exploring_die(x, "valgrind could not trace the program (status %d): %s; its messages, if any, are above", s->run.status, err.msg);
		}
		x->nbad++;
	}
	if (pools_restore(&x->pools, s->number, &err) < 0)
		exploring_die(x, "%s", err.msg);
	exploring_save(x, &s->in);
	explore_input_release(&s->in);
	x->nruns++;
	free(kept);
}

bool slot_step(struct exploring *x, struct slot *s)
{
	bool is_traced = s->state == SLOT_TRACING;

	if (s->state == SLOT_FREE || !contained_step(&s->run))
		return false;
	end(x, s);
	if (is_traced)
		traced(x, s);
	else
		recorded(x, s);
	return s->state == SLOT_FREE;
}

void slot_stop(struct exploring *x, struct slot *s)
{
	struct error ignored;

	if (s->state == SLOT_FREE)
		return;
	contained_stop(&s->run);
	words_free(s->argv);
	words_free(s->env);
	parts_run_release(&s->parts);
	explore_input_release(&s->in);
	s->state = SLOT_FREE;
	pools_restore(&x->pools, s->number, &ignored);
}
