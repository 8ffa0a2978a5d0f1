/* Keeps the state that all files of the runtime use: the region of the run, the current thread, and
 * how to give up. It needs no other files except the processor's. */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "internal.h"

struct run_region *g_region;
bool g_is_lazy;
uint64_t g_page_bytes;
__thread struct rt_thread t_self;

void rt_init(void)
{
	g_page_bytes = getauxval(AT_PAGESZ);
}

static struct run_region *region_map(const char *path)
{
	struct stat st;
	long at, fd = CALL4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	struct run_region *r;

	if (IS_ERROR(fd))
		return NULL;
	if (CALL2(SYS_fstat, fd, &st) != 0 || (size_t)st.st_size < sizeof(*r)) {
		CALL1(SYS_close, fd);
		return NULL;
	}
	at = CALL6(SYS_mmap, 0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CALL1(SYS_close, fd);
	if (IS_ERROR(at))
		return NULL;
	r = (struct run_region *)at;
	if (r->magic == RUN_MAGIC && r->len_bytes <= (uint64_t)st.st_size)
		return r;
	CALL2(SYS_munmap, at, st.st_size);
	return NULL;
}

int rt_map_region(void)
{
	const char *path = environment_get(RUN_ENV_REGION);
	struct run_region *r = path ? region_map(path) : NULL;

	if (!r)
		return -1;
	g_region = r;
	return 0;
}

void rt_unsound(const char *why)
{
	uint32_t none = 0;
	size_t i = 0;

	if (g_region && __atomic_compare_exchange_n(&g_region->is_unsound, &none, 1, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		for (; why[i] && i + 1 < sizeof(g_region->why_unsound); i++)
			g_region->why_unsound[i] = why[i];
		g_region->why_unsound[i] = 0;
	}
	CALL2(SYS_kill, 0, SIGKILL);
	for (;;)
		CALL1(SYS_exit_group, 255);
}
