/* Follows the names of PM files when a folder above them is renamed. The real path of the folder is
 * noted before the call, because a program may name it in many ways. */
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

static HChar *g_from[512]; /* by thread: the folder that is being renamed; NULL: none is */

/* Gives the real path of a file: that of its folder, and its own name. malloc()ed; NULL: its folder
 * cannot be opened. */
static HChar *real_path(const HChar *path)
{
	HChar *whole = VG_(malloc)("pmend.real", 2 * PMT_PAGE_BYTES), *slash;
	Bool ok = False;
	SysRes r;

	VG_(strncpy)(whole, path, PMT_PAGE_BYTES - 1);
	whole[PMT_PAGE_BYTES - 1] = '\0';
	for (SizeT n = VG_(strlen)(whole); n > 1 && whole[n - 1] == '/'; n--)
		whole[n - 1] = '\0';
	slash = VG_(strrchr)(whole, '/');
	if (slash != NULL) {
		*slash = '\0';
		r = VG_(open)(*whole ? whole : "/", VKI_O_RDONLY, 0);
		*slash = '/';
		if (!sr_isError(r)) {
			HChar *name = VG_(strdup)("pmend.real", slash);

			ok = file_path(sr_Res(r), whole, PMT_PAGE_BYTES);
			VG_(close)(sr_Res(r));
			VG_(strcat)(whole, whole[1] ? name : name + 1);
			VG_(free)(name);
		}
	}
	if (ok)
		return whole;
	VG_(free)(whole);
	return NULL;
}

void folder_renames(ThreadId tid, const HChar *from)
{
	struct vg_stat st;

	if (g_from[tid] != NULL)
		VG_(free)(g_from[tid]);
	g_from[tid] = NULL;
	if (shared_has_files() && !followed_any() && !sr_isError(VG_(stat)(from, &st)) &&
	    VKI_S_ISDIR(st.mode))
		g_from[tid] = real_path(from);
}

/* Is the file of the trace in the folder? */
static Bool is_below(UInt file, const HChar *folder)
{
	const SizeT len = VG_(strlen)(folder);
	const HChar *name = name_of(file);

	return VG_(strncmp)(name, folder, len) == 0 && name[len] == '/';
}

void folder_renamed_to(ThreadId tid, const HChar *to)
{
	const UInt all = shared_has_files() ? g_out.header->nfiles : 0;
	HChar *new = g_from[tid] != NULL ? real_path(to) : NULL, *path, text[32];
	UInt n = 0;

	for (UInt file = 1; new != NULL &&file <= all; file++)
		n += is_below(file, g_from[tid]);
	if (n > 1) {
		VG_(sprintf)(text, "together=%u", n);
		emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
	}
	for (UInt file = 1; n > 0 && file <= all; file++) {
		const ULong args[1] = { file };

		if (!is_below(file, g_from[tid]))
			continue;
		path = VG_(malloc)("pmend.renamed", 2 * PMT_PAGE_BYTES);
		VG_(sprintf)(path, "%s%s", new, name_of(file) + VG_(strlen)(g_from[tid]));
		emit_event(tid, PMT_RENAME, 0, args, path, VG_(strlen)(path));
		name_is(file, path);
		VG_(free)(path);
	}
	if (new != NULL)
		VG_(free)(new);
}
