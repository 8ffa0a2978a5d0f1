/* Runs recovery on what a crash left: puts the images back, fills the region, has a server start the command, and tells how it ended. */
#include "crash/run/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

enum {
	FIRST_TIMEOUT_MS = 60000,
	LATE_FACTOR = 4, /* machines get slower, and lazy runs take longer than the one on the clean image: those are no hangs */
	KILL_MS = 3000,	 /* for a server to end its run */
	TERM_MS = 2000,	 /* for a background command to end by SIGTERM */
	OUTPUT_BYTES = 65536,
	MAX_PROCESSES = 1000,
};
#define ROOM_BYTES (64u << 20) /* less is of no use */

/* ---- beginning and end ---- */

static bool has_room(const char *folder)
{
	struct statvfs v;

	return access(folder, W_OK | X_OK) == 0 && statvfs(folder, &v) == 0 && v.f_bavail * v.f_frsize >= ROOM_BYTES;
}

static int make_folder(struct runner *r, const char *under, struct error *err)
{
	char *real, *tmp = getenv("TMPDIR");

	if (!under)
		under = has_room("/dev/shm") ? "/dev/shm" : tmp && *tmp ? tmp : "/tmp";
	real = realpath(under, NULL);
	if (!real)
		return error_set(err, "%s: %s", under, strerror(errno));
	r->folder = xasprintf("%s/pmend-XXXXXX", real);
	free(real);
	if (!mkdtemp(r->folder)) {
		error_set(err, "%s: %s", r->folder, strerror(errno));
		free(r->folder);
		r->folder = NULL;
		return -1;
	}
	r->images.folder = r->folder;
	return 0;
}

/* The loader splits LD_PRELOAD at spaces and colons: a path that has some is named by a link. */
static int make_preload(struct runner *r, struct error *err)
{
	const char *others = getenv("LD_PRELOAD");
	char *path = realpath(r->o.runtime ? r->o.runtime : "libpmend_rt.so", NULL), *link;

	if (!path)
		return error_set(err, "%s: %s", r->o.runtime ? r->o.runtime : "libpmend_rt.so", strerror(errno));
	if (strpbrk(path, " :")) {
		link = xasprintf("%s/rt.so", r->folder);
		if (strpbrk(link, " :") || symlink(path, link) < 0) {
			error_set(err, "%s: a path with a space or a colon cannot be preloaded", path);
			free(link);
			free(path);
			return -1;
		}
		free(path);
		path = link;
	}
	r->preload = xasprintf("LD_PRELOAD=%s%s%s", path, others && *others ? ":" : "", others ? others : "");
	free(path);
	return 0;
}

static void copy_options(struct runner *r, const struct runner_options *o)
{
	r->o = *o;
	r->o.runtime = r->runtime = o->runtime ? xstrdup(o->runtime) : NULL;
	r->stdin_path = o->stdin_path ? xstrdup(o->stdin_path) : NULL;
	r->pool = o->pool ? xstrdup(o->pool) : NULL;
	r->pool_paths = (struct pool_paths){ r->pool, xcalloc(o->nnumbered + 1, sizeof(char *)), o->nnumbered };
	for (size_t i = 0; i < o->nnumbered; i++)
		r->pool_paths.numbered[i] = o->numbered[i] ? xstrdup(o->numbered[i]) : NULL;
	r->paths = o->paths ? argv_copy((char *const *)o->paths) : NULL;
	if (!o->output_bytes)
		r->o.output_bytes = OUTPUT_BYTES;
}

struct runner *runner_new(const struct runner_options *o, const struct run_mapping *mappings, size_t nmappings, struct error *err)
{
	static const struct image_files no_images;
	struct runner *r = xcalloc(1, sizeof *r);

	r->guardian = r->alive = r->region.fd = -1;
	copy_options(r, o);
	if (make_folder(r, o->folder, err) < 0)
		goto fail;
	r->guardian = guard_start(r->folder, &r->alive, err);
	if (r->guardian < 0) {
		tree_remove(r->folder);
		goto fail;
	}
	if (region_init(&r->region, r->folder, err) < 0 || region_load(&r->region, &no_images, NULL, err) < 0 ||
	    (!o->never_preload && make_preload(r, err) < 0))
		goto fail;
	r->region_env = xasprintf("%s=%s", RUN_ENV_REGION, r->region.path);
	r->region.at->max_processes = MAX_PROCESSES;
	r->region.at->has_roi = o->has_roi;
	for (size_t i = 0; i < nmappings; i++)
		*vec_add(&r->region.mappings) = mappings[i];
	return r;
fail:
	runner_free(r);
	return NULL;
}

void runner_free(struct runner *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->servers.n; i++)
		server_free(r->servers.at[i]);
	vec_release(&r->servers);
	image_files_release(&r->images);
	region_release(&r->region);
	if (r->alive >= 0)
		close(r->alive);
	while (r->guardian > 0 && waitpid(r->guardian, NULL, 0) < 0 && errno == EINTR)
		;
	free(r->folder);
	free(r->runtime);
	free(r->stdin_path);
	for (size_t i = 0; i < r->pool_paths.n; i++)
		free(r->pool_paths.numbered[i]);
	free(r->pool_paths.numbered);
	free(r->pool);
	free(r->paths);
	free(r->preload);
	free(r->region_env);
	free(r);
}

void runner_set_timeout(struct runner *r, uint32_t timeout_ms)
{
	r->o.timeout_ms = timeout_ms;
}

uint32_t runner_timeout(const struct runner *r)
{
	const uint64_t late_ms = r->longest_us / 1000 * LATE_FACTOR, grown_ms = late_ms < FIRST_TIMEOUT_MS ? late_ms : FIRST_TIMEOUT_MS;

	if (!r->o.timeout_ms)
		return FIRST_TIMEOUT_MS;
	return r->o.is_timeout_fixed || grown_ms < r->o.timeout_ms ? r->o.timeout_ms : (uint32_t)grown_ms;
}

/* ---- a failure point, a run ---- */

static void set_limits(struct runner *r)
{
	struct run_region *g = r->region.at;
	uint64_t all = 0, largest = 0;

	for (size_t i = 1; i < r->image->files.n; i++) {
		const uint64_t room = r->image->files.at[i].path ? r->image->files.at[i].room : 0;

		all += room;
		largest = room > largest ? room : largest;
	}
	/* A file may be mapped by the program, by the runtime, and again by either. */
	g->max_memory_bytes = r->o.max_memory_bytes ? r->o.max_memory_bytes + 4 * all : 0;
	g->max_file_bytes = r->o.max_file_bytes > 2 * largest || !r->o.max_file_bytes ? r->o.max_file_bytes : 2 * largest;
}

void runner_load(struct runner *r, const struct crash_image *image, const struct state_set *set)
{
	r->image = image;
	r->set = set;
	image_files_list(&r->images, image, (const char *const *)r->paths);
	r->has_failed = region_load(&r->region, &r->images, set, &r->failure) < 0;
	set_limits(r);
}

void runner_begin(struct runner *r, const uint64_t *left, bool is_lazy)
{
	if (!r->image)
		BUG("runner_begin() before runner_load()");
	if (r->background)
		runner_background_end(r, NULL);
	if (r->has_failed)
		return;
	r->is_lazy = is_lazy;
	region_begin(&r->region, r->set, left, is_lazy);
	if (r->has_no_stacks)
		r->region.at->flags |= RUN_NO_STACKS;
	r->has_failed = image_files_restore(&r->images, r->image, r->set, left, &r->failure) < 0;
	region_note_images(&r->region, &r->images);
}

void runner_want_stacks(struct runner *r, bool wants_stacks)
{
	r->has_no_stacks = !wants_stacks;
}

size_t runner_decisions(const struct runner *r, const struct run_decision **list)
{
	const struct run_region *g = r->region.at;

	*list = (const struct run_decision *)((const char *)g + g->decisions);
	return g->ndecisions < g->decisions_room ? g->ndecisions : g->decisions_room;
}

uint64_t runner_faults(const struct runner *r)
{
	return r->region.at->nfaults;
}

bool runner_has_roi(const struct runner *r)
{
	return r->region.at->has_roi;
}

bool runner_is_judged(const struct runner *r, const struct run_decision *d)
{
	return !(d->flags & RUN_READ_SKIPPED) && (!r->region.at->has_roi || d->flags & RUN_READ_IN_ROI);
}

bool runner_is_written(const struct runner *r, size_t line, uint32_t byte)
{
	const struct run_line *l = (const struct run_line *)((const char *)r->region.at + r->region.at->lines) + line;

	return l->written[byte / 8] >> byte % 8 & 1;
}

const uint64_t *runner_left(const struct runner *r)
{
	return r->region.left;
}

int runner_export(struct runner *r, const uint64_t *left, const char *folder, struct error *err)
{
	return image_files_export(&r->images, r->image, r->set, left, folder, err);
}

/* ---- commands ---- */

/* Why what the run showed does not count, or NULL. */
static const char *why_unsound(struct runner *r, const struct server *s)
{
	const struct run_region *g = r->region.at;

	if (g->is_unsound)
		return g->why_unsound[0] ? g->why_unsound : "the runtime gave up";
	if (g->ndecisions > g->decisions_room) {
		snprintf(r->unsound, sizeof r->unsound, "the run took more than %u decisions", g->decisions_room);
		return r->unsound;
	}
	if (r->is_lazy && s->mode == PROGRAM_PLAIN && g->nlines) {
		snprintf(r->unsound, sizeof r->unsound, "%.100s cannot be preloaded: it %s", s->program, s->why_plain);
		return r->unsound;
	}
	return NULL;
}

static void tell(struct runner *r, struct server *s, const struct run_message *end, bool is_hung, struct run_result *result)
{
	const struct run_region *g = r->region.at;

	*result = (struct run_result){ .time_us = end->time_us, .nkilled = end->nkilled, .is_done = g->is_done != 0,
				       .output_hash = capture_hash(&s->out), .why_unsound = why_unsound(r, s),
				       .signal = (int)g->signal, .signal_addr = g->signal_addr,
				       .signal_stack = g->signal_stack,
				       .signal_nframes = g->signal_nframes < RUN_STACK ? g->signal_nframes : RUN_STACK };
	result->output = capture_text(&s->out, &result->output_len);
	result->errors = capture_text(&s->err, &result->errors_len);
	if (is_hung && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGKILL) {
		result->end = RUN_HUNG;
		result->code = SIGKILL;
	} else if (WIFSIGNALED(end->status)) {
		result->end = RUN_SIGNALLED;
		result->code = WTERMSIG(end->status);
	} else {
		result->end = RUN_EXITED;
		result->code = WEXITSTATUS(end->status);
	}
}

/* Kills all that we ever started and that is still there. The next server_get() finds that servers are dead, and removes them. */
static void purge(struct runner *r)
{
	for (size_t i = 0; i < r->servers.n; i++)
		if (r->servers.at[i]->pid > 0)
			kill(r->servers.at[i]->pid, SIGKILL);
	guard_kill(r->folder, 0);
	for (size_t i = 0; i < r->servers.n; i++)
		server_reap(r->servers.at[i]);
}

/* Ends a run: by each signal in turn, until it is over. 0: the server itself does not answer. */
static int stop(struct runner *r, struct server *s, bool ask_first, struct run_message *end, struct error *err)
{
	int got = 0;

	if (ask_first) {
		server_signal(s, SIGTERM);
		got = server_wait(r, s, TERM_MS, end, err);
	}
	if (got == 0) {
		server_signal(s, SIGKILL);
		got = server_wait(r, s, KILL_MS, end, err);
	}
	if (got > 0)
		return got;
	purge(r); /* the run stopped or killed its server */
	*end = (struct run_message){ .op = RUN_ENDED, .status = SIGKILL };
	return got;
}

/* The server of a run that is to begin. One that died meanwhile (somebody killed it) is replaced. */
bool runner_is_cancelled(const struct runner *r)
{
	return r->o.is_cancelled && __atomic_load_n(r->o.is_cancelled, __ATOMIC_RELAXED);
}

static struct server *start(struct runner *r, const struct runner_command *c, struct error *err)
{
	struct server *s = server_get(r, c, err);

	if (s && server_start(s, err) < 0) {
		s = server_get(r, c, err);
		if (s && server_start(s, err) < 0)
			s = NULL;
	}
	return s;
}

int runner_command_run(struct runner *r, const struct runner_command *c, struct run_result *result, struct error *err)
{
	const uint32_t timeout_ms = runner_timeout(r);
	struct run_message end;
	struct server *s;
	bool is_hung = false;
	int got;

	*result = (struct run_result){ .end = RUN_NOT_STARTED, .output = "", .errors = "" };
	if (r->has_failed)
		return error_set(err, "%s", r->failure.msg);
	if (!r->background)
		region_begin_command(&r->region);
	s = start(r, c, err);
	if (!s)
		return -1;
	got = server_wait(r, s, timeout_ms, &end, err);
	if (got == 0) {
		is_hung = true;
		got = stop(r, s, false, &end, err);
	} else if (got < 0 && s->pid < 0) {
		purge(r);
	}
	if (got < 0)
		return -1;
	if (is_hung && runner_is_cancelled(r))
		return error_set(err, "interrupted");
	tell(r, s, &end, is_hung, result);
	if (!is_hung && result->time_us > r->longest_us)
		r->longest_us = result->time_us;
	return 0;
}

size_t runner_objects(const struct runner *r, const struct runner_command *c, const struct trace_object **list)
{
	*list = NULL;
	for (size_t i = 0; i < r->servers.n; i++)
		if (argv_equal(r->servers.at[i]->command, c->argv)) {
			*list = r->servers.at[i]->objects.at;
			return r->servers.at[i]->objects.n;
		}
	return 0;
}

/* ---- background ---- */

int runner_background(struct runner *r, const struct runner_command *c, struct error *err)
{
	struct server *s;

	if (r->background)
		BUG("a second background command");
	if (r->has_failed)
		return error_set(err, "%s", r->failure.msg);
	region_begin_command(&r->region);
	s = start(r, c, err);
	r->background = s;
	return s ? 0 : -1;
}

bool runner_background_runs(struct runner *r)
{
	struct pollfd p = { .events = POLLIN };

	if (!r->background || r->background->pid < 0)
		return false;
	capture_drain(&r->background->out);
	capture_drain(&r->background->err);
	p.fd = r->background->control; /* its end waits there for runner_background_end() */
	return poll(&p, 1, 0) == 0;
}

void runner_background_end(struct runner *r, struct run_result *result)
{
	struct server *s = r->background;
	struct run_message end;
	struct error err;
	struct run_result ignored;
	bool runs = runner_background_runs(r);
	int got;

	if (!s)
		BUG("there is no background command");
	got = runs ? stop(r, s, true, &end, &err) : server_wait(r, s, KILL_MS, &end, &err);
	if (got <= 0)
		end = (struct run_message){ .op = RUN_ENDED, .status = SIGKILL };
	r->background = NULL;
	tell(r, s, &end, runs, result ? result : &ignored);
}
