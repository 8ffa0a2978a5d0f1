/* Keeps our own descriptors for PM files. They can read what the program's descriptor cannot
 * (write-only, O_DIRECT). A copy of each goes to `pmend record`, which compares the file with the
 * trace at the end, even if the program removed it. They stay open: closing any descriptor of a
 * file would release the program's fcntl() locks on it. */
#include "valgrind/recorder/pm/pm_internal.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/options.h"

#define MAX_KEPT 64
#define F_DUPFD_CLOEXEC 1030 /* Valgrind's headers lack it */
#define SOL_SOCKET 1
#define MSG_DONTWAIT 0x40
#define MSG_NOSIGNAL 0x4000

static struct {
	UInt file;
	Int fd;
	ULong dev, ino; /* to notice that the program closed our descriptor and reused its number */
} g_kept[MAX_KEPT];
static UInt g_nkept;

static Bool is_inode(Int fd, ULong dev, ULong ino)
{
	struct vg_stat st;

	return VG_(fstat)(fd, &st) == 0 && st.dev == dev && st.ino == ino;
}

Int kept_find(UInt file)
{
	for (UInt i = 0; i < g_nkept; i++)
		if (g_kept[i].file == file)
			return is_inode(g_kept[i].fd, g_kept[i].dev, g_kept[i].ino) ? g_kept[i].fd
										    : -1;
	return -1;
}

/* Moves a descriptor to a high number, out of the program's way, but below the few that Valgrind
 * keeps for itself. */
static Int move_up(Int fd)
{
	struct vki_rlimit limit;
	Long high;

	if (sys_getrlimit(VKI_RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 4 * MAX_KEPT)
		return -1;
	high = sys_fcntl(fd, F_DUPFD_CLOEXEC, limit.rlim_cur - MAX_KEPT - 32);
	return high < 0 ? -1 : high;
}

static Int reopen(Int fd)
{
	HChar link[64];
	SysRes r;

	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	r = VG_(open)(link, VKI_O_RDONLY, 0);
	return sr_isError(r) ? -1 : (Int)sr_Res(r);
}

Int kept_open(UInt file, Int fd)
{
	Int kept = kept_find(file), own, high;
	struct vg_stat st;

	if (kept >= 0)
		return kept;
	own = reopen(fd);
	high = own < 0 || g_nkept == MAX_KEPT ? -1 : move_up(own);
	if (high < 0 || VG_(fstat)(high, &st) != 0)
		return own;
	VG_(close)(own);
	g_kept[g_nkept].file = file;
	g_kept[g_nkept].fd = high;
	g_kept[g_nkept].dev = st.dev;
	g_kept[g_nkept++].ino = st.ino;
	return high;
}

void kept_close(UInt file, Int own)
{
	if (own >= 0 && own != kept_find(file))
		VG_(close)(own);
}

void kept_drop(UInt file)
{
	for (UInt i = 0; i < g_nkept; i++)
		if (g_kept[i].file == file) {
			if (is_inode(g_kept[i].fd, g_kept[i].dev, g_kept[i].ino))
				VG_(close)(g_kept[i].fd);
			g_kept[i] = g_kept[--g_nkept];
			return;
		}
}

/* Sends the descriptor in a message that contains the file's number. If it does not arrive, the
 * receiver opens the file by its name. */
void kept_send(UInt file, Int own)
{
	struct vki_iovec iov = { .iov_base = &file, .iov_len = sizeof file };
	struct {
		struct vki_cmsghdr header;
		Int fd, unused;
	} control = { .header = { sizeof(struct vki_cmsghdr) + sizeof(Int), SOL_SOCKET,
				  VKI_SCM_RIGHTS },
		      .fd = own };
	struct vki_msghdr m = { .msg_iov = &iov,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof control };
	struct vg_stat st;

	if (own >= 0 && clo_keep_fd >= 0 && VG_(fstat)(clo_keep_fd, &st) == 0 &&
	    VKI_S_ISSOCK(st.mode) && st.ino == clo_keep_inode)
		sys_sendmsg(clo_keep_fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}
