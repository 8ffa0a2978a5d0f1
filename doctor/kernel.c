/* Checks what the kernel and its settings offer. pmend works without any of it, but slower or with
 * less to see. */
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "crash/run/runner.h"
#include "doctor/checks.h"
#include "record/machine.h"
#include "util/alloc.h"
#include "util/proc.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

enum {
	MIB = 1 << 20,
	LITTLE_MIB = 256,
	DESCRIPTORS = 128, /* the recorder uses descriptors above 100 */
	PROCESSES = 200,
};

void check_keys(struct doctor_finding *f)
{
	long key = syscall(SYS_pkey_alloc, 0, 0);

	if (key >= 0) {
		syscall(SYS_pkey_free, key);
		finding_set(f, DOCTOR_OK, xstrdup("available"), NULL);
	} else if (!machine_own()->has_keys) {
		finding_set(f, DOCTOR_OK, xasprintf("not used on %s", machine_own()->says), NULL);
	} else {
		finding_set(
			f, DOCTOR_LIMITED,
			xasprintf("not available: %s",
				  errno == ENOSYS ? "the kernel has none, or a sandbox refuses them"
				  : errno == ENOSPC ? "the processor has none"
						    : strerror(errno)),
			xstrdup("nothing to do: recovery with threads runs on whole images, which is slower"));
	}
}

void check_dispatch(struct doctor_finding *f)
{
	if (!machine_own()->has_dispatch)
		finding_set(f, DOCTOR_OK, xasprintf("not used on %s", machine_own()->says), NULL);
	else if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0) == 0)
		finding_set(f, DOCTOR_OK, xstrdup("available"), NULL);
	else
		finding_set(
			f, DOCTOR_LIMITED,
			xstrdup("not available: the kernel is older than 5.11, or a sandbox refuses it"),
			xstrdup("nothing to do: pmend replaces the instructions of system calls instead"));
}

void check_memory(struct doctor_finding *f)
{
	uint64_t room_bytes;
	const char *folder = runner_room(0, &room_bytes);
	struct statfs s;
	bool is_memory = statfs(folder, &s) == 0 && s.f_type == TMPFS_MAGIC;
	char *found = xasprintf("%s, %" PRIu64 " MiB free%s", folder, room_bytes / MIB,
				is_memory ? "" : ", not in memory");

	if (!is_memory)
		finding_set(
			f, DOCTOR_LIMITED, found,
			xstrdup("recovery is slower on a disk: mount a tmpfs on /dev/shm, or set TMPDIR to one"));
	else if (room_bytes / MIB < LITTLE_MIB)
		finding_set(
			f, DOCTOR_LIMITED, found,
			xstrdup("enough for small pools; give /dev/shm more space (in Docker: --shm-size 2g)"));
	else
		finding_set(f, DOCTOR_OK, found, NULL);
}

void check_temporary(struct doctor_finding *f)
{
	const char *tmp = getenv("TMPDIR");
	struct statvfs v;
	uint64_t room_bytes;

	tmp = tmp && *tmp ? tmp : "/tmp";
	if (access(tmp, W_OK | X_OK) < 0 || statvfs(tmp, &v) < 0) {
		finding_set(f, DOCTOR_MISSING, xasprintf("%s: %s", tmp, strerror(errno)),
			    xstrdup("set TMPDIR to a writable folder"));
		return;
	}
	room_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	finding_set(f, room_bytes / MIB < LITTLE_MIB ? DOCTOR_LIMITED : DOCTOR_OK,
		    xasprintf("%s, %" PRIu64 " MiB free", tmp, room_bytes / MIB),
		    room_bytes / MIB < LITTLE_MIB
			    ? xstrdup("set TMPDIR to a folder with more free space")
			    : NULL);
}

void check_limits(struct doctor_finding *f)
{
	struct rlimit files = { 0 }, processes = { 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_NPROC, &processes);
	if (files.rlim_cur < DESCRIPTORS)
		finding_set(f, DOCTOR_LIMITED,
			    xasprintf("%" PRIu64 " descriptors", (uint64_t)files.rlim_cur),
			    xstrdup("raise 'ulimit -n'"));
	else if (processes.rlim_cur < PROCESSES)
		finding_set(f, DOCTOR_LIMITED,
			    xasprintf("%" PRIu64 " processes", (uint64_t)processes.rlim_cur),
			    xstrdup("raise 'ulimit -u'"));
	else
		finding_set(f, DOCTOR_OK,
			    xasprintf("%" PRIu64 " descriptors, %ld cores",
				      (uint64_t)files.rlim_cur, sysconf(_SC_NPROCESSORS_ONLN)),
			    NULL);
}
