/* Joins a process to a run. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "internal.h"
#include "pmend.h"

struct run_region *g_region;

int rt_map_region(void)
{
	const char *path = getenv(RUN_ENV_REGION);
	struct run_region *r;
	struct stat st;
	long fd, at;

	if (!path)
		return -1;
	fd = CALL4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (IS_ERROR(fd))
		return -1;
	if (CALL2(SYS_fstat, fd, &st) != 0 || (size_t)st.st_size < sizeof(*r)) {
		CALL1(SYS_close, fd);
		return -1;
	}
	at = CALL6(SYS_mmap, 0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CALL1(SYS_close, fd);
	if (IS_ERROR(at))
		return -1;
	r = (struct run_region *)at;
	if (r->magic != RUN_MAGIC || r->len_bytes > (uint64_t)st.st_size) {
		CALL2(SYS_munmap, at, st.st_size);
		return -1;
	}
	g_region = r;
	return 0;
}

void rt_arm_dispatch(void)
{
	long r = CALL5(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, rt_gate_begin, rt_gate_end - rt_gate_begin, 0);

	if (IS_ERROR(r))
		rt_unsound("the kernel lacks syscall user dispatch");
}

void rt_attach(void)
{
	if (!g_region && rt_map_region() < 0)
		return;
	g_is_lazy = g_region->flags & RUN_LAZY && lines_any_undecided();
	paths_init();
	exec_init();
	buffers_init();
	if (g_is_lazy)
		maps_init();
	signals_init();
	rt_arm_dispatch();
}

void rt_unsound(const char *why)
{
	uint32_t none = 0;
	size_t i = 0;

	if (g_region && __atomic_compare_exchange_n(&g_region->is_unsound, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		for (; why[i] && i + 1 < sizeof(g_region->why_unsound); i++)
			g_region->why_unsound[i] = why[i];
		g_region->why_unsound[i] = 0;
	}
	CALL2(SYS_kill, 0, SIGKILL);
	for (;;)
		CALL1(SYS_exit_group, 255);
}

/* A process that a run has exec'd. The first process is the fork server's business. */
static __attribute__((constructor)) void attach_exec(void)
{
	if (getenv(RUN_ENV_REGION) && !getenv(RUN_ENV_SERVER))
		rt_attach();
}

/* What annotations call in a run; see include/pmend.h. */
__attribute__((visibility("default"))) uint64_t pmend_rt_annotate(uint64_t request, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	if (request == PMEND_REQ_IN_RECOVERY)
		return 1;
	if (!g_region)
		return 0;
	switch (request) {
	case PMEND_REQ_ROI_BEGIN:
		g_region->has_roi = 1;
		__atomic_fetch_add(&g_region->roi_depth, 1, __ATOMIC_RELAXED);
		break;
	case PMEND_REQ_ROI_END: __atomic_fetch_sub(&g_region->roi_depth, 1, __ATOMIC_RELAXED); break;
	case PMEND_REQ_SKIP_CHECK_BEGIN: t_self.skip_depth++; break;
	case PMEND_REQ_SKIP_CHECK_END: t_self.skip_depth--; break;
	case PMEND_REQ_DONE:
		fflush(NULL); /* what it printed counts */
		g_region->is_done = 1;
		CALL1(SYS_exit_group, 0);
		break;
	default: break; /* of the recorded run only */
	}
	return 0;
}
