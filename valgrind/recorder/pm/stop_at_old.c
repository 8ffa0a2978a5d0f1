/* Ends the program (--stop-at-old) before it changes a file that existed when it began, so that the
 * file can be saved, and before it maps such a file as PM, so that the file can be moved away. The
 * trace names the file: META "touched" or "mapped", and "made" for each file that the program made
 * before. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/out.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

#include "pub_tool_libcproc.h"

#define MAX_TOUCHABLE 512
static const HChar *g_touchable[MAX_TOUCHABLE];
static UInt g_ntouchable;

void old_may_touch(const HChar *path)
{
	if (g_ntouchable == MAX_TOUCHABLE)
		VG_(fmsg_bad_option)(path, "more than %d --may-touch options\n", MAX_TOUCHABLE);
	g_touchable[g_ntouchable++] = path;
}

static Bool may_touch(const HChar *path)
{
	for (UInt i = 0; i < g_ntouchable; i++)
		if (VG_(strcmp)(g_touchable[i], path) == 0)
			return True;
	return False;
}

static void stop(ThreadId tid, const HChar *why, const HChar *path)
{
	static HChar text[PMT_PAGE_BYTES + 16];

	VG_(snprintf)(text, sizeof text, "%s=%s", why, path);
	emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
	out_close();
	VG_(exit)(0);
}

/* Notes a file that the program made. It is removed before the program is run again, so that it
 * does not exist then. */
void old_fd_made(ThreadId tid, Int fd)
{
	static HChar path[PMT_PAGE_BYTES], text[PMT_PAGE_BYTES + 64];
	struct vg_stat st;

	if (!clo_stop_at_old || VG_(fstat)(fd, &st) != 0 || !file_path(fd, path, sizeof path) ||
	    !file_may_be_pm(path))
		return;
	VG_(snprintf)(text, sizeof text, "made=%llu %llu %s", st.dev, st.ino, path);
	emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
}

/* Handles a mapping. A file that another process of the run made and mapped is known already. */
void old_mapped(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path)
{
	if (clo_stop_at_old && VKI_S_ISREG(st->mode) && !file_was_created(st) &&
	    pm_file_of_fd(fd) == 0)
		stop(tid, "mapped", path);
}

/* Asks whether the file is one of the kernel's. Such files are not restored, and /proc/self/mem has
 * another name in each run. */
static Bool is_of_kernel(const HChar *path)
{
	return VG_(strncmp)(path, "/proc/", 6) == 0 || VG_(strncmp)(path, "/sys/", 5) == 0;
}

static void touched(ThreadId tid, const struct vg_stat *st, const HChar *path)
{
	if (VKI_S_ISREG(st->mode) && st->nlink > 0 && !file_was_created(st) &&
	    !is_of_kernel(path) && !may_touch(path) && file_may_be_pm(path))
		stop(tid, "touched", path);
}

void old_fd_changes(ThreadId tid, Int fd)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;

	if (clo_stop_at_old && VG_(fstat)(fd, &st) == 0 && file_path(fd, path, sizeof path))
		touched(tid, &st, path);
}

void old_path_changes(ThreadId tid, const HChar *path, Bool follow)
{
	struct vki_stat link;
	struct vg_stat st;

	if (!clo_stop_at_old || sr_isError(VG_(stat)(path, &st)))
		return;
	if (!follow && (sys_lstat(path, &link) < 0 || (link.st_mode & 0170000) == 0120000))
		return;
	touched(tid, &st, path);
}
