/* Sets the limits of a run, so that a broken recovery does not harm the machine: size of a file,
 * memory, processes. The sizes that the PM files have in the trace are always allowed. These limits
 * are pmend's, not the program's, so a failing run is repeated without them, to see whether they
 * caused the failure. */
#include "crash/run/runner_internal.h"

/* factor for the limit of processes when limits are lifted: a run that forks endlessly could not be
 * stopped without any limit */
#define LIFTED 4u
#define MIB ((uint64_t)1 << 20)

static bool is_lifted(const struct runner *r, enum runner_limit which)
{
	return r->lifted >> which & 1;
}

void limits_set(struct runner *r)
{
	struct run_region *g = r->region.at;
	uint64_t all = 0, largest = 0;

	/* files that do not exist yet count, too: recovery may make them */
	for (size_t i = 1; i < r->image->files.n; i++) {
		const uint64_t room = r->image->files.at[i].room;

		all += room;
		largest = room > largest ? room : largest;
	}
	for (int i = 0; i < RUNNER_LIMITS; i++)
		r->limits[i] = 0;
	/* a file may be read into memory, and once more */
	if (r->o.max_memory_bytes)
		r->limits[RUNNER_LIMIT_MEMORY] = r->o.max_memory_bytes + 2 * all;
	if (r->o.max_file_bytes)
		r->limits[RUNNER_LIMIT_FILE] =
			r->o.max_file_bytes > 2 * largest ? r->o.max_file_bytes : 2 * largest;
	r->limits[RUNNER_LIMIT_PROCESSES] = r->o.max_processes;
	g->max_memory_bytes =
		is_lifted(r, RUNNER_LIMIT_MEMORY) ? 0 : r->limits[RUNNER_LIMIT_MEMORY];
	g->max_file_bytes = is_lifted(r, RUNNER_LIMIT_FILE) ? 0 : r->limits[RUNNER_LIMIT_FILE];
	g->max_processes = (uint32_t)r->limits[RUNNER_LIMIT_PROCESSES];
	if (is_lifted(r, RUNNER_LIMIT_PROCESSES))
		g->max_processes = r->is_clean_lift ? 0 : LIFTED * g->max_processes;
}

void runner_lift(struct runner *r, unsigned limits, bool is_clean)
{
	r->lifted = limits;
	r->is_clean_lift = is_clean;
	if (r->image)
		limits_set(r);
}

char *runner_limit_text(const struct runner *r, enum runner_limit which)
{
	const uint64_t limit = r->limits[which];

	switch (which) {
	case RUNNER_LIMIT_FILE:
		return xasprintf(
			"pmend's limit of %llu MiB on the size of a file; raise it with --max-file",
			(unsigned long long)(limit / MIB));
	case RUNNER_LIMIT_MEMORY:
		return xasprintf(
			"pmend's limit of %llu MiB on its memory; raise it with --max-memory",
			(unsigned long long)(limit / MIB));
	case RUNNER_LIMIT_PROCESSES:
		return xasprintf("pmend's limit of %llu processes; raise it with --max-processes",
				 (unsigned long long)limit);
	case RUNNER_LIMITS: break;
	}
	return NULL;
}
