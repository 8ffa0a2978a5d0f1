/* Runs inputs, each in its slot. An input runs twice from the pools' original content: recorded,
 * then traced. Two runs are needed because the tracer replaces the program's string functions.
 *
 * With --schedules, the recorded run is the first schedule, and more follow the traced run if the
 * input does something new. All are judged together, when the input gets its number. */
#include "explore/session/slots.h"

#include <errno.h>
#include <inttypes.h>
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
	s->path = slot_file(s, "run.pmp");
	s->log = slot_file(s, "log");
	return 0;
}

void slot_release(struct slot *s)
{
	vec_release(&s->recordings);
	tempdir_close(&s->folder);
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

/* Forgets the input. */
static void input_release(struct slot *s)
{
	for (size_t i = 0; i < s->recordings.n; i++) {
		unlink(s->recordings.at[i].trace);
		free(s->recordings.at[i].trace);
	}
	s->recordings.n = 0;
	if (s->schedules)
		schedules_free(s->schedules);
	s->schedules = NULL;
	explore_input_release(&s->in);
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

/* Gives the recording that runs. */
static struct slot_recording *last_recording(struct slot *s)
{
	return &s->recordings.at[s->recordings.n - 1];
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
	recording.schedule = s->schedules ? &s->order : NULL;
	s->argv = is_traced ? tracer_argv(x, s)
			    : recorder_argv(&recording, last_recording(s)->trace, 2, s->parts.argv,
					    err);
	s->env = s->argv ? recorder_env(&x->checking.recording, s->parts.env, err) : NULL;
	return s->env ? 0 : -1;
}

/* An order of threads in which the program makes no progress is given up sooner than an input. */
static unsigned time_limit_ms(const struct exploring *x, const struct slot *s)
{
	const uint64_t most =
		s->recordings.n > 1
			? 1000ull * schedules_seconds(s->recordings.at[0].took_ms / 1000 + 1)
			: x->timeout_ms;

	return most < x->timeout_ms ? (unsigned)most : x->timeout_ms;
}

static int begin_run(struct exploring *x, struct slot *s, bool is_traced, struct error *err)
{
	if (prepare_run(x, s, is_traced, err) < 0) {
		run_release(s);
		return -1;
	}
	if (is_traced)
		unlink(s->path);
	s->program = (struct bounded_program){ .argv = s->argv,
					       .env = s->env,
					       .stdin_path = s->parts.stdin_path,
					       .output_path = s->log,
					       .timeout_ms = time_limit_ms(x, s),
					       .port = s->parts.port,
					       .bytes = s->parts.bytes,
					       .len_bytes = s->parts.len_bytes };
	if (bounded_run_start(&s->run, &s->program, err) < 0) {
		run_release(s);
		return -1;
	}
	s->state = is_traced             ? SLOT_TRACING
		   : s->recordings.n > 1 ? SLOT_SCHEDULING
					 : SLOT_RECORDING;
	return 0;
}

static int begin_recording(struct exploring *x, struct slot *s, struct error *err)
{
	const uint32_t number = s->schedules ? schedules_number(s->schedules) + 1 : 0;
	char *name = xasprintf("run-%" PRIu32 ".pmt", number);

	if (s->schedules)
		s->order = schedules_next(s->schedules);
	*vec_add(&s->recordings) =
		(struct slot_recording){ .trace = slot_file(s, name), .schedule = number };
	free(name);
	return begin_run(x, s, false, err);
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
	if (x->nschedules)
		s->schedules = schedules_new(x->nschedules, x->schedule_seed);
	if (begin_recording(x, s, err) == 0)
		return 0;
	input_release(s);
	return -1;
}

/* ---- continuing ---- */

/* Looks at the recording that has ended. */
static int recording_end(struct exploring *x, struct slot *s, struct error *err)
{
	struct slot_recording *r = last_recording(s);
	struct pmt_header h;
	struct error why;

	r->end = s->run.end;
	r->status = s->run.status;
	r->took_ms = s->run.took_ms;
	if (header_read(&h, r->trace, &why) < 0 || h.seq == 0) {
		log_quote(x, s);
		return error_set(
			err,
			"valgrind could not record the program (status %d); its messages, if any, are above",
			r->status);
	}
	r->nfiles = h.nfiles;
	x->nevents += h.seq;
	if (pools_learn(&x->pools, r->trace, &why) < 0)
		return error_set(err,
				 "%s; each run of an exploration must start from the same content",
				 why.msg);
	if (s->schedules)
		schedules_look(s->schedules, r->trace, r->end == BOUNDED_HUNG);
	return 0;
}

static int after_recording(struct exploring *x, struct slot *s, struct error *err)
{
	return recording_end(x, s, err) < 0 ? -1 : begin_run(x, s, true, err);
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

/* Judges what was recorded; the input is done. */
static int conclude(struct exploring *x, struct slot *s, struct error *err)
{
	const enum bounded_end first_end = s->recordings.at[0].end;
	struct error why;

	if (s->schedules)
		schedules_sum_add(&x->schedules, s->schedules);
	if (exploring_judge(x, s, err) < 0 || path_keep(x, s, err) < 0)
		return -1;
	if (explore_done(x->explore, &s->in, s->path, &why) < 0) {
		if (x->nruns == 0) {
			log_quote(x, s);
			return error_set(
				err,
				"valgrind could not trace the program (status %d): %s; its messages, if any, are above",
				s->traced_status, why.msg);
		}
		x->nbad++;
	}
	if (first_end == BOUNDED_FLOODED && s->in.key &&
	    exploring_state_add(x, "flooded\n", err) < 0)
		return -1;
	/* who reads the line that exploring_save() writes must find everything else */
	if (pools_restore(&x->pools, s->number, err) < 0 ||
	    exploring_input_save(x, &s->in, err) < 0 || exploring_report_keep(x, err) < 0 ||
	    exploring_save(x, &s->in, err) < 0)
		return -1;
	x->nruns++;
	return 0;
}

/* Is the input recorded under more schedules than the first? It is if it does something that no
 * input did before: code that modifies PM, or a pair of a store and another thread's load. */
static bool wants_schedules(struct exploring *x, struct slot *s)
{
	const struct slot_recording *first = &s->recordings.at[0];
	bool has_pairs, is_new;

	if (!s->schedules || first->nfiles == 0 ||
	    (first->end != BOUNDED_EXITED && first->end != BOUNDED_STOPPED))
		return false;
	has_pairs = schedules_note_pairs(s->schedules, &x->pairs);
	is_new = has_pairs || exploring_is_new(x, first->trace);
	if (is_new && x->is_over && schedules_has_next(s->schedules))
		x->nshortened++;
	return is_new && !x->is_over && schedules_has_next(s->schedules);
}

static int after_tracing(struct exploring *x, struct slot *s, struct error *err)
{
	s->traced_status = s->run.status;
	return wants_schedules(x, s) ? begin_recording(x, s, err) : conclude(x, s, err);
}

static int after_schedule(struct exploring *x, struct slot *s, struct error *err)
{
	uint32_t of;

	if (recording_end(x, s, err) < 0)
		return -1;
	if (schedules_is_repeat(s->schedules, &of)) {
		unlink(last_recording(s)->trace);
		free(last_recording(s)->trace);
		s->recordings.n--;
	}
	if (!schedules_has_next(s->schedules))
		return conclude(x, s, err);
	if (!x->is_over)
		return begin_recording(x, s, err);
	x->nshortened++;
	return conclude(x, s, err);
}

int slot_step(struct exploring *x, struct slot *s, struct error *err)
{
	static int (*const after[])(struct exploring * x, struct slot * s,
				    struct error * err) = { [SLOT_RECORDING] = after_recording,
							    [SLOT_TRACING] = after_tracing,
							    [SLOT_SCHEDULING] = after_schedule };
	const unsigned ended = s->state;
	struct error ignored;
	int result;

	if (s->state == SLOT_FREE || !bounded_run_step(&s->run))
		return 0;
	result = end_run(x, s, err);
	if (result == 0)
		result = after[ended](x, s, err);
	if (result < 0)
		pools_restore(&x->pools, s->number, &ignored); /* nobody else will */
	if (s->state == SLOT_FREE)
		input_release(s);
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
	input_release(s);
	pools_restore(&x->pools, s->number, &ignored);
}
