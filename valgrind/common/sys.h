/* System calls that the tool interface has no function for. */
#ifndef REC_SYS_H
#define REC_SYS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

static inline Long sys_call6(Long number, Long a, Long b, Long c, Long d, Long e, Long f)
{
	Long result;
	register Long r10 __asm__("r10") = d;
	register Long r8 __asm__("r8") = e;
	register Long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* All return a negative errno when they fail. */
static inline Long sys_mmap(void *at, SizeT len, Int prot, Int flags, Int fd, Long offset)
{
	return sys_call6(9, (Long)at, (Long)len, prot, flags, fd, offset);
}

static inline Long sys_pread(Int fd, void *buf, SizeT len, Long offset)
{
	return sys_call6(17, fd, (Long)buf, (Long)len, offset, 0, 0);
}

static inline Long sys_pwrite(Int fd, const void *buf, SizeT len, Long offset)
{
	return sys_call6(18, fd, (Long)buf, (Long)len, offset, 0, 0);
}

static inline Long sys_fcntl(Int fd, Int command, Long arg)
{
	return sys_call6(72, fd, command, arg, 0, 0, 0);
}

static inline Long sys_ftruncate(Int fd, Long size)
{
	return sys_call6(77, fd, size, 0, 0, 0, 0);
}

static inline Long sys_fallocate(Int fd, Int mode, Long offset, Long len)
{
	return sys_call6(285, fd, mode, offset, len, 0, 0);
}

static inline Long sys_yield(void)
{
	return sys_call6(24, 0, 0, 0, 0, 0, 0);
}

static inline Long sys_getrlimit(Int what, struct vki_rlimit *limit)
{
	return sys_call6(97, what, (Long)limit, 0, 0, 0, 0);
}

static inline Long sys_setrlimit(Int what, const struct vki_rlimit *limit)
{
	return sys_call6(160, what, (Long)limit, 0, 0, 0, 0);
}

/* Of a symbolic link itself. */
static inline Long sys_lstat(const HChar *path, struct vki_stat *st)
{
	return sys_call6(6, (Long)path, (Long)st, 0, 0, 0, 0);
}

#endif
