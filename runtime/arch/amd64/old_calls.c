/* Adds rows to the tables of system calls (call_tables.h): the calls that Linux has on amd64 but
 * not on newer architectures, and arch_prctl(). Most are today's calls with one argument less. */
#include <linux/sched.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "arch.h"

/* clang-format off */
const struct buffer_call arch_buffer_calls[] = {
	{ SYS_readlink, { { 0, STRING, 0 }, { 1, OUT, ARG(2) } } },
	{ SYS_stat, { { 0, STRING, 0 }, { 1, INOUT, sizeof(struct stat) } } },
	{ SYS_lstat, { { 0, STRING, 0 }, { 1, INOUT, sizeof(struct stat) } } },
	{ SYS_open, { { 0, STRING, 0 } } },
	{ SYS_creat, { { 0, STRING, 0 } } },
	{ SYS_access, { { 0, STRING, 0 } } },
	{ SYS_unlink, { { 0, STRING, 0 } } },
	{ SYS_mkdir, { { 0, STRING, 0 } } },
	{ SYS_rmdir, { { 0, STRING, 0 } } },
	{ SYS_rename, { { 0, STRING, 0 }, { 1, STRING, 0 } } },
	{ SYS_link, { { 0, STRING, 0 }, { 1, STRING, 0 } } },
	{ SYS_symlink, { { 0, STRING, 0 }, { 1, STRING, 0 } } },
	{ SYS_poll, { { 0, INOUT, TIMES(1, 8) } } },
	{ SYS_select, { { 1, INOUT, 128 }, { 2, INOUT, 128 }, { 3, INOUT, 128 }, { 4, INOUT, 16 } } },
	{ SYS_epoll_wait, { { 1, INOUT, TIMES(2, sizeof(struct epoll_event)) } } },
	{ SYS_time, { { 0, INOUT, 8 } } },
	{ SYS_pipe, { { 0, INOUT, 8 } } },
	{ SYS_arch_prctl, { { 1, INOUT, 8 } } },
	{ SYS_chmod, { { 0, STRING, 0 } } },
	{ SYS_chown, { { 0, STRING, 0 } } },
	{ SYS_lchown, { { 0, STRING, 0 } } },
	{ SYS_mknod, { { 0, STRING, 0 } } },
	{ SYS_utime, { { 0, STRING, 0 }, { 1, IN, 16 } } },
	{ SYS_utimes, { { 0, STRING, 0 }, { 1, IN, 32 } } },
	{ SYS_futimesat, { { 1, STRING, 0 }, { 2, IN, 32 } } },
	{ 0 },
};

const struct path_call arch_path_calls[] = {
	{ SYS_open, -1, 0, 0, 0, BY_OPEN, 1, PATH_LOOKS },
	{ SYS_creat, -1, 0, 0, 0, BY_CREAT, 0, PATH_LOOKS },
	{ SYS_stat, -1, 0, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_lstat, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_LOOKS },
	{ SYS_access, -1, 0, 0, 0, FOLLOW, 0, PATH_LOOKS },
	{ SYS_unlink, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_REMOVES },
	{ SYS_rename, -1, 0, -1, 1, NO_FOLLOW, 0, PATH_MOVES },
	{ SYS_link, -1, 0, -1, 1, NO_FOLLOW, 0, PATH_LINKS },
	{ SYS_symlink, -1, 1, 0, 0, NO_FOLLOW, 0, PATH_MAKES },
	{ SYS_mknod, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_MAKES },
	{ SYS_chmod, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_chown, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_lchown, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_CHANGES },
	{ SYS_utime, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_utimes, -1, 0, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_futimesat, 0, 1, 0, 0, FOLLOW, 0, PATH_CHANGES },
	{ SYS_readlink, -1, 0, 0, 0, NO_FOLLOW, 0, PATH_LOOKS },
	{ 0 },
};

const uint16_t arch_no_pointers[] = {
	SYS_dup2, SYS_pause, SYS_alarm, SYS_fork, SYS_vfork, SYS_getpgrp, SYS_epoll_create, SYS_eventfd, SYS_inotify_init, 0,
};
/* clang-format on */

long arch_fork_flags(long number)
{
	switch (number) {
	case SYS_fork: return SIGCHLD;
	case SYS_vfork: return CLONE_VFORK | SIGCHLD;
	default: return 0;
	}
}
