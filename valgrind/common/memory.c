/* Gives memory to the tool itself, in pages beside the program's. Valgrind ends with a message when
 * its own allocator is out of memory, but not when these pages are refused; so this file does. */
#include "valgrind/common/memory.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcprint.h"

static inline void *of_pointer(void *p)
{
	return p;
}
static inline void *of_result(SysRes r)
{
	return sr_isError(r) ? NULL : (void *)sr_Res(r);
}

/* Valgrind 3.19 returns a pointer, 3.24 a SysRes. */
#define TO_POINTER(answer) _Generic((answer), void * : of_pointer, SysRes : of_result)(answer)

void *memory_alloc(SizeT len_bytes)
{
	void *p = TO_POINTER(VG_(am_shadow_alloc)(len_bytes));

	if (p == NULL) {
		VG_(umsg)
		("pmend: the recorder has no memory left: %lu KiB more were refused; raise 'ulimit -v'\n",
		 len_bytes >> 10);
		VG_(exit)(1);
	}
	return p;
}
