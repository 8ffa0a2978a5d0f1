/* Watches a run that has no limits, so that it does not make the machine unusable: how much memory
 * its processes use, and how much space its files leave free. Memory that is only reserved does not
 * count. */
#include <sys/sysinfo.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "serve/processes.h"

#define FACTOR 4u /* times the limit */

/* Gives the most memory that a run without limits may use: a few times the limit, but not much more
 * than a quarter of the machine's memory. */
static uint64_t most_memory(uint64_t limit)
{
	struct sysinfo machine;
	uint64_t most = 2 * limit;

	if (sysinfo(&machine) == 0 && (uint64_t)machine.totalram * machine.mem_unit / 4 > most)
		most = (uint64_t)machine.totalram * machine.mem_unit / 4;
	return FACTOR * limit < most ? FACTOR * limit : most;
}

/* Adds up the memory of all processes that the servers started, with their page tables: a
 * reservation that is touched at many places consists mostly of those. */
static uint64_t memory_bytes(void)
{
	struct processes all;
	uint64_t bytes = 0;

	processes_init(&all);
	processes_mark_descendants(&all, getpid());
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i].is_marked)
			bytes += process_status_bytes(all.at[i].pid, "VmRSS:") +
				 process_status_bytes(all.at[i].pid, "VmPTE:") +
				 process_status_bytes(all.at[i].pid, "VmSwap:");
	processes_release(&all);
	return bytes;
}

void excess_begin(struct runner *r)
{
	r->exceeded = -1;
	if (!r->lifted)
		return;
	/* if the user set no limit, that resource is not watched either */
	r->excess_bytes = r->limits[RUNNER_LIMIT_MEMORY]
				  ? most_memory(r->limits[RUNNER_LIMIT_MEMORY])
				  : UINT64_MAX;
	r->excess_room_bytes = r->limits[RUNNER_LIMIT_FILE] ? room_bytes(r->folder) / 2 : 0;
}

bool excess_is_fine(struct runner *r)
{
	if (room_bytes(r->folder) < r->excess_room_bytes)
		r->exceeded = RUNNER_LIMIT_FILE;
	else if (memory_bytes() > r->excess_bytes)
		r->exceeded = RUNNER_LIMIT_MEMORY;
	return r->exceeded < 0;
}

bool runner_exceeded(const struct runner *r, enum runner_limit *which)
{
	if (r->exceeded >= 0)
		*which = (enum runner_limit)r->exceeded;
	return r->exceeded >= 0;
}
