/* Has an engine explore parts until all are over. Progress is only in files, including the name of
 * the job, so whoever waits may stop and come back. */
#include "distribute/spread/spreading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/whole_file.h"

/* asks the scheduler after one second at first, then less often, down to every ten seconds */
enum { TICK_MS = 200, LOOK_TICKS = 5, LOOK_TICKS_MAX = 50 };

struct spreading {
	const struct spread *spread;
	const struct engine *engine;
	struct spread_parts *parts;
	const struct spread_watch *watch;
	char *job; /* NULL if no job is running */
	bool has_told_held, has_told_silence;
};

static char *file_of(const struct spread_parts *p, const char *name)
{
	return xasprintf("%s/%s", p->folder, name);
}

static void forget_job(struct spreading *s)
{
	char *path = file_of(s->parts, "job");

	unlink(path);
	free(path);
	free(s->job);
	s->job = NULL;
}

static void remember_job(struct spreading *s)
{
	char *path = file_of(s->parts, "job");
	struct whole_file file;
	struct error err;

	whole_file_begin(&file, path);
	fprintf(file.out, "%s\n", s->job);
	if (whole_file_end(&file, &err) < 0)
		notes_say(
			s->watch->notes,
			"the name of the job cannot be saved, so do not run this command again before the job has ended: %s",
			err.msg);
	free(path);
}

/* Reads the name of a job that was submitted earlier. */
static void find_job(struct spreading *s)
{
	char *path = file_of(s->parts, "job"), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;

	if (f && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		s->job = line;
		line = NULL;
	}
	if (f)
		fclose(f);
	free(line);
	free(path);
}

static int submit_job(struct spreading *s, struct error *err)
{
	char *path = file_of(s->parts, "job.sh");
	struct whole_file file;
	int result;

	spread_parts_begin(s->parts);
	whole_file_begin(&file, path);
	s->engine->print(s->spread, s->parts, file.out);
	result = whole_file_end(&file, err);
	if (result == 0 && !(s->job = s->engine->submit(path, err)))
		result = -1;
	if (result == 0)
		remember_job(s);
	free(path);
	return result;
}

static void tell_held(struct spreading *s, const struct queue *q)
{
	if (q->is_held && !s->has_told_held)
		notes_say(
			s->watch->notes,
			"a task of job %s is held (%s): it waits until somebody releases it, or until you cancel it",
			s->job, q->reason);
	s->has_told_held |= q->is_held;
}

/* Asks the engine about the job. An engine that does not answer is asked again later: the scheduler
 * may be restarting, and the job continues meanwhile. */
static int ask_engine(struct spreading *s, struct queue *q)
{
	struct error err;
	int result = s->engine->look(s->job, q, &err);

	if (result < 0 && !s->has_told_silence)
		notes_say(s->watch->notes, "waiting for job %s, but nothing is known about it: %s",
			  s->job, err.msg);
	s->has_told_silence = result < 0;
	if (result == 0)
		tell_held(s, q);
	return result;
}

static void pause_before_asking(const struct spreading *s, unsigned nticks)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };

	for (unsigned i = 0; i < nticks && !s->watch->is_interrupted(s->watch->arg); i++)
		nanosleep(&tick, NULL);
}

/* Waits until no task of the job is left. */
static enum spread_end wait_for_job(struct spreading *s, struct error *err)
{
	for (unsigned nticks = LOOK_TICKS;; nticks += nticks < LOOK_TICKS_MAX) {
		struct queue q = { 0 };
		const bool is_known = ask_engine(s, &q) == 0,
			   is_left = !is_known || q.nrunning + q.nwaiting > 0;
		int result = spread_parts_read(s->parts, err);

		if (result == 0 && is_known)
			s->watch->progress(s->parts, &q, s->watch->arg);
		free(q.reason);
		if (result < 0)
			return SPREAD_FAILED;
		if (!is_left)
			return SPREAD_OVER;
		pause_before_asking(s, nticks);
		if (s->watch->is_interrupted(s->watch->arg))
			return SPREAD_INTERRUPTED;
	}
}

/* Gives the last line of a part's log; NULL if there is none. free() it. */
static char *last_line(const struct spread_parts *p, uint32_t index)
{
	char *path = spread_parts_path(p, index, "log"), *line = NULL, *last = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line) {
			free(last);
			last = xstrdup(line);
		}
	}
	if (f)
		fclose(f);
	free(line);
	free(path);
	return last;
}

/* Explains why it makes no sense to continue, with the last words of the first part that is not
 * over. */
static int give_up(const struct spreading *s, const char *why, struct error *err)
{
	const struct spread_parts *p = s->parts;
	char *said;
	uint32_t i = 0;

	while (i + 1 < p->n && p->at[i].is_over)
		i++;
	said = last_line(p, i);
	error_set(err, "%u of %u parts are over, and %s; part %u %s%s", spread_parts_nover(p), p->n,
		  why, i + 1,
		  said ? "said last: "
		       : "left no log: can the nodes write to the folder of the parts?",
		  said ? said : "");
	free(said);
	return SPREAD_FAILED;
}

static enum spread_end run_until_over(struct spreading *s, struct error *err)
{
	enum spread_end end = SPREAD_OVER;

	for (uint32_t nsubmitted = 0;
	     end == SPREAD_OVER && spread_parts_nover(s->parts) < s->parts->n;) {
		const uint64_t before = spread_parts_ndone(s->parts) + spread_parts_nover(s->parts);

		if (s->job) {
			notes_say(s->watch->notes, "waiting for job %s, which was submitted before",
				  s->job);
		} else {
			if (nsubmitted > s->spread->nretries)
				return give_up(s, "the others were ended too often (see --retries)",
					       err);
			nsubmitted++;
			if (submit_job(s, err) < 0)
				return SPREAD_FAILED;
		}
		end = wait_for_job(s, err);
		if (end != SPREAD_OVER)
			break;
		forget_job(s);
		if (nsubmitted > 0 && spread_parts_nover(s->parts) < s->parts->n &&
		    spread_parts_ndone(s->parts) + spread_parts_nover(s->parts) == before)
			return give_up(s, "the others make no progress", err);
	}
	return end;
}

enum spread_end spreading_run(const struct spread *spread, const struct engine *e,
			      struct spread_parts *p, const struct spread_watch *w,
			      struct error *err)
{
	struct spreading s = { .spread = spread, .engine = e, .parts = p, .watch = w };
	enum spread_end end = SPREAD_FAILED;
	struct queue q;

	if (spread_parts_read(p, err) < 0)
		return SPREAD_FAILED;
	find_job(&s);
	if (s.job && e->look(s.job, &q, err) < 0)
		goto out;
	if (s.job) {
		free(q.reason);
		if (q.nrunning + q.nwaiting == 0)
			forget_job(&s);
	}
	end = run_until_over(&s, err);
	if (end == SPREAD_INTERRUPTED && e->cancel(s.job, err) < 0)
		end = SPREAD_FAILED;
out:
	free(s.job);
	return end;
}

void spreading_remove(const struct spread_parts *p)
{
	char *job = file_of(p, "job"), *script = file_of(p, "job.sh");

	unlink(job);
	unlink(script);
	spread_parts_remove(p);
	free(job);
	free(script);
}
