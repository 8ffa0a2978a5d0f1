/* Files that the program writes but does not map, beside those that it maps: a log, a journal. Those that --pm +GLOB names are followed from before their first change, so that crash
 * states have them. Of others in a folder with PM files, the trace says that there are some: META "beside". */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

#define MAX_TOLD 64
static struct {
	ULong dev, ino;
} g_told[MAX_TOLD];
static UInt g_ntold;

static Bool was_told(const struct vg_stat *st)
{
	for (UInt i = 0; i < g_ntold; i++)
		if (g_told[i].dev == st->dev && g_told[i].ino == st->ino)
			return True;
	if (g_ntold == MAX_TOLD)
		return True;
	g_told[g_ntold].dev = st->dev;
	g_told[g_ntold++].ino = st->ino;
	return False;
}

/* Standard output and standard error are what the program says, wherever they go. */
static Bool is_said(const struct vg_stat *st)
{
	struct vg_stat own;

	for (Int fd = 1; fd <= 2; fd++)
		if (VG_(fstat)(fd, &own) == 0 && own.dev == st->dev && own.ino == st->ino)
			return True;
	return False;
}

static void tell(ThreadId tid, const struct vg_stat *st, const HChar *path)
{
	static HChar text[PMT_PAGE_BYTES + 16];

	if (!file_is_in_pm_folder(path) || is_said(st) || was_told(st))
		return;
	VG_(snprintf)(text, sizeof text, "beside=%s", path);
	emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
}

/* The last file that was looked at, and when: most calls write to the same one again. With --pm +GLOB, each file is looked at each time: an inode may be used again. */
static Bool was_last(const struct vg_stat *st)
{
	static struct {
		ULong dev, ino;
		UInt nfolders;
	} last;

	if (last.dev == st->dev && last.ino == st->ino && last.nfolders == files_nfolders() && !files_have_beside())
		return True;
	last.dev = st->dev;
	last.ino = st->ino;
	last.nfolders = files_nfolders();
	return False;
}

static void follow(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path)
{
	HChar link[64];
	SysRes r;

	VG_(sprintf)(link, "/proc/self/fd/%d", fd); /* the program's descriptor may be write-only */
	r = VG_(open)(link, VKI_O_RDONLY, 0);
	if (sr_isError(r)) {
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "a written file cannot be read", 29);
		return;
	}
	if (file_number(tid, sr_Res(r), st, path, PMT_FILE_BESIDE) == 0)
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "too many PM files", 17);
	VG_(close)(sr_Res(r));
}

void beside_fd_changes(ThreadId tid, Int fd, Bool is_write)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;

	if (!files_are_followed() || VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode) || st.nlink == 0 || was_last(&st) ||
	    shared_file_find(st.dev, st.ino) != 0 || !file_path(fd, path, sizeof path))
		return;
	if (file_is_named_beside(path))
		follow(tid, fd, &st, path);
	else if (is_write)
		tell(tid, &st, path);
}

void beside_path_changes(ThreadId tid, const HChar *path)
{
	struct vg_stat st;
	SysRes r;

	if (!files_are_followed() || sr_isError(VG_(stat)(path, &st)) || !VKI_S_ISREG(st.mode))
		return;
	r = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(r))
		return;
	beside_fd_changes(tid, sr_Res(r), False);
	VG_(close)(sr_Res(r));
}
