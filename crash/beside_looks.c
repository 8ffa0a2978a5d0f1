/* Runs recovery at a few failure points without losing anything, with the files beside the pool as
 * they were at that time, and asks the runtime which of them recovery opened or asked for. A file
 * that the trace did not keep is absent; recovery asks for it all the same. */
#include "crash/beside_looks.h"

#include <stdlib.h>

#include "crash/states/beside.h"

#define POINTS_MAX 8u

struct looking {
	const struct crash_options *o;
	struct beside files;
	struct runner *runner;
	struct walk walk;
};

static const struct beside_version *version_of(const struct beside_file *f, uint64_t seq)
{
	const struct beside_version *v = beside_at(f, BESIDE_CRASH, seq);

	return v->what == BESIDE_UNKNOWN ? beside_at(f, BESIDE_NEVER, seq) : v;
}

/* Runs recovery once at the present failure point. Gives the index of a file beside the pool that
 * recovery looks at; SIZE_MAX if there is none. */
static size_t look(struct looking *l)
{
	const struct beside_version *versions[BESIDE_MAX];
	const size_t n = l->files.files.n, first = l->walk.image.files.n;
	struct state_set set = { 0 };
	struct crash_image with;
	size_t found = SIZE_MAX;
	struct error ignored;
	struct verdict v;
	uint64_t *newest;

	for (size_t i = 0; i < n; i++)
		versions[i] = version_of(&l->files.files.at[i], l->walk.seq);
	beside_image(&with, &l->walk.image, &l->files, versions);
	states_collect_newest(&set, l->walk.model);
	newest = states_newest(&set);
	runner_load(l->runner, &with, &set);
	recovery_set_moment(l->o->recovery, l->runner, l->walk.plan,
			    l->walk.is_over ? UINT64_MAX : l->walk.seq);
	runner_begin(l->runner, newest, false);
	if (verdict_run(&v, l->runner, l->o->recovery, NULL, &ignored) == 0)
		for (size_t i = 0; i < n && found == SIZE_MAX; i++)
			if (runner_looked_at(l->runner, (uint32_t)(first + i)))
				found = i;
	beside_image_release(&with, &l->walk.image);
	free(newest);
	states_release(&set);
	return found;
}

char *beside_looks_find(const struct plan *p, const struct crash_options *o, uint64_t npoints)
{
	struct looking l = { .o = o };
	const uint64_t step = npoints / POINTS_MAX + 1;
	struct error ignored;
	size_t found = SIZE_MAX;
	char *path = NULL;

	beside_read(&l.files, p->trace, o->runner.paths);
	if (l.files.files.n > 0 && !o->recovery->ready)
		l.runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, &ignored);
	if (l.runner) {
		runner_set_deadline(l.runner, o->limits.deadline_ns);
		walk_init(&l.walk, p, o->stops);
		while (found == SIZE_MAX && walk_next(&l.walk))
			if (l.walk.is_over || l.walk.point % step == 0)
				found = look(&l);
		walk_release(&l.walk);
	}
	if (found != SIZE_MAX)
		path = xstrdup(l.files.files.at[found].path);
	runner_free(l.runner);
	beside_release(&l.files);
	return path;
}
