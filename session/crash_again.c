/* Explores crashes during recovery. The files of a state that the first crash left are put into a
 * folder, recovery is recorded there like any program, and the recording is explored. There is one
 * such state for each set of places that recovery writes, and another in which lines that the first
 * recovery did not read have their oldest content instead of their newest. After the second
 * recovery, a dump may print what was allowed after the first crash. */
#include "session/crash_again.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/crash_report.h"
#include "crash/files/files_explore.h"
#include "crash/files/roots.h"
#include "record/recording.h"
#include "util/files.h"
#include "util/tempdir.h"
#include "util/str.h"
#include "util/values.h"

#define FIRST_CRASHES_MAX 24 /* a limit, because recordings take long */

/* Gives the path for {dir}, the folder whose files are followed, in the folder of a recording;
 * free() it. */
static char *dir_in(const char *folder)
{
	return xasprintf("%s/dir", folder);
}

/* Makes the command that runs recovery on the copy of the pool in this folder. NULL: the command
 * does not name the pool. */
static char **on_copy(const struct runner_command *c, const struct plan *p, const char *folder)
{
	char *pool = xasprintf("%s/%s", folder,
			       str_base_name(trace_file(p->trace, plan_pool_file(p))->path));
	bool has_pool = false;
	VEC(char *) argv = { 0 };

	for (char **a = c->argv; *a; a++) {
		const char *at = strstr(*a, "{}");

		has_pool |= at != NULL;
		*vec_add(&argv) =
			at ? xasprintf("%.*s%s%s", (int)(at - *a), *a, pool, at + 2) : xstrdup(*a);
	}
	*vec_add(&argv) = NULL;
	free(pool);
	if (has_pool)
		return argv.at;
	words_free(argv.at);
	return NULL;
}

/* Writes the files of a state into a folder. */
static int put_state(const struct crash_setup *s, const struct plan *p, const struct first_crash *f,
		     const char *folder, struct error *err)
{
	struct state_set set = { 0 };
	struct runner *runner = NULL;
	uint64_t *state = NULL;
	struct walk w;
	int result = -1;

	walk_init(&w, p, s->options.stops);
	if (index_seek_point(s->options.index, &w, f->point, err) == 0) {
		while (w.point != f->point && walk_next(&w))
			;
		state = state_collect(&set, w.model, f->state, err) == 0
				? state_parse(&set, f->state, err)
				: NULL;
	}
	runner = state ? runner_new(&s->options.runner, p->mappings.at, p->mappings.n, err) : NULL;
	if (runner) {
		runner_load(runner, &w.image, &set);
		result = runner_export(runner, state, folder, err);
	}
	runner_free(runner);
	free(state);
	states_release(&set);
	walk_release(&w);
	return result;
}

/* Records without showing the program's output to the user. */
static enum recorded record_quietly(const struct recording *r, char **argv, struct error *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), out = dup(STDOUT_FILENO),
	    errors = dup(STDERR_FILENO);
	enum recorded status;

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	status = recording_run(r, argv, err);
	dup2(out, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	close(null);
	close(out);
	close(errors);
	return status;
}

/* Adds the exploration of a second crash, and its result, to the report. */
static int report_second_crash(struct crash_setup *s, const struct plan *p,
			       const struct first_crash *f, const struct crash_result *result,
			       struct report *report, uint64_t more, struct crash_again *sum,
			       struct error *err)
{
	char *kept =
		xasprintf(OUT_FOLDER "/crash-%" PRIu64 "-%s", f->point, str_base_name(p->path));
	char *place = s->kept_in ? xasprintf("%s/%s", s->kept_in, kept) : xstrdup(kept);
	int status = 0;

	sum->failure_points += result->counters.begun;
	sum->runs += result->counters.runs;
	sum->is_complete &= result->is_complete;
	crash_report_add(report, p, result, s, kept);
	if (result->bugs.n > 0 && copy_file_to_out(p->path, place) < 0)
		notes_say(s->notes, "cannot keep the recording of recovery as %s: %s", kept,
			  strerror(errno));
	if (more > 1)
		status = crash_again(s, p, result, report, more - 1, sum, err);
	free(place);
	free(kept);
	return status;
}

/* Remembers the operation that the first crash interrupted, and what a dump may print after it. */
static void remember_first(struct crash_setup *s, const struct plan *p, const struct first_crash *f,
			   const struct crash_result *result)
{
	if (s->first_plan)
		return;
	s->first_plan = p;
	s->first_seq = f->seq;
	s->options.texts = &result->texts;
}

static int explore_recording(struct crash_setup *s, const struct first_crash *f, const char *trace,
			     struct report *report, uint64_t more, struct crash_again *sum,
			     struct error *err)
{
	struct crash_options saved = s->options;
	struct index *index = s->index; /* of the first trace */
	const uint64_t operation = s->recovery.operation;
	struct allowed allowed = { 0 };
	struct crash_result result;
	struct error failed = { "" };
	struct plan *p;
	int status = -1;

	s->options.sum = NULL;
	s->options.index = s->index = NULL;
	s->options.races.is_wanted = false;   /* only reads after the first crash are judged */
	s->recovery.operation = f->operation; /* recovery itself has no operations */
	p = crash_setup_plan(s, trace, err);
	if (!p)
		goto out;
	for (size_t i = 0; i < f->allowed.n; i++)
		*vec_add(&allowed.hashes) = f->allowed.at[i];
	s->options.allowed = &allowed;
	s->options.wants_first_crashes = more > 1;
	s->options.may_lack_news = true;
	/* the recording begins with a state that lost something already */
	s->options.watches_output = false;
	if ((s->has_files ? files_explore : crash_explore)(p, &s->options, &result, &failed) < 0)
		notes_say(s->notes, "after the crash at failure point %" PRIu64 ": %s", f->point,
			  failed.msg);
	status = report_second_crash(s, p, f, &result, report, more, sum, err);
	crash_result_release(&result);
	vec_release(&allowed.hashes);
	plan_free(p);
out:
	index_close(s->index);
	s->index = index;
	s->options = saved;
	s->recovery.operation = operation;
	return status;
}

static int record_and_explore(struct crash_setup *s, const struct first_crash *f, char **argv,
			      const char *folder, const struct file_roots *roots,
			      struct report *report, uint64_t more, struct crash_again *sum,
			      struct error *err)
{
	char *trace = xasprintf("%s/again.pmt", folder);
	char *dir = dir_in(folder), **paths = xcalloc(roots->list.n + 1, sizeof *paths);
	struct recording recording = { .platform = s->options.platform,
				       .quiet = true,
				       .files_except = s->recording.files_except,
				       .output = trace };
	enum recorded recorded;
	int status;

	for (size_t i = 0; i < roots->list.n; i++)
		paths[i] = file_roots_path(&roots->list.at[i], dir);
	if (s->has_files)
		recording.scratch_dir = dir;
	for (size_t i = 0; i < roots->list.n; i++)
		word_list_add(&recording.files, paths[i]);
	recorded = record_quietly(&recording, argv, err);
	status = recorded == RECORDED_NOTHING ? -1 : 0;
	if (recorded == RECORDED_WELL)
		status = explore_recording(s, f, trace, report, more, sum, err);
	else if (recorded != RECORDED_NOTHING)
		sum->is_complete = false;
	sum->first_crashes++;
	word_list_release(&recording.files);
	words_free(paths);
	free(dir);
	free(trace);
	return status < 0 ? -1 : 0;
}

static int explore_one(struct crash_setup *s, const struct plan *p, const struct first_crash *f,
		       struct report *report, uint64_t more, struct crash_again *sum,
		       struct error *err)
{
	const struct runner_command *c =
		s->recovery.recover ? s->recovery.recover : s->recovery.dump;
	struct file_roots roots = { 0 };
	struct tempdir folder;
	char **argv, *dir;
	int status = -1;

	if (s->has_files && file_roots_find(&roots, p, err) < 0)
		return -1;
	if (tempdir_open(&folder, err) < 0) {
		file_roots_release(&roots);
		return -1;
	}
	dir = dir_in(folder.path);
	argv = s->has_files ? file_roots_words(&roots, c->argv, dir) : on_copy(c, p, folder.path);
	if (!argv)
		error_set(
			err,
			"--failures 2 records recovery on a copy of the pool: its command line must name the pool by {}");
	else if (s->has_files ? files_put_state(p, &s->options, f->state, dir, err) == 0
			      : put_state(s, p, f, folder.path, err) == 0)
		status =
			record_and_explore(s, f, argv, folder.path, &roots, report, more, sum, err);
	file_roots_release(&roots);
	words_free(argv);
	free(dir);
	tempdir_close(&folder);
	return status;
}

int crash_again(struct crash_setup *s, const struct plan *p, const struct crash_result *result,
		struct report *report, uint64_t more, struct crash_again *sum, struct error *err)
{
	const uint64_t deadline_ns = s->options.limits.deadline_ns;
	size_t n = result->first_crashes.n;
	int status = 0;

	for (size_t i = 0; status == 0 && i < n; i++) {
		sum->is_late |= deadline_ns && clock_ns() >= deadline_ns;
		if (i == FIRST_CRASHES_MAX || sum->is_late) {
			sum->left_out += n - i;
			sum->is_complete = false;
			break;
		}
		remember_first(s, p, &result->first_crashes.at[i], result);
		status = explore_one(s, p, &result->first_crashes.at[i], report, more, sum, err);
		if (s->first_plan == p) {
			s->first_plan = NULL;
			s->options.texts = NULL;
		}
	}
	return status;
}
