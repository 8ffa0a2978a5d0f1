/* Records stores that the kernel makes to memory for a program: process_vm_writev, /proc/PID/mem,
 * ptrace, futex operations, userfaultfd. In another process, PM is found by that process's list of
 * mappings. Not seen: a robust mutex whose owner dies, and an address that the kernel clears when a
 * thread ends. */
#include "valgrind/recorder/kernel/into.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"

/* Valgrind's headers lack these */
#define FUTEX_LOCK_PI2 13
#define FUTEX_COMMAND(op) ((op) & ~(UWord)(VKI_FUTEX_PRIVATE_FLAG | VKI_FUTEX_CLOCK_REALTIME))
#define UFFDIO_COPY 0xc028aa03u
#define UFFDIO_ZEROPAGE 0xc020aa04u

struct uffdio_copy {
	ULong dst, src, len, mode;
	Long copied;
};

struct uffdio_zeropage {
	ULong start, len, mode;
	Long zeroed;
};

/* ---- another process ---- */

struct remote {
	ThreadId tid;
	Addr va;
	SizeT len;
};

static ULong hex(const HChar **s)
{
	HChar *end;
	ULong n = VG_(strtoull16)(*s, &end);

	*s = end;
	return n;
}

/* Makes a device number in the format of stat(). */
static ULong device(ULong major, ULong minor)
{
	return (minor & 0xff) | major << 8 | (minor & ~0xffULL) << 12;
}

/* Reads a line of /proc/PID/maps: START-END rw-s OFFSET MAJOR:MINOR INODE PATH */
static void remote_mapping(const struct remote *r, const HChar *s)
{
	Addr start = hex(&s), end, from, to;
	ULong offset, major, minor, inode;
	Bool is_shared;
	HChar *rest;

	s++;
	end = hex(&s);
	if (VG_(strlen)(s) < 6)
		return;
	is_shared = s[4] == 's';
	s += 6;
	offset = hex(&s);
	s++;
	major = hex(&s);
	s++;
	minor = hex(&s);
	inode = VG_(strtoull10)(s, &rest);
	while (*rest == ' ')
		rest++;
	from = r->va > start ? r->va : start;
	to = r->va + r->len < end ? r->va + r->len : end;
	if (is_shared && from < to)
		pm_inode_written(r->tid, device(major, minor), inode, rest, offset + (from - start),
				 to - from);
}

/* Records a write to another process's memory. Lines of its map file are at most a path and some
 * numbers long. */
static void remote_written(ThreadId tid, Int pid, Addr va, SizeT len)
{
	static HChar text[2 * PMT_PAGE_BYTES];
	const struct remote r = { tid, va, len };
	HChar name[64], *line, *end;
	SizeT have = 0;
	SysRes opened;
	Int fd, n;

	VG_(sprintf)(name, "/proc/%d/maps", pid);
	opened = VG_(open)(name, VKI_O_RDONLY, 0);
	if (sr_isError(opened))
		return;
	fd = sr_Res(opened);
	while ((n = VG_(read)(fd, text + have, sizeof text - 1 - have)) > 0) {
		have += n;
		text[have] = '\0';
		for (line = text; (end = VG_(strchr)(line, '\n')) != NULL; line = end + 1) {
			*end = '\0';
			remote_mapping(&r, line);
		}
		have -= line - text;
		VG_(memmove)(text, line, have);
	}
	VG_(close)(fd);
}

static void stored(ThreadId tid, Int pid, Addr va, SizeT len)
{
	if (pid == VG_(getpid)())
		pm_written(tid, va, len);
	else
		remote_written(tid, pid, va, len);
}

/* ---- the calls ---- */

static void after_vm_write(ThreadId tid, Int pid, const struct vki_iovec *iov, SizeT count, SizeT n)
{
	for (SizeT i = 0; i < count && n > 0; i++) {
		SizeT part = iov[i].iov_len < n ? iov[i].iov_len : n;

		stored(tid, pid, (Addr)iov[i].iov_base, part);
		n -= part;
	}
}

static void after_futex(ThreadId tid, const UWord *args)
{
	switch (FUTEX_COMMAND(args[1])) {
	case VKI_FUTEX_WAKE_OP: pm_written(tid, args[4], 4); break;
	case VKI_FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case VKI_FUTEX_TRYLOCK_PI:
	case VKI_FUTEX_UNLOCK_PI: pm_written(tid, args[0], 4); break;
	case VKI_FUTEX_WAIT_REQUEUE_PI:
	case VKI_FUTEX_CMP_REQUEUE_PI: pm_written(tid, args[4], 4); break;
	default: break;
	}
}

static void after_ptrace(ThreadId tid, const UWord *args)
{
	if (args[0] == 4 /* PTRACE_POKETEXT */ || args[0] == 5 /* PTRACE_POKEDATA */)
		stored(tid, (Int)args[1], args[2], sizeof(UWord));
}

static void after_ioctl(ThreadId tid, UInt request, UWord arg)
{
	if (request == UFFDIO_COPY && ((const struct uffdio_copy *)arg)->copied > 0)
		pm_written(tid, ((const struct uffdio_copy *)arg)->dst,
			   ((const struct uffdio_copy *)arg)->copied);
	else if (request == UFFDIO_ZEROPAGE && ((const struct uffdio_zeropage *)arg)->zeroed > 0)
		pm_written(tid, ((const struct uffdio_zeropage *)arg)->start,
			   ((const struct uffdio_zeropage *)arg)->zeroed);
}

/* Repairs readlink("/proc/self/exe"). In Valgrind 3.24, the kernel answers with our own file, and
 * Valgrind writes the program's name over it; if that is shorter, the end of our name stays behind
 * it. */
static void after_readlink(ThreadId tid, const HChar *name, Addr buf, SizeT cap, SizeT n)
{
	SizeT len = VG_(strlen)(name), rest;
	HChar own[1024];
	SSizeT own_len;

	if (len < 4 || VG_(strcmp)(name + len - 4, "/exe") != 0)
		return;
	own_len = VG_(readlink)("/proc/self/exe", own, sizeof own);
	if (own_len > (SSizeT)cap)
		own_len = (SSizeT)cap;
	if (own_len <= (SSizeT)n)
		return;
	rest = (SizeT)own_len - n;
	if (VG_(am_is_valid_for_client)(buf + n, rest, VKI_PROT_READ) &&
	    VG_(memcmp)((const void *)(buf + n), own + n, rest) == 0)
		pm_written(tid, buf + n, rest);
}

void into_after(ThreadId tid, UInt number, const UWord *args, UWord n)
{
	switch (number) {
#ifdef __NR_readlink /* arm64 has only the other call */
	case __NR_readlink: after_readlink(tid, (const HChar *)args[0], args[1], args[2], n); break;
#endif
	case __NR_readlinkat:
		after_readlink(tid, (const HChar *)args[1], args[2], args[3], n);
		break;
	case __NR_process_vm_writev:
		after_vm_write(tid, (Int)args[0], (const struct vki_iovec *)args[3], args[4], n);
		break;
	case __NR_futex: after_futex(tid, args); break;
	case __NR_ptrace: after_ptrace(tid, args); break;
	case __NR_ioctl: after_ioctl(tid, (UInt)args[1], args[2]); break;
	default: break;
	}
}

/* ---- /proc/PID/mem ---- */

/* Gives the process of a path like /proc/123/mem or /proc/123/task/124/mem; 0: it is no such
 * path. */
static Int process_of(const HChar *path)
{
	SizeT len = VG_(strlen)(path);
	HChar *rest;
	Long pid;

	if (VG_(strncmp)(path, "/proc/", 6) != 0 || len < 4 ||
	    VG_(strcmp)(path + len - 4, "/mem") != 0)
		return 0;
	pid = VG_(strtoll10)(path + 6, &rest);
	return *rest == '/' ? (Int)pid : 0;
}

static Bool is_on_proc(const struct vg_stat *st)
{
	static ULong dev;
	struct vg_stat proc;

	if (dev == 0)
		dev = sr_isError(VG_(stat)("/proc/self/mem", &proc)) ? ~0ULL : proc.dev;
	return st->dev == dev;
}

Bool into_written(ThreadId tid, Int fd, ULong offset, SizeT n)
{
	HChar link[64], path[64];
	struct vg_stat st;
	SSizeT len;
	Int pid;

	if (n == 0 || VG_(fstat)(fd, &st) != 0 || !is_on_proc(&st))
		return False;
	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	len = VG_(readlink)(link, path, sizeof path - 1);
	if (len <= 0)
		return False;
	path[len] = '\0';
	pid = process_of(path);
	if (pid != 0)
		stored(tid, pid, offset, n);
	return pid != 0;
}
