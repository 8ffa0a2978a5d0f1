/* Kills processes and their descendants, repeatedly until there are none, because new ones may
 * start meanwhile. Processes that left their process group can be found only in /proc. */
#include "serve/reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "serve/call.h"
#include "serve/processes.h"

#define GIVE_UP_US 2000000u

uint64_t reap_now_us(void)
{
	struct timespec t = { 0 };

	SERVE_CALL2(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Reaps children that have ended. False if there are no children left, alive or not. */
static bool reap_ended_children(uint32_t *nkilled)
{
	int status = 0;
	long pid;

	while ((pid = SERVE_CALL4(SYS_wait4, -1, &status, WNOHANG | __WALL, NULL)) > 0)
		*nkilled += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	return pid != -ECHILD;
}

/* Counts the processes, and kills them if it is time. */
static size_t kill_found(const struct reap *whom, bool is_time)
{
	struct processes all;
	size_t nfound = 0, mark_len = 0;

	while (whom->mark && whom->mark[mark_len])
		mark_len++;
	processes_init(&all);
	for (size_t i = 0; whom->mark && i < all.n; i++) /* with the zero that ends it */
		all.at[i].is_marked = process_environ_has(all.at[i].pid, whom->mark, mark_len + 1);
	processes_mark_descendants(&all, whom->mark ? 0 : whom->parent);
	for (size_t i = 0; i < all.n; i++) {
		nfound += all.at[i].is_marked;
		if (all.at[i].is_marked && is_time)
			SERVE_CALL2(SYS_kill, all.at[i].pid, SIGKILL);
	}
	processes_release(&all);
	return nfound;
}

uint32_t reap(const struct reap *whom)
{
	const struct timespec pause = { .tv_nsec = whom->mark ? 2000000 : 200000 };
	uint64_t begin = 0, grace_us = (uint64_t)whom->grace_ms * 1000;
	uint32_t nkilled = 0;

	for (;;) {
		if (!whom->mark && !reap_ended_children(&nkilled))
			return nkilled;
		if (!begin)
			begin = reap_now_us();
		else if (reap_now_us() > begin + GIVE_UP_US + grace_us)
			return nkilled;
		if (kill_found(whom, reap_now_us() >= begin + grace_us) == 0 && whom->mark)
			return nkilled;
		SERVE_CALL4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}
