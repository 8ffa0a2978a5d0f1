/* What a descriptor is: its path, and whether this program made the file (the last MAX_CREATED of them are known). A file that the program made had no
 * content before. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/pm/pm_internal.h"

struct inode {
	ULong dev, ino;
};
#define MAX_CREATED 4096
static struct inode g_created[MAX_CREATED];
static UInt g_ncreated;

Bool file_path(Int fd, HChar *path, SizeT cap)
{
	HChar link[64];
	SSizeT n;

	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	n = VG_(readlink)(link, path, cap - 1);
	if (n <= 0)
		return False;
	path[n] = '\0';
	return True;
}

void pm_created(Int fd)
{
	struct vg_stat st;

	if (VG_(fstat)(fd, &st) != 0)
		return;
	g_created[g_ncreated++ % MAX_CREATED] = (struct inode){ st.dev, st.ino };
}

Bool file_was_created(const struct vg_stat *st)
{
	for (UInt i = 0; i < g_ncreated && i < MAX_CREATED; i++)
		if (g_created[i].dev == st->dev && g_created[i].ino == st->ino)
			return True;
	return False;
}
