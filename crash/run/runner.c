/* Prepares the memory on which recovery runs: restores the images, fills the region before each
 * run, and reads it after the run. */
#include "crash/run/runner.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "util/tempdir.h"
#include "util/tunables.h"

enum { OUTPUT_BYTES = 65536 };

/* ---- making and freeing a runner ---- */

static int make_folder(struct runner *r, const char *under, struct error *err)
{
	char *real;

	if (!under)
		under = room_choose(0);
	real = realpath(under, NULL);
	if (!real)
		return error_set(err, "%s: %s", under, strerror(errno));
	r->folder = xasprintf("%s/pmend-XXXXXX", real);
	free(real);
	r->guardian = guard_start(r->folder, &r->alive, err);
	if (r->guardian < 0) {
		free(r->folder);
		r->folder = NULL;
		return -1;
	}
	r->images.folder = r->folder;
	r->pool_paths.folder = r->folder;
	return 0;
}

/* Makes the value of LD_PRELOAD. The loader splits it at spaces and colons, so a path that has them
 * is replaced by a link. */
static int make_preload(struct runner *r, struct error *err)
{
	const char *others = getenv("LD_PRELOAD");
	char *path = realpath(r->o.runtime ? r->o.runtime : "libpmend_rt.so", NULL), *link;

	if (!path)
		return error_set(err, "%s: %s", r->o.runtime ? r->o.runtime : "libpmend_rt.so",
				 strerror(errno));
	if (strpbrk(path, " :")) {
		link = xasprintf("%s/rt.so", r->folder);
		if (strpbrk(link, " :") || symlink(path, link) < 0) {
			error_set(err, "%s: a path with a space or a colon cannot be preloaded",
				  path);
			free(link);
			free(path);
			return -1;
		}
		free(path);
		path = link;
	}
	r->preload = xasprintf("LD_PRELOAD=%s%s%s", path, others && *others ? ":" : "",
			       others ? others : "");
	free(path);
	return 0;
}

static void copy_options(struct runner *r, const struct runner_options *o)
{
	r->o = *o;
	r->o.runtime = r->runtime = o->runtime ? xstrdup(o->runtime) : NULL;
	r->stdin_path = o->stdin_path ? xstrdup(o->stdin_path) : NULL;
	r->pool = o->pool ? xstrdup(o->pool) : NULL;
	r->pool_paths = (struct pool_paths){ .pool = r->pool,
					     .numbered = xcalloc(o->nnumbered + 1, sizeof(char *)),
					     .n = o->nnumbered,
					     .operation = 1 };
	for (size_t i = 0; i < o->nnumbered; i++)
		r->pool_paths.numbered[i] = o->numbered[i] ? xstrdup(o->numbered[i]) : NULL;
	r->paths = o->paths ? argv_copy((char *const *)o->paths) : NULL;
	if (!o->output_bytes)
		r->o.output_bytes = OUTPUT_BYTES;
}

struct runner *runner_new(const struct runner_options *o, const struct run_mapping *mappings,
			  size_t nmappings, struct error *err)
{
	static const struct image_files no_images;
	struct runner *r = xcalloc(1, sizeof *r);

	r->guardian = r->alive = r->region.fd = r->opens = r->exceeded = -1;
	copy_options(r, o);
	if (make_folder(r, o->folder, err) < 0)
		goto fail;
	if (region_init(&r->region, r->folder, err) < 0 ||
	    region_load(&r->region, &no_images, NULL, err) < 0 ||
	    (!o->never_preload && make_preload(r, err) < 0))
		goto fail;
	r->region_env = xasprintf("%s=%s", RUN_ENV_REGION, r->region.path);
	r->tunables = tunables_env();
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
	if (r->opens >= 0)
		close(r->opens);
	image_files_release(&r->images);
	region_release(&r->region);
	if (r->alive >= 0)
		close(r->alive);
	while (r->guardian > 0 && waitpid(r->guardian, NULL, 0) < 0 && errno == EINTR)
		;
	free(r->folder);
	free(r->dir);
	free(r->runtime);
	free(r->stdin_path);
	for (size_t i = 0; i < r->pool_paths.n; i++)
		free(r->pool_paths.numbered[i]);
	free(r->pool_paths.numbered);
	free(r->pool);
	free(r->paths);
	free(r->preload);
	free(r->region_env);
	free(r->tunables);
	free(r->why_blind);
	free(r);
}

/* ---- failure points and runs ---- */

void runner_load(struct runner *r, const struct crash_image *image, const struct state_set *set)
{
	r->loaded = NULL;
	r->image = image;
	r->set = set;
	image_files_list(&r->images, image, (const char *const *)r->paths);
	r->has_failed = region_load(&r->region, &r->images, set, &r->failure) < 0;
	limits_set(r);
}

size_t runner_folder_path_max(const struct runner *r)
{
	return sizeof((struct run_file *)0)->image - strlen(r->folder) - sizeof "/at/dir/";
}

/* Servers know {dir} from their start: it must be there before. */
static int make_dir(struct runner *r)
{
	char *at;
	int result;

	if (r->dir)
		return 0;
	at = xasprintf("%s/at", r->folder);
	result = mkdir(at, 0755);
	free(at);
	r->dir = xasprintf("%s/at/dir", r->folder);
	r->pool_paths.dir = r->dir;
	return result < 0 ? -1 : mkdir(r->dir, 0755);
}

/* What recovery left beside {dir} goes away. It may have removed {dir}, or changed its mode. */
static int dir_renew(struct runner *r)
{
	char *at = xasprintf("%s/at", r->folder), *path;
	struct dirent *e;
	struct stat st;
	DIR *d;

	chmod(at, 0755);
	d = opendir(at);
	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    strcmp(e->d_name, "dir") == 0)
			continue;
		path = xasprintf("%s/%s", at, e->d_name);
		tree_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
	free(at);
	if (lstat(r->dir, &st) == 0 && S_ISDIR(st.st_mode))
		return (st.st_mode & 07777) == 0755 ? 0 : chmod(r->dir, 0755);
	unlink(r->dir);
	return mkdir(r->dir, 0755);
}

const char *runner_folder_path(const struct runner *r)
{
	return r->dir;
}

void runner_load_folder(struct runner *r, const struct runner_folder *f,
			const struct state_set *set)
{
	static const struct crash_image no_image;

	r->loaded = f;
	r->image = &no_image;
	r->set = set;
	if (make_dir(r) < 0) {
		error_set(&r->failure, "%s: %s", r->dir, strerror(errno));
		r->has_failed = true;
		return;
	}
	r->pool_paths.places = f->places;
	r->pool_paths.nplaces = f->nplaces;
	image_files_list_folder(&r->images, r->dir, f->files, f->nfiles);
	r->has_failed = region_load(&r->region, &r->images, set, &r->failure) < 0;
	limits_set(r);
}

void runner_begin(struct runner *r, const uint64_t *left, bool is_lazy)
{
	if (!r->image)
		BUG("runner_begin() before runner_load()");
	if (r->background)
		runner_background_end(r, NULL);
	if (r->has_failed)
		return;
	if (r->loaded && dir_renew(r) < 0) {
		error_set(&r->failure, "%s: %s", r->dir, strerror(errno));
		r->has_failed = true;
		return;
	}
	r->is_lazy = is_lazy;
	region_begin(&r->region, r->set, left, is_lazy, r->watch);
	if (r->has_no_stacks)
		r->region.at->flags |= RUN_NO_STACKS;
	r->has_failed = (r->loaded ? r->loaded->make(r->loaded->arg, r->dir, left, &r->failure)
				   : image_files_restore(&r->images, r->image, r->set, left,
							 &r->failure)) < 0;
	region_note_images(&r->region, &r->images);
}

void runner_write(struct runner *r, uint64_t addr, const uint8_t *bytes, size_t len_bytes)
{
	image_files_write(&r->images, addr, bytes, len_bytes);
}

void runner_set_operation(struct runner *r, uint64_t operation)
{
	r->pool_paths.operation = operation;
}

void runner_watch(struct runner *r, enum runner_watch watch)
{
	r->watch = watch;
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

bool runner_has_opened(const struct runner *r)
{
	return r->has_opened || r->region.at->has_opened;
}

bool runner_has_missed(const struct runner *r)
{
	return r->has_missed || r->region.at->has_missed;
}

bool runner_is_moved(const struct runner *r)
{
	return r->region.at->is_moved;
}

bool runner_has_moved(const struct runner *r)
{
	return r->region.at->has_moved;
}

bool runner_has_sandbox(const struct runner *r)
{
	return r->region.at->has_sandbox;
}

bool runner_is_judged(const struct runner *r, const struct run_decision *d)
{
	return !(d->flags & RUN_READ_SKIPPED) &&
	       (!r->region.at->has_roi || d->flags & RUN_READ_IN_ROI);
}

uint64_t runner_line(const struct runner *r, size_t line)
{
	return r->set->lines.at[line].addr;
}

bool runner_is_written(const struct runner *r, size_t line, uint32_t byte)
{
	const struct run_line *l =
		(const struct run_line *)((const char *)r->region.at + r->region.at->lines) + line;

	return l->written[byte / 8] >> byte % 8 & 1;
}

bool runner_looked_at(const struct runner *r, uint32_t file)
{
	const struct run_file *files =
		(const struct run_file *)((const char *)r->region.at + r->region.at->files);
	const int i = image_files_find(&r->images, file);

	return i >= 0 && files[i].is_looked_at;
}

uint64_t runner_cut(const struct runner *r, uint32_t file)
{
	const struct run_file *files =
		(const struct run_file *)((const char *)r->region.at + r->region.at->files);
	const int i = image_files_find(&r->images, file);

	return i >= 0 ? files[i].cut_bytes : UINT64_MAX;
}

const uint64_t *runner_left(const struct runner *r)
{
	return r->region.left;
}

int runner_export(struct runner *r, const uint64_t *left, const char *folder, struct error *err)
{
	return image_files_export(&r->images, r->image, r->set, left, folder, err);
}
