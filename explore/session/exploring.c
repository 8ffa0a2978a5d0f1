/* Begins and ends an exploration: finds the tools, reads seeds and the source, opens the folder.
 * The user's files are put back at the end, whatever happens. */
#include "explore/session/exploring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/graph/insn.h"
#include "explore/session/seed.h"
#include "explore/session/slots.h"
#include "util/files.h"
#include "record/target.h"
#include "source/source.h"
#include "util/alloc.h"
#include "util/proc.h"

#define FIRST_TIMEOUT_MS 600000 /* for the first run, before its duration is known */

/* ---- seeds ---- */

typedef VEC(struct seed) seeds;

static int seeds_read(seeds *all, const struct exploring_options *o, struct error *err)
{
	if (o->template && seed_read_template(vec_add(all), o->template, err) < 0)
		return -1;
	for (size_t i = 0; i < o->seeds.n; i++)
		if (seed_read(vec_add(all), o->seeds.item[i], err) < 0)
			return -1;
	return 0;
}

static size_t seeds_longest(const seeds *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].bytes.n > n)
			n = all->at[i].bytes.n;
	return n;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Allows the exploration to fill parts of the input with texts: those about which neither the
 * command line nor a seed says anything. */
static void texts_allow(struct exploring *x, const seeds *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].is_fixed.n || !is_zero(all->at[i].bytes.at, all->at[i].bytes.n))
			return;
	for (size_t i = 0; i < x->parts.list.n; i++) {
		const struct part *part = &x->parts.list.at[i];

		if (is_zero(x->parts.initial + part->index, part->len_bytes))
			explore_allow_text(x->explore, part->index, part->len_bytes);
	}
}

static void seeds_add(struct exploring *x, const seeds *all)
{
	uint8_t *bytes = xmalloc(x->parts.len_bytes + 1);

	for (size_t i = 0; i < all->n; i++) {
		const struct seed *s = &all->at[i];

		memset(bytes, 0, x->parts.len_bytes);
		memcpy(bytes, s->bytes.at,
		       s->bytes.n < x->parts.len_bytes ? s->bytes.n : x->parts.len_bytes);
		explore_seed(x->explore, bytes);
		for (size_t k = 0; k < s->is_fixed.n; k++)
			if (s->is_fixed.at[k])
				explore_fix(x->explore, k, s->bytes.at[k]);
	}
	if (!all->n)
		explore_seed(x->explore, x->parts.initial);
	free(bytes);
}

static void seeds_release(seeds *all)
{
	for (size_t i = 0; i < all->n; i++)
		seed_release(&all->at[i]);
	vec_release(all);
}

/* ---- tools and folders ---- */

static char *cache_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder;

	if (base && *base) {
		folder = xasprintf("%s/pmend", base);
	} else if (home && *home) {
		folder = xasprintf("%s/.cache", home);
		mkdir(folder, 0700);
		free(folder);
		folder = xasprintf("%s/.cache/pmend", home);
	} else {
		return NULL;
	}
	mkdir(folder, 0700); /* if it fails, nothing is cached */
	return folder;
}

static int tools_find(struct exploring *x, const struct solver_api **solver, struct error *err)
{
	struct error why;
	char *file;

	if (insn_set.lack)
		return error_set(err, "%s; exploring needs it, try: %s", insn_set.lack,
				 insn_set.todo);
	x->valgrind = proc_find("valgrind");
	if (!x->valgrind)
		return error_set(
			err,
			"valgrind is not installed, and exploring needs it; try: apt-get install valgrind");
	x->libexec = recorder_folder(err);
	if (!x->libexec)
		return -1;
	file = xasprintf("%s/libpmend_solver.so", x->libexec);
	*solver = solver_api_load(file, &why);
	free(file);
	if (!*solver)
		return error_set(err, "%s; exploring needs Z3, try: %s", why.msg, solver_todo);
	return 0;
}

static int slots_open(struct exploring *x, struct error *err)
{
	char *pool;

	if (tempdir_open(&x->folder, err) < 0)
		return -1;
	x->pools.folder = x->folder.path;
	pool = xasprintf("%s/pool", x->folder.path);
	x->target = words_replaced(x->shown, SCRATCH_POOL, pool);
	free(pool);
	x->slots = xcalloc(x->njobs, sizeof *x->slots);
	for (unsigned i = 0; i < x->njobs; i++) {
		if (slot_init(&x->slots[i], i, err) < 0)
			return -1;
		x->pools.nslots = i + 1;
	}
	return 0;
}

static void suspect(void *arg, const char *file, uint32_t line)
{
	explore_suspect(arg, file, line);
}

/* Analyses the source to find stores that may reach PM. If that fails, the exploration continues
 * with less knowledge. */
static int source_read(struct exploring *x, const char *build_dir, struct error *err)
{
	const struct source_api *api;
	struct source_database db;
	struct alias *alias;
	struct error why;

	api = source_load(x->libexec, err);
	if (!api || api->open(build_dir, &db, err) < 0)
		return -1;
	alias = api->alias->open(&db, NULL, &why);
	if (alias) {
		api->alias->each(alias, suspect, x->explore);
		api->alias->close(alias);
	} else {
		notes_say(
			x->notes,
			"%s: stores are known to reach persistent memory only after they have run",
			why.msg);
	}
	api->close(&db);
	return 0;
}

static void search_begin(struct exploring *x, const struct exploring_options *o,
			 const struct solver_api *solver)
{
	char *cache = cache_folder();

	x->explore =
		explore_new(&(struct explore_options){ .strategy = o->strategy,
						       .random = o->random,
						       .solver = solver,
						       .solver_timeout_ms = o->solver_timeout_ms,
						       .cache = cache,
						       .len_bytes = x->parts.len_bytes });
	for (size_t i = 0; i < x->parts.list.n; i++)
		explore_bound(x->explore, x->parts.list.at[i].index);
	free(cache);
}

/* Reserves files that programs read by name, and ports, because the machine has each only once. */
static int parts_hold(struct exploring *x, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < x->parts.list.n; i++) {
		const struct part *part = &x->parts.list.at[i];
		char *path = part->kind == PART_FILE ? path_absolute(part->what, err) : NULL, *what;

		if (part->kind != PART_SOCKET && !path)
			continue;
		what = path ? xasprintf("the file %s", path)
			    : xasprintf("port %" PRIu64, part->number);
		result = reservations_add(&x->reserved, what, err);
		free(what);
		free(path);
	}
	return result;
}

/* ---- begin and end ---- */

static int begin_with(struct exploring *x, const struct exploring_options *o, const seeds *all,
		      const struct solver_api *solver, struct error *err)
{
	if (parts_hold(x, err) < 0 ||
	    parts_begin(&x->parts, o->target, seeds_longest(all), err) < 0 ||
	    slots_open(x, err) < 0)
		return -1;
	search_begin(x, o, solver);
	if (o->build_dir && source_read(x, o->build_dir, err) < 0)
		return -1;
	x->report = exploring_report(x);
	texts_allow(x, all); /* before the runs of an earlier start are read */
	if (exploring_open(x, o->out, err) < 0)
		return -1;
	x->sharing = sharing_new(x);
	if (sharing_sync(x->sharing, true, err) < 0)
		return -1;
	seeds_add(x, all);
	return 0;
}

int exploring_begin(struct exploring *x, const struct exploring_options *o, struct error *err)
{
	const struct solver_api *solver;
	seeds all = { 0 };
	int result = -1;

	x->shown = o->target;
	x->instance = o->instance;
	x->is_timeout_learned = o->is_timeout_learned;
	x->timeout_ms = o->is_timeout_learned ? FIRST_TIMEOUT_MS : o->timeout_ms;
	x->njobs = o->njobs;
	if (target_check(o->target[0], err) == 0 && tools_find(x, &solver, err) == 0 &&
	    seeds_read(&all, o, err) == 0)
		result = begin_with(x, o, &all, solver, err);
	seeds_release(&all);
	return result;
}

void exploring_end(struct exploring *x)
{
	for (unsigned i = 0; i < x->pools.nslots; i++) {
		slot_stop(x, &x->slots[i]);
		slot_release(&x->slots[i]);
	}
	free(x->slots);
	pools_release(&x->pools);
	tempdir_close(&x->folder);
	parts_end(&x->parts, x->notes);
	sharing_free(x->sharing);
	if (x->explore)
		explore_free(x->explore);
	report_free(x->report);
	exploring_found_release(x);
	schedules_sum_release(&x->schedules);
	map_release(&x->pairs);
	words_free(x->target);
	free(x->valgrind);
	free(x->libexec);
	free(x->out);
	free(x->shared);
	reservations_release(&x->reserved);
	if (x->signal_fd >= 0)
		close(x->signal_fd);
}
