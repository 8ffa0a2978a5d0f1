/* Notes files that the program writes but does not map, in folders with files that it maps: a log,
 * a journal. Crash states do not include them; META "beside" in the trace says that they exist. The
 * contents of small ones are kept, before the first change that is seen and after each change
 * ("beside-old", "beside-new", "beside-part"), because a failure may depend on them. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

#define MAX_FOLDERS 16
static HChar *g_folders[MAX_FOLDERS]; /* folders with PM files of this process */
static UInt g_nfolders;

static SizeT folder_len(const HChar *path)
{
	const HChar *slash = VG_(strrchr)(path, '/');

	return slash ? slash - path : 0;
}

static Bool is_in_folder(const HChar *path)
{
	for (UInt i = 0; i < g_nfolders; i++)
		if (VG_(strlen)(g_folders[i]) == folder_len(path) &&
		    VG_(strncmp)(g_folders[i], path, folder_len(path)) == 0)
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

/* Asks whether the file is standard output or standard error. What is written there are the
 * program's messages, wherever they go. */
static Bool is_said(const struct vg_stat *st)
{
	struct vg_stat own;

	for (Int fd = 1; fd <= 2; fd++)
		if (VG_(fstat)(fd, &own) == 0 && own.dev == st->dev && own.ino == st->ino)
			return True;
	return False;
}

/* ---- their contents ---- */

#define FILE_BYTES (64u << 10) /* largest file that is kept */
#define ALL_BYTES (1u << 20)   /* everything that a process keeps */
#define PART_BYTES 2000u       /* bytes per event, in hexadecimal */
#define MAX_KNOWN 64
static struct {
	HChar *path;
	Bool is_lost; /* it is not kept any more, and the trace says so */
} g_known[MAX_KNOWN];
static UInt g_nknown;
static ULong g_kept_bytes;

static void emit_text(ThreadId tid, const HChar *text)
{
	emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
}

static void emit_state(ThreadId tid, const HChar *when, const HChar *state, const HChar *path)
{
	static HChar text[PMT_PAGE_BYTES + 64];

	VG_(snprintf)(text, sizeof text, "beside-%s=%s:%s", when, state, path);
	emit_text(tid, text);
}

static void emit_content(ThreadId tid, Int fd, ULong size)
{
	static UChar bytes[PART_BYTES];
	static HChar text[2 * PART_BYTES + 16];

	for (ULong at = 0; at < size;) {
		const Long n =
			sys_pread(fd, bytes, size - at < PART_BYTES ? size - at : PART_BYTES, at);
		SizeT end = VG_(sprintf)(text, "beside-part=");

		/* the file is shorter now: the reader of the trace notices that a part is
		 * missing */
		if (n <= 0)
			return;
		for (Long i = 0; i < n; i++)
			end += VG_(sprintf)(text + end, "%02x", bytes[i]);
		emit_text(tid, text);
		at += n;
	}
}

/* Writes a version of a file: "a" if it is absent; "?" if it is unknown; otherwise its length, and
 * its parts follow. */
static void keep(ThreadId tid, const HChar *when, const HChar *path, Bool *is_lost)
{
	const SysRes r = VG_(open)(path, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
	struct vg_stat st;
	HChar size[24];
	Int fd;

	if (sr_isError(r)) {
		emit_state(tid, when, sr_Err(r) == VKI_ENOENT ? "a" : "?", path);
		return;
	}
	fd = sr_Res(r);
	*is_lost = VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode) || st.size > FILE_BYTES ||
		   g_kept_bytes + st.size > ALL_BYTES;
	if (*is_lost) {
		emit_state(tid, when, "?", path);
	} else {
		g_kept_bytes += st.size + 1;
		VG_(sprintf)(size, "%llu", (ULong)st.size);
		if (g_shared)
			shared_lock(); /* keeps its parts together */
		emit_state(tid, when, size, path);
		emit_content(tid, fd, st.size);
		if (g_shared)
			shared_unlock();
	}
	VG_(close)(fd);
}

#define O_PATH_BIT 010000000 /* Valgrind's headers lack it */

/* Gives the path with the folder's own name, as descriptors give it, in a buffer that the next call
 * overwrites; unchanged if the folder does not exist. */
static const HChar *whole_path(const HChar *path)
{
	static HChar whole[PMT_PAGE_BYTES], folder[PMT_PAGE_BYTES];
	const SizeT n = folder_len(path), name = VG_(strlen)(path) - n;
	SysRes r;
	Bool is_ok;

	if (n == 0 || n >= sizeof folder)
		return path;
	VG_(memcpy)(folder, path, n);
	folder[n] = '\0';
	r = VG_(open)(folder, O_PATH_BIT, 0);
	if (sr_isError(r))
		return path;
	is_ok = file_path(sr_Res(r), whole, sizeof whole) &&
		VG_(strlen)(whole) + name < sizeof whole;
	VG_(close)(sr_Res(r));
	if (!is_ok)
		return path;
	VG_(strcpy)(whole + VG_(strlen)(whole), path + n);
	return whole;
}

static Int find_known(const HChar *path)
{
	for (UInt i = 0; i < g_nknown; i++)
		if (VG_(strcmp)(g_known[i].path, path) == 0)
			return i;
	return -1;
}

static Bool is_pm(const HChar *path)
{
	struct vg_stat st;

	return followed_has(path) ||
	       (!sr_isError(VG_(stat)(path, &st)) && shared_file_find(st.dev, st.ino) != 0);
}

static void before(ThreadId tid, const HChar *path)
{
	struct vg_stat st;
	UInt i = g_nknown;

	if (!is_in_folder(path) || find_known(path) >= 0 || i == MAX_KNOWN || is_pm(path))
		return;
	g_known[i].path = VG_(strdup)("pmend.beside", path);
	g_known[i].is_lost = False;
	g_nknown++;
	if (!sr_isError(VG_(stat)(path, &st)) && file_was_created(&st))
		emit_state(tid, "old", "a", path);
	else
		keep(tid, "old", path, &g_known[i].is_lost);
}

static void after(ThreadId tid, const HChar *path)
{
	const Int i = find_known(path);

	if (i >= 0 && !g_known[i].is_lost && !is_pm(path))
		keep(tid, "new", path, &g_known[i].is_lost);
}

void beside_before(ThreadId tid, const HChar *path)
{
	if (g_nfolders > 0)
		before(tid, whole_path(path));
}

void beside_after(ThreadId tid, const HChar *path)
{
	if (g_nfolders > 0)
		after(tid, whole_path(path));
}

/* ---- files behind descriptors ---- */

/* Files that were looked at recently and are not beside a pool, and when. */
#define MAX_OTHERS 16
static struct {
	ULong dev, ino;
	UInt nfolders;
} g_others[MAX_OTHERS];

static Bool is_other(const struct vg_stat *st)
{
	for (UInt i = 0; i < MAX_OTHERS; i++)
		if (g_others[i].dev == st->dev && g_others[i].ino == st->ino &&
		    g_others[i].nfolders == g_nfolders)
			return True;
	return False;
}

static void note_other(const struct vg_stat *st)
{
	static UInt n;
	const UInt i = n++ % MAX_OTHERS;

	g_others[i].dev = st->dev;
	g_others[i].ino = st->ino;
	g_others[i].nfolders = g_nfolders;
}

/* Gives the path of the descriptor's file if it is beside a pool, in a buffer that the next call
 * overwrites; NULL: it is not. */
static const HChar *path_beside(Int fd)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;

	if (g_nfolders == 0 || VG_(fstat)(fd, &st) != 0 || is_other(&st) ||
	    shared_file_find(st.dev, st.ino) != 0)
		return NULL;
	if (VKI_S_ISREG(st.mode) && st.nlink != 0 && file_path(fd, path, sizeof path) &&
	    is_in_folder(path) && !is_said(&st))
		return path;
	note_other(&st);
	return NULL;
}

void beside_before_fd(ThreadId tid, Int fd)
{
	const HChar *path = path_beside(fd);

	if (path)
		before(tid, path);
}

void beside_after_fd(ThreadId tid, Int fd)
{
	const HChar *path = path_beside(fd);

	if (path)
		after(tid, path);
}

/* ---- */

static void name(ThreadId tid, const HChar *path)
{
	static HChar *named[MAX_KNOWN];
	static HChar text[PMT_PAGE_BYTES + 16];
	static UInt n;

	for (UInt i = 0; i < n; i++)
		if (VG_(strcmp)(named[i], path) == 0)
			return;
	if (n == MAX_KNOWN)
		return;
	named[n++] = VG_(strdup)("pmend.beside", path);
	VG_(snprintf)(text, sizeof text, "beside=%s", path);
	emit_text(tid, text);
}

void beside_written(ThreadId tid, Int fd)
{
	const HChar *path = path_beside(fd);

	if (!path)
		return;
	name(tid, path);
	after(tid, path);
}

void beside_renamed(ThreadId tid, const HChar *from, const HChar *to)
{
	if (g_nfolders == 0)
		return;
	after(tid, whole_path(from));
	to = whole_path(to);
	if (find_known(to) >= 0 && !is_pm(to))
		name(tid, to);
	after(tid, to);
}
