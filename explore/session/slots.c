/* Runs inputs, each in its slot. An input runs twice from the pools' original content: recorded,
 * then traced. Two runs are needed because the tracer replaces the program's string functions. */
#include "explore/session/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/machine.h"
#include "util/files.h"
#include "trace/header.h"
#include "util/alloc.h"

static char *slot_file(const struct slot *s, const char *name)
{
	return xasprintf("%s/%s", s->folder.path, name);
}

int slot_init(struct slot *s, unsigned number, struct error *err)
{
	*s = (struct slot){ .number = number };
	if (tempdir_open(&s->folder, err) < 0)
		return -1;
	s->trace = slot_file(s, "run.pmt");
	s->path = slot_file(s, "run.pmp");
	s->log = slot_file(s, "log");
	return 0;
}

void slot_release(struct slot *s)
{
	tempdir_close(&s->folder);
	free(s->trace);
	free(s->path);
	free(s->log);
}

static void log_quote(const struct exploring *x, const struct slot *s)
{
	FILE *f = fopen(s->log, "r");
	char line[512];

	for (int n = 0; n < 50 && f && fgets(line, sizeof line, f); n++)
		notes_quote(x->notes, line, strlen(line));
	if (f)
		fclose(f);
}

/* ---- starting ---- */

static char **tracer_argv(const struct exploring *x, const struct slot *s)
{
	const char *const first[] = { "--command-line-only=yes", "--tool=pmend-trace", "-q",
				      "--sigill-diagnostics=no", "--vgdb=no" };
	VEC(char *) w = { 0 };

	*vec_add(&w) = xstrdup(x->valgrind);
	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
		*vec_add(&w) = xstrdup(first[i]);
	if (machine_own()->tool_option)
		*vec_add(&w) = xstrdup(machine_own()->tool_option);
	*vec_add(&w) = recorder_files_option();
	*vec_add(&w) = xasprintf("--path-file=%s", s->path);
	for (size_t i = 0; i < x->parts.list.n; i++)
		*vec_add(&w) = part_tracer_option(&x->parts.list.at[i], s->folder.path);
	for (size_t i = 0; s->parts.argv[i]; i++)
		*vec_add(&w) = xstrdup(s->parts.argv[i]);
	*vec_add(&w) = NULL;
	return w.at;
}

static void run_release(struct slot *s)
{
	words_free(s->argv);
	words_free(s->env);
	parts_run_release(&s->parts);
	if (s->memory_fd)
		close(s->memory_fd);
	s->memory_fd = 0;
	s->parts = (struct parts_run){ 0 };
	s->argv = s->env = NULL;
	s->state = SLOT_FREE;
}

/* Prepares pools, input, command line and environment. The run before may have changed pools and
 * input. */
static int prepare_run(struct exploring *x, struct slot *s, bool is_traced, struct error *err)
{
	struct recording recording = x->checking.recording;
	struct error why;

	if (pools_restore(&x->pools, s->number, &why) < 0)
		return error_set(
			err, "%s; the runs after this one would not start from the same content",
			why.msg);
	if (parts_run_init(&s->parts, &x->parts, s->in.bytes, x->target, environ, s->folder.path,
			   err) < 0)
		return -1;
	pools_rename(&x->pools, s->number, s->parts.argv);
	pools_rename(&x->pools, s->number, s->parts.env);
	recording.memory_fd = s->memory_fd = is_traced ? 0 : recorder_memory();
	s->argv = is_traced ? tracer_argv(x, s)
			    : recorder_argv(&recording, s->trace, 2, s->parts.argv, err);
	s->env = s->argv ? recorder_env(&x->checking.recording, s->parts.env, err) : NULL;
	return s->env ? 0 : -1;
}

static int begin_run(struct exploring *x, struct slot *s, bool is_traced, struct error *err)
{
	if (prepare_run(x, s, is_traced, err) < 0) {
		run_release(s);
		return -1;
	}
	unlink(is_traced ? s->path : s->trace);
	s->program = (struct bounded_program){ .argv = s->argv,
					       .env = s->env,
					       .stdin_path = s->parts.stdin_path,
					       .output_path = s->log,
					       .timeout_ms = x->timeout_ms,
					       .port = s->parts.port,
					       .bytes = s->parts.bytes,
					       .len_bytes = s->parts.len_bytes };
	if (bounded_run_start(&s->run, &s->program, err) < 0) {
		run_release(s);
		return -1;
	}
	s->state = is_traced ? SLOT_TRACING : SLOT_RECORDING;
	return 0;
}

static int end_run(struct exploring *x, struct slot *s, struct error *err)
{
	if (s->run.took_ms > x->longest_ms)
		x->longest_ms = s->run.took_ms;
	run_release(s);
	if (s->run.end == BOUNDED_FULL)
		return error_set(
			err,
			"a run has almost filled the disk; what it wrote besides its pools is still there");
	return 0;
}

int slot_start(struct exploring *x, struct slot *s, const struct explore_input *in,
	       struct error *err)
{
	s->in = *in;
	if (begin_run(x, s, false, err) == 0)
		return 0;
	explore_input_release(&s->in);
	return -1;
}

/* ---- continuing ---- */

static int after_recording(struct exploring *x, struct slot *s, struct error *err)
{
	struct pmt_header h;
	struct error why;

	s->end = s->run.end;
	s->status = s->run.status;
	if (header_read(&h, s->trace, &why) < 0 || h.seq == 0) {
		log_quote(x, s);
		return error_set(
			err,
			"valgrind could not record the program (status %d); its messages, if any, are above",
			s->status);
	}
	s->nfiles = h.nfiles;
	x->nevents += h.seq;
	if (pools_learn(&x->pools, s->trace, &why) < 0)
		return error_set(err,
				 "%s; each run of an exploration must start from the same content",
				 why.msg);
	return begin_run(x, s, true, err);
}

static int path_keep(const struct exploring *x, const struct slot *s, struct error *err)
{
	char *kept = exploring_path_file(x->out, x->nruns);
	int result = 0;

	if (access(s->path, F_OK) == 0 && copy_file(s->path, kept) < 0)
		result = error_set(err, "cannot write %s: %s", kept, strerror(errno));
	free(kept);
	return result;
}

static int after_tracing(struct exploring *x, struct slot *s, struct error *err)
{
	struct error why;

	if (exploring_judge(x, s, err) < 0 || path_keep(x, s, err) < 0)
		return -1;
	if (explore_done(x->explore, &s->in, s->path, &why) < 0) {
		if (x->nruns == 0) {
			log_quote(x, s);
			return error_set(
				err,
				"valgrind could not trace the program (status %d): %s; its messages, if any, are above",
				s->run.status, why.msg);
		}
		x->nbad++;
	}
	if (s->end == BOUNDED_FLOODED && s->in.key && exploring_state_add(x, "flooded\n", err) < 0)
		return -1;
	/* who reads the line that exploring_save() writes must find everything else */
	if (pools_restore(&x->pools, s->number, err) < 0 ||
	    exploring_input_save(x, &s->in, err) < 0 || exploring_report_keep(x, err) < 0 ||
	    exploring_save(x, &s->in, err) < 0)
		return -1;
	x->nruns++;
	return 0;
}

int slot_step(struct exploring *x, struct slot *s, struct error *err)
{
	bool is_traced = s->state == SLOT_TRACING;
	struct error ignored;
	int result;

	if (s->state == SLOT_FREE || !bounded_run_step(&s->run))
		return 0;
	result = end_run(x, s, err);
	if (result == 0)
		result = is_traced ? after_tracing(x, s, err) : after_recording(x, s, err);
	if (result < 0)
		pools_restore(&x->pools, s->number, &ignored); /* nobody else will */
	if (s->state == SLOT_FREE)
		explore_input_release(&s->in);
	return result < 0 ? -1 : s->state == SLOT_FREE;
}

void slot_stop(struct exploring *x, struct slot *s)
{
	struct error ignored;

	if (s->state == SLOT_FREE)
		return;
	bounded_run_stop(&s->run);
	run_release(s);
	sharing_give_back(x->sharing, s->in.key);
	explore_input_release(&s->in);
	pools_restore(&x->pools, s->number, &ignored);
}
