/* Runs a program once under our Valgrind tool, which writes the trace itself, and then reports the
 * result. The trace is written in place, so that a killed recording leaves what it has under the
 * given name. An old file of that name is replaced only when there is a new recording. */
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/files.h"
#include "record/target.h"
#include "pools/unseen/compare.h"
#include "pools/unseen/others.h"
#include "pools/unseen/sums.h"
#include "trace/header.h"
#include "util/alloc.h"
#include "util/cmdline.h"
#include "util/proc.h"

#define NAMED_MAX 3 /* processes that a message names */
/* the program inherits the log's descriptor, so it gets a high number */
#define LOG_FD_FROM 100

static int folder_check(const char *path, struct error *err)
{
	char *copy = xstrdup(path), *folder = dirname(copy);
	struct stat st;
	int result = 0;

	if (stat(folder, &st) < 0)
		result = error_set(err, "cannot write %s: the folder %s: %s", path, folder,
				   strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		result = error_set(err, "cannot write %s: %s is not a folder", path, folder);
	free(copy);
	return result;
}

static int output_check(const char *path, struct error *err)
{
	struct stat st;
	int fd;

	if (folder_check(path, err) < 0)
		return -1;
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return error_set(
				err, "cannot write %s: it is a folder; name a file in it with -o",
				path);
		if (!S_ISREG(st.st_mode))
			return error_set(err, "cannot write %s: a trace must be a regular file",
					 path);
		if (access(path, W_OK) < 0)
			return error_set(err, "cannot write %s: %s; choose another file with -o",
					 path, strerror(errno));
		return 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set(err, "cannot write %s: %s; choose another file with -o", path,
				 strerror(errno));
	close(fd);
	unlink(path);
	return 0;
}

static int log_open(struct error *err)
{
	int fd = memfd_create("pmend-log", MFD_CLOEXEC), high;

	if (fd < 0)
		return error_set(err, "cannot make a temporary file: %s", strerror(errno));
	high = fcntl(fd, F_DUPFD, LOG_FD_FROM);
	if (high < 0)
		error_set(err, "cannot use file descriptor %d: %s; raise 'ulimit -n'", LOG_FD_FROM,
			  strerror(errno));
	close(fd);
	return high;
}

/* Quotes Valgrind's messages. False: there were none. */
static bool log_quote(const struct notes *notes, int fd)
{
	char buf[4096];
	bool is_empty = true;
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	for (; (n = read(fd, buf, sizeof buf)) > 0; is_empty = false)
		notes_quote(notes, buf, (size_t)n);
	return !is_empty;
}

/* Moves an old trace away, because a recorder joins a trace that it finds. It is moved back if
 * nothing was recorded. */
static int old_put_aside(const char *output, char **old, struct error *err)
{
	*old = NULL;
	if (access(output, F_OK) < 0)
		return 0;
	*old = xasprintf("%s.%d.old", output, getpid());
	if (rename(output, *old) == 0)
		return 0;
	free(*old);
	*old = NULL;
	if (truncate(output, 0) < 0) /* the folder is read-only, but the file can be written */
		return error_set(err, "cannot write %s: %s; choose another file with -o", output,
				 strerror(errno));
	return 0;
}

static void old_settle(char *old, const char *output, bool is_recorded, const struct notes *notes)
{
	if (!is_recorded)
		unlink(output); /* an empty file, if any */
	if (old && is_recorded)
		unlink(old);
	else if (old && rename(old, output) < 0)
		notes_say(notes, "the old trace is now called %s: %s", old, strerror(errno));
	free(old);
}

/* Gives the end of a sentence about a recording that ended early: which part of it can be used,
 * such as "the trace is complete up to that point: app.pmt". free() it. */
static char *rest_tell(const struct recording *r, const char *kept)
{
	return r->is_passing ? xstrdup("it is analysed up to that point")
			     : xasprintf("%s: %s", kept, r->output);
}

/* Says how the program ended; true if it ended well. */
static bool say_ending(const struct recording *r, int status, bool is_late)
{
	char name[64], *rest;

	if (is_late) {
		rest = rest_tell(r, "the trace is complete up to that point");
		notes_say(r->notes,
			  "the program still ran after %" PRIu32
			  " s (--max-time), and was ended; %s",
			  r->max_seconds, rest);
		free(rest);
		return true;
	}

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	rest = rest_tell(r, "the trace is complete up to that point");
	if (WIFSIGNALED(status))
		notes_say(r->notes, "the program was killed by %s; %s",
			  proc_signal_name(WTERMSIG(status), name, sizeof name), rest);
	else
		notes_say(r->notes, "the program ended with exit status %d; %s",
			  WEXITSTATUS(status), rest);
	free(rest);
	return false;
}

/* Writes the ending into the trace, which may be judged later and elsewhere. If that fails, it does
 * no harm. */
static void ending_write(const char *output, int status, uint32_t late_seconds)
{
	const struct pmt_ending own = { WIFSIGNALED(status) ? PMT_END_SIGNAL : PMT_END_EXIT,
					(uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status)
								       : WEXITSTATUS(status)) },
				late = { PMT_END_TIME, late_seconds },
				e = late_seconds ? late : own;
	int fd = open(output, O_WRONLY | O_CLOEXEC);
	ssize_t ignored = fd < 0 ? 0 : pwrite(fd, &e, sizeof e, PMT_ENDING_OFFSET);

	(void)ignored;
	if (fd >= 0)
		close(fd);
}

static void no_pm_tell(const struct recording *r)
{
	if (r->files.n)
		notes_say(
			r->notes,
			"no file seen: the program changed and opened none below --files (or {dir}), and mapped none as persistent memory");
	else if (r->pm.n)
		notes_say(
			r->notes,
			"the program mapped no shared writable file that matches --pm; a GLOB "
			"without '/' is compared with the file's name, any other with the whole path");
	else
		notes_say(r->notes,
			  "the program mapped no shared writable file%s; did it get {pool}?",
			  r->no_follow ? " (its children were not followed)" : "");
}

/* Reports the result. is_ended: the recipe stopped the program. */
static enum recorded result_tell(const struct recording *r, const struct pmt_header *header,
				 const char *output, int status, bool is_late, bool is_ended)
{
	const struct pmt_header h = *header;
	const bool is_broken = !h.finished && !h.error && WIFEXITED(status);
	bool is_well = is_ended || say_ending(r, status, is_late);
	struct stat st;
	char *rest;

	if (is_broken)
		notes_say(r->notes, "the recorder itself failed; its messages are above");
	if (h.error) {
		rest = rest_tell(r, "everything before that is readable");
		notes_say(r->notes, "the trace is incomplete, writing it failed: %s; %s",
			  strerror((int)h.error), rest);
		free(rest);
		is_well = false;
	}
	if (h.nfiles == 0 && is_broken) {
		/* then nobody knows what the program maps */
	} else if (h.nfiles == 0) {
		no_pm_tell(r);
	} else if (!r->quiet && !h.error) {
		notes_say(r->notes,
			  "recorded %" PRIu64 " events on %" PRIu32 " file%s in %" PRIu32
			  " process%s: %s, %" PRIu64 " bytes",
			  h.seq, h.nfiles, h.nfiles == 1 ? "" : "s", h.nstreams,
			  h.nstreams == 1 ? "" : "es", r->output,
			  stat(output, &st) == 0 ? (uint64_t)st.st_size : h.end);
	}
	if (h.bad_stacks) {
		notes_say(
			r->notes,
			"%" PRIu32
			" call stacks differ from what Valgrind unwinds; the first ones are above",
			h.bad_stacks);
		is_well = false;
	}
	return h.nfiles == 0 ? RECORDED_NO_PM : is_well ? RECORDED_WELL : RECORDED_FAILURE;
}

/* ---- while it runs ---- */

struct running {
	const struct recording *recording;
	const char *output;
	struct others others;
	struct recipe_run *recipe; /* NULL: none */
	int said[2][2];            /* with a recipe: pipes for the program's output */
};

/* Passes the program's output on to where it would have gone. */
static void said_pass(const struct running *r)
{
	static const int to[2] = { STDOUT_FILENO, STDERR_FILENO };
	char buf[16384];
	ssize_t n, done, put;

	for (int i = 0; i < 2; i++)
		while ((n = read(r->said[i][0], buf, sizeof buf)) > 0) {
			recipe_hear(r->recipe, buf, (size_t)n);
			for (done = 0; done < n; done += put)
				if ((put = write(to[i], buf + done, (size_t)(n - done))) <= 0)
					break;
		}
}

static int steer_step(bool is_over, bool is_gone, void *arg)
{
	struct running *r = arg;

	said_pass(r);
	return recipe_step(r->recipe, is_over, is_gone);
}

static void steer_cut(void *arg)
{
	recipe_cut(((struct running *)arg)->recipe);
}

static bool steer_is_own(pid_t pid, void *arg)
{
	return recipe_is_child(((struct running *)arg)->recipe, pid);
}

static void steer_own_end(pid_t pid, int wait_status, void *arg)
{
	recipe_child_ended(((struct running *)arg)->recipe, pid, wait_status);
}

/* Prepares the process that becomes the program, in that process, before the program starts. */
static void become(void *arg)
{
	const struct running *r = arg;

	recorder_raise_files();
	if (!r->recipe)
		return;
	dup2(r->said[0][1], STDOUT_FILENO);
	dup2(r->said[1][1], STDERR_FILENO);
}

static int said_open(struct running *r, struct error *err)
{
	for (int i = 0; i < 2; i++)
		if (pipe2(r->said[i], O_CLOEXEC) < 0 ||
		    fcntl(r->said[i][0], F_SETFL, O_NONBLOCK) < 0)
			return error_set(err, "cannot make a pipe: %s", strerror(errno));
	return 0;
}

static void said_close(struct running *r)
{
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			if (r->said[i][k] >= 0)
				close(r->said[i][k]);
}

/* Did the recording go as the recipe says? False with err if the recipe could not be followed and
 * the server is not to blame. If the server failed, it is judged up to that point. */
static bool recipe_judge(const struct running *r, int status, struct error *err)
{
	const char *failure = r->recipe ? recipe_failure(r->recipe) : NULL, *said;
	size_t len_bytes;

	if (!failure)
		return true;
	said = recipe_said(r->recipe, &len_bytes);
	notes_quote(r->recording->notes, said, len_bytes);
	if (!recipe_blames_server(r->recipe, status)) {
		error_set(err, "%s", failure);
		return false;
	}
	notes_say(r->recording->notes, "%s", failure);
	return true;
}

static void progress_tell(void *arg)
{
	struct running *r = arg;
	struct error ignored;
	struct pmt_header h;
	struct stat st;

	if (r->recording->kept) {
		kept_receive(r->recording->kept);
		others_look(&r->others, r->recording->kept, false);
	}
	if (r->recording->on_progress && header_read(&h, r->output, &ignored) == 0 &&
	    stat(r->output, &st) == 0)
		r->recording->on_progress(h.seq, (uint64_t)st.st_size, false,
					  r->recording->progress_arg);
}

static void progress_end(const struct recording *r)
{
	if (r->on_progress)
		r->on_progress(0, 0, true, r->progress_arg);
}

/* Is the word one of Valgrind's, before those of the program? */
static bool is_valgrinds(const char *word, unsigned number)
{
	const char *name = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;

	return number == 0 ? strncmp(name, "valgrind", strlen("valgrind")) == 0 : word[0] == '-';
}

static void left_tell(const pid_t *pids, size_t n, void *arg)
{
	const struct running *r = arg;
	char *names = NULL, *longer, *name;
	const char *rest = r->recording->no_follow ? "not recorded (--no-follow)"
			   : n == 1                ? "recorded until it ends (Ctrl-C ends it)"
						   : "recorded until they end (Ctrl-C ends them)";

	for (size_t i = 0; i < n && i < NAMED_MAX; i++) {
		name = cmdline_of(pids[i], is_valgrinds);
		longer = xasprintf("%s%s%s", names ? names : "", names ? ", " : "", name);
		free(names);
		free(name);
		names = longer;
	}
	progress_end(r->recording);
	if (n > NAMED_MAX)
		notes_say(
			r->recording->notes,
			"the program ended, but %s and %zu more are still running in the background; they are %s",
			names, n - NAMED_MAX, rest);
	else
		notes_say(r->recording->notes,
			  "the program ended, but %s still run%s in the background; %s %s", names,
			  n == 1 ? "s" : "", n == 1 ? "it is" : "they are", rest);
	free(names);
}

/* Finds out, once all processes have ended, what changed the files unseen. Sums are enough for that
 * later; but if several processes stored to a byte, only the file itself shows whose store came
 * last. */
static void unseen_tell(const struct recording *r, const char *output, const struct pmt_header *h,
			struct others *others)
{
	char *missing = NULL;

	kept_receive(r->kept);
	others_look(others, r->kept, true);
	if (h->nstreams == 1 && others->found)
		missing = compare_tell(output, others->found);
	if (h->nstreams > 1 || !sums_write(output, h->nfiles, r->kept)) {
		free(missing);
		missing = compare_files(output, h->nfiles, r->kept, others->found);
	}
	if (missing)
		notes_say(r->notes, "the trace is incomplete: %s", missing);
	free(missing);
}

#define RECORDED_AGAIN 100 /* internal: record again, because the files are out of the way now */

/* Moves away the file at which the recorder stopped the program because of --fresh: that was no
 * recording yet, and the program must be recorded again. */
static int clear_files(const struct recording *r, const char *output, struct error *err)
{
	int cleared = r->fresh ? set_aside_clear(r->fresh, output, err) : 0;

	return cleared > 0 ? RECORDED_AGAIN : cleared;
}

static void without_tell(const struct recording *r)
{
	if (r->fresh && set_aside_first(r->fresh))
		notes_say(r->notes, "with --fresh, the program started without %s",
			  set_aside_first(r->fresh));
}

/* Runs the program once. Is there a trace now? */
static enum recorded record(const struct recording *r, const char *output, int log_fd, char **argv,
			    char **env, struct error *err)
{
	struct pmt_header h;
	struct error ignored;
	bool is_recorded, is_stopped, is_late, is_served, is_ended, is_quoted = false;
	enum recorded result;
	struct running running = { .recording = r,
				   .output = output,
				   .said = { { -1, -1 }, { -1, -1 } } };
	const struct proc_steer steer = { .step = steer_step,
					  .on_cut = steer_cut,
					  .is_own = steer_is_own,
					  .on_own_end = steer_own_end,
					  .arg = &running };
	const struct proc_watch watch = { .on_tick = progress_tell,
					  .on_left = left_tell,
					  .arg = &running,
					  .in_child = become,
					  .steer = r->recipe.client ? &steer : NULL,
					  .max_seconds = r->max_seconds };
	int status, cleared, run = -1;
	char *old;

	if (old_put_aside(output, &old, err) < 0)
		return RECORDED_NOTHING;
	if (r->recipe.client)
		running.recipe =
			recipe_begin(&r->recipe, getpid(), r->scratch_pool, r->scratch_dir);
	if (!running.recipe || said_open(&running, err) == 0)
		run = proc_run_watched(argv, env, !r->no_follow, &watch, &status, err);
	progress_end(r);
	if (running.recipe && run == 0)
		said_pass(&running);
	said_close(&running);
	if (run < 0) {
		recipe_end(running.recipe);
		old_settle(old, output, false, r->notes);
		return RECORDED_NOTHING;
	}
	is_stopped = status & PROC_TOLD_TO_END;
	is_late = (status & PROC_TIME_WAS_OVER) && !is_stopped;
	status &= ~(PROC_TOLD_TO_END | PROC_TIME_WAS_OVER);
	is_recorded = header_read(&h, output, &ignored) == 0 && h.seq > 0;
	cleared = is_recorded ? clear_files(r, output, err) : 0;
	is_served = !is_recorded || cleared != 0 || recipe_judge(&running, status, err);
	is_ended = running.recipe && recipe_has_ended(running.recipe, status);
	recipe_end(running.recipe);
	old_settle(old, output, is_recorded && cleared == 0 && is_served, r->notes);
	if (cleared != 0)
		return (enum recorded)cleared;
	if (!is_served)
		return RECORDED_NOTHING;
	if (!is_recorded || h.bad_stacks || (!h.finished && !h.error && WIFEXITED(status)))
		is_quoted = log_quote(r->notes, log_fd);
	if (!is_recorded) {
		error_set(
			err,
			is_quoted
				? "nothing was recorded (status %d); the messages above say why"
				: "valgrind could not start the program (status %d); its messages, if any, are above",
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		return RECORDED_NOTHING;
	}
	ending_write(output, status, is_late ? r->max_seconds : 0);
	if (r->kept && h.nfiles > 0 && !h.error && !is_stopped)
		unseen_tell(r, output, &h, &running.others);
	others_release(&running.others);
	result = result_tell(r, &h, output, status, is_late, is_ended);
	if (result != RECORDED_WELL)
		without_tell(r);
	return is_stopped && result == RECORDED_FAILURE ? RECORDED_STOPPED : result;
}

static void memory_close(const struct recording *r)
{
	if (r->memory_fd)
		close(r->memory_fd);
}

enum recorded recording_run(const struct recording *asked, char **target, struct error *err)
{
	struct recording own = *asked, *r = &own;
	char *output = NULL, **argv = NULL, **env = NULL;
	enum recorded result = RECORDED_NOTHING;
	int log_fd = -1;

	if (target_check(target[0], err) < 0 || recipe_find_programs(&r->recipe, err) < 0)
		return RECORDED_NOTHING;
	output = realpath(r->output, NULL); /* so that a symbolic link stays one */
	if (!output)
		output = path_absolute(r->output, err);
	if (!output || output_check(output, err) < 0)
		goto out;
	log_fd = log_open(err);
	if (log_fd < 0)
		goto out;
	env = recorder_env(r, environ, err);
	own.kept = kept_new(LOG_FD_FROM);
	do {
		words_free(argv);
		memory_close(r);
		own.memory_fd = recorder_memory();
		argv = env ? recorder_argv(r, output, log_fd, target, err) : NULL;
		result = argv ? record(r, output, log_fd, argv, env, err) : RECORDED_NOTHING;
	} while ((int)result == RECORDED_AGAIN);
out:
	if (log_fd >= 0)
		close(log_fd);
	memory_close(r);
	kept_free(own.kept);
	words_free(argv);
	words_free(env);
	free(output);
	return result;
}
