/* Files that the program writes but does not map, beside those that it maps: a log, a journal. Crash states do not follow them; the trace says that there are some: META "beside". */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

#define MAX_FOLDERS 16
static HChar *g_folders[MAX_FOLDERS]; /* with PM files of this process */
static UInt g_nfolders;

static SizeT folder_len(const HChar *path)
{
	const HChar *slash = VG_(strrchr)(path, '/');

	return slash ? slash - path : 0;
}

static Bool is_in_folder(const HChar *path)
{
	for (UInt i = 0; i < g_nfolders; i++)
		if (VG_(strlen)(g_folders[i]) == folder_len(path) && VG_(strncmp)(g_folders[i], path, folder_len(path)) == 0)
			return True;
	return False;
}

void beside_add_folder(const HChar *path)
{
	if (g_nfolders == MAX_FOLDERS || is_in_folder(path))
		return;
	g_folders[g_nfolders] = VG_(strdup)("pmend.folder", path);
	g_folders[g_nfolders++][folder_len(path)] = '\0';
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

/* Of the files that were looked at last, and when. */
#define MAX_SEEN 16
static Bool was_seen(const struct vg_stat *st)
{
	static struct {
		ULong dev, ino;
		UInt nfolders;
	} seen[MAX_SEEN];
	static UInt n;
	UInt i;

	for (i = 0; i < MAX_SEEN; i++)
		if (seen[i].dev == st->dev && seen[i].ino == st->ino && seen[i].nfolders == g_nfolders)
			return True;
	i = n++ % MAX_SEEN;
	seen[i].dev = st->dev;
	seen[i].ino = st->ino;
	seen[i].nfolders = g_nfolders;
	return False;
}

void beside_written(ThreadId tid, Int fd)
{
	static HChar path[PMT_PAGE_BYTES], text[PMT_PAGE_BYTES + 16];
	struct vg_stat st;

	if (g_nfolders == 0 || VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode) || st.nlink == 0 || was_seen(&st) || !file_path(fd, path, sizeof path) ||
	    !is_in_folder(path) || is_said(&st))
		return;
	VG_(snprintf)(text, sizeof text, "beside=%s", path);
	emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
}
