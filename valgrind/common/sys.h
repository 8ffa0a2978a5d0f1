/* Makes system calls for which Valgrind's tool interface has no function. */
#ifndef VG_SYS_H
#define VG_SYS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "valgrind/common/arch.h"

/* Calls that newer architectures lack get numbers that no call has. */
#ifndef __NR_open
enum {
	__NR_open = -1,
	__NR_creat = -2,
	__NR_unlink = -3,
	__NR_rename = -4,
	__NR_chmod = -5,
	__NR_chown = -6,
	__NR_lchown = -7,
	__NR_mkdir = -8,
	__NR_rmdir = -9,
	__NR_link = -10,
	__NR_symlink = -11
};
#endif

/* Maps memory. This function and the next ones return a negative errno if they fail. */
static inline Long sys_mmap(void *at, SizeT len, Int prot, Int flags, Int fd, Long offset)
{
	return arch_syscall(__NR_mmap, (Long)at, (Long)len, prot, flags, fd, offset);
}

static inline Long sys_munmap(void *at, SizeT len)
{
	return arch_syscall(__NR_munmap, (Long)at, (Long)len, 0, 0, 0, 0);
}

static inline Long sys_pread(Int fd, void *buf, SizeT len, Long offset)
{
	return arch_syscall(__NR_pread64, fd, (Long)buf, (Long)len, offset, 0, 0);
}

static inline Long sys_pwrite(Int fd, const void *buf, SizeT len, Long offset)
{
	return arch_syscall(__NR_pwrite64, fd, (Long)buf, (Long)len, offset, 0, 0);
}

static inline Long sys_fcntl(Int fd, Int command, Long arg)
{
	return arch_syscall(__NR_fcntl, fd, command, arg, 0, 0, 0);
}

static inline Long sys_ftruncate(Int fd, Long size)
{
	return arch_syscall(__NR_ftruncate, fd, size, 0, 0, 0, 0);
}

static inline Long sys_fallocate(Int fd, Int mode, Long offset, Long len)
{
	return arch_syscall(__NR_fallocate, fd, mode, offset, len, 0, 0);
}

static inline Long sys_sendmsg(Int fd, const struct vki_msghdr *m, Int flags)
{
	return arch_syscall(__NR_sendmsg, fd, (Long)m, flags, 0, 0, 0);
}

static inline Long sys_yield(void)
{
	return arch_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

static inline Long sys_getrlimit(Int what, struct vki_rlimit *limit)
{
	return arch_syscall(__NR_getrlimit, what, (Long)limit, 0, 0, 0, 0);
}

static inline Long sys_setrlimit(Int what, const struct vki_rlimit *limit)
{
	return arch_syscall(__NR_setrlimit, what, (Long)limit, 0, 0, 0, 0);
}

/* Like stat(), but does not follow a symbolic link. */
static inline Long sys_lstat(const HChar *path, struct vki_stat *st)
{
	return arch_syscall(__NR_newfstatat, VKI_AT_FDCWD, (Long)path, (Long)st,
			    VKI_AT_SYMLINK_NOFOLLOW, 0, 0);
}

#endif
