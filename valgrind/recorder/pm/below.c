/* Decides which paths --files follows: those below some folders, with exceptions. Paths are
 * absolute and without symbolic links, as descriptors give them. */
#include "valgrind/recorder/pm/glob.h"
#include "valgrind/recorder/pm/pm_internal.h"

#define MAX_FOLDERS 64
#define MAX_GLOBS 64
static const HChar *g_folders[MAX_FOLDERS], *g_except[MAX_GLOBS];
static UInt g_nfolders, g_nexcept;

void followed_add(const HChar *folder)
{
	if (g_nfolders == MAX_FOLDERS)
		VG_(fmsg_bad_option)(folder, "more than %d --files options\n", MAX_FOLDERS);
	g_folders[g_nfolders++] = folder;
}

void followed_except(const HChar *glob)
{
	if (g_nexcept == MAX_GLOBS)
		VG_(fmsg_bad_option)(glob, "more than %d --files-except options\n", MAX_GLOBS);
	g_except[g_nexcept++] = glob;
}

Bool followed_any(void)
{
	return g_nfolders > 0;
}

const HChar *followed_folder(UInt i)
{
	return i < g_nfolders ? g_folders[i] : NULL;
}

const HChar *followed_exception(UInt i)
{
	return i < g_nexcept ? g_except[i] : NULL;
}

static Bool is_below(const HChar *folder, const HChar *path)
{
	const SizeT n = VG_(strlen)(folder);

	return VG_(strncmp)(folder, path, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Asks whether the path is an exception. A pattern without a slash is matched with each part of the
 * path below the folder. If the pattern matches a folder, everything in that folder is excepted. */
static Bool is_excepted(const HChar *folder, const HChar *path, const HChar *glob)
{
	HChar part[256];

	if (VG_(strchr)(glob, '/'))
		return glob_match(glob, path);
	for (const HChar *p = path + VG_(strlen)(folder); *p != '\0';) {
		SizeT n = 0;

		for (p += *p == '/'; *p != '\0' && *p != '/'; p++)
			if (n < sizeof part - 1)
				part[n++] = *p;
		part[n] = '\0';
		if (n > 0 && glob_match(glob, part))
			return True;
	}
	return False;
}

const HChar *followed_folder_of(const HChar *path)
{
	for (UInt i = 0; i < g_nfolders; i++)
		if (is_below(g_folders[i], path))
			return g_folders[i];
	return NULL;
}

Bool followed_has(const HChar *path)
{
	const HChar *folder = followed_folder_of(path);

	for (UInt i = 0; folder != NULL && i < g_nexcept; i++)
		if (is_excepted(folder, path, g_except[i]))
			return False;
	return folder != NULL;
}
