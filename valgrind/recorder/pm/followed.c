/* Follows everything below some folders (--files), whether it is mapped or not. A file gets its
 * number, and its content is recorded, before the program first changes it or its name, or when it
 * opens it. Folders and symbolic links have numbers like files. Events about names are separate
 * from events about files: NAME, UNNAME and MOVE. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

#define O_PATH_BIT 010000000 /* Valgrind's headers lack it */

/* ---- names ---- */

static void name_event(ThreadId tid, enum pmt_kind kind, UInt file, UInt folder, ULong how,
		       const HChar *name)
{
	const ULong args[3] = { file, folder, how };

	emit_event(tid, kind, 0, args, name, VG_(strlen)(name));
}

static UInt known(const struct vg_stat *st)
{
	return shared_has_files() ? shared_file_find(st->dev, st->ino) : 0;
}

static UInt see(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path);
static Bool g_is_arriving; /* files that are seen now have just got their name */

/* Where a path leads: its folder and last part. The folder's own name is in a buffer that is
 * overwritten by the next call. */
struct place {
	UInt folder; /* number of the folder; 0: it is not followed */
	ULong dev;
	HChar name[256];
};

static Bool split(const HChar *path, HChar *folder, SizeT cap, HChar *name, SizeT name_cap)
{
	SizeT end = VG_(strlen)(path), start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	if (start == end || end - start >= name_cap || start == 0 || start + 1 >= cap)
		return False;
	VG_(memcpy)(name, path + start, end - start);
	name[end - start] = '\0';
	VG_(memcpy)(folder, path, start);
	folder[start] = '\0';
	return True;
}

static Bool find_place(ThreadId tid, const HChar *path, struct place *p, HChar *whole, SizeT cap)
{
	HChar *folder = VG_(malloc)("pmend.folder", PMT_PAGE_BYTES);
	struct vg_stat st;
	SysRes r;
	Int fd;

	p->folder = 0;
	if (!split(path, folder, PMT_PAGE_BYTES, p->name, sizeof p->name)) {
		VG_(free)(folder);
		return False;
	}
	r = VG_(open)(folder, O_PATH_BIT, 0);
	VG_(free)(folder);
	if (sr_isError(r))
		return False;
	fd = sr_Res(r);
	if (VG_(fstat)(fd, &st) == 0 && VKI_S_ISDIR(st.mode) && file_path(fd, whole, cap) &&
	    followed_has(whole)) {
		p->dev = st.dev;
		p->folder = known(&st);
		if (p->folder == 0)
			p->folder = see(tid, fd, &st, whole);
	}
	VG_(close)(fd);
	return p->folder != 0 && VG_(strlen)(whole) + 1 + VG_(strlen)(p->name) < cap;
}

static void told_before(ThreadId tid, UInt file, const HChar *path)
{
	HChar *whole = VG_(malloc)("pmend.folder", PMT_PAGE_BYTES);
	struct place p;

	if (find_place(tid, path, &p, whole, PMT_PAGE_BYTES))
		name_event(tid, PMT_NAME, file, p.folder, PMT_NAMED_BEFORE, p.name);
	VG_(free)(whole);
}

/* Gives the file's number, and writes the file to the trace. 0: there are too many files. path is
 * copied, because it may be in a buffer that is overwritten. */
static UInt see(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path)
{
	static const HChar full[] = "there are too many files below --files: not all are followed";
	static Bool is_told;
	Bool is_made, is_new;
	HChar *own;
	UInt file;

	if (shared_is_full()) {
		if (!is_told)
			emit_event(tid, PMT_INCOMPLETE, 0, NULL, full, sizeof full - 1);
		is_told = True;
		return 0;
	}
	is_made = file_was_created(st);
	own = VG_(strdup)("pmend.path", path);
	file = file_of_mapping(tid, fd, st, own, &is_new);
	if (file != 0 && is_new && !is_made && !g_is_arriving && st->nlink > 0)
		told_before(tid, file, own);
	VG_(free)(own);
	return file;
}

static Bool is_kind_followed(const struct vg_stat *st)
{
	return VKI_S_ISREG(st->mode) || VKI_S_ISDIR(st->mode);
}

UInt followed_fd(ThreadId tid, Int fd)
{
	HChar *path;
	struct vg_stat st;
	UInt file;

	if (!followed_any() || VG_(fstat)(fd, &st) != 0 || !is_kind_followed(&st))
		return 0;
	file = known(&st);
	/* a file without a name is not followed any more */
	if (file != 0 || (st.nlink == 0 && shared_has_files() && shared_file_gone(st.dev, st.ino)))
		return file;
	path = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	if (file_path(fd, path, PMT_PAGE_BYTES) && followed_has(path))
		file = see(tid, fd, &st, path);
	VG_(free)(path);
	return file;
}

static UInt see_symlink(ThreadId tid, const struct place *p, const struct vki_stat *link,
			const HChar *path)
{
	/* the folder's device, in the tool interface's format */
	const struct vg_stat st = { .dev = p->dev,
				    .ino = link->st_ino,
				    .mode = link->st_mode,
				    .nlink = link->st_nlink,
				    .size = link->st_size };

	return known(&st) ? known(&st) : see(tid, -1, &st, path);
}

/* Gives the number of the file that is at the place. */
static UInt file_at(ThreadId tid, const struct place *p, HChar *whole)
{
	struct vki_stat link;
	UInt file = 0;
	SysRes r;

	VG_(strcat)(whole, "/");
	VG_(strcat)(whole, p->name);
	if (!followed_has(whole) || sys_lstat(whole, &link) < 0)
		return 0;
	if (VKI_S_ISLNK(link.st_mode))
		return see_symlink(tid, p, &link, whole);
	r = VG_(open)(whole, O_PATH_BIT, 0);
	if (sr_isError(r))
		return 0;
	file = followed_fd(tid, sr_Res(r));
	VG_(close)(sr_Res(r));
	return file;
}

/* ---- what was there before ---- */

/* How many files are recorded that the program may never use; the others need numbers, too. */
#define MAX_FILES_BEFORE (PMT_MAX_FILES / 2)
#define MAX_BYTES_BEFORE (1ULL << 30) /* on the disk */

/* What may still be recorded, and whether something was left out. */
struct before {
	UInt files;
	ULong bytes;
	Bool is_partial;
};

struct listing {
	HChar **names;
	UInt n, room;
};

static Int compare_names(const void *a, const void *b)
{
	return VG_(strcmp)(*(HChar *const *)a, *(HChar *const *)b);
}

/* Lists a folder in the order of the names, because the file system's order may change. */
static void list_folder(Int fd, struct listing *l)
{
	const UInt cap = 32768;
	HChar *buf = VG_(malloc)("pmend.entries", cap);
	Int len;

	while ((len = VG_(getdents64)(fd, (struct vki_dirent64 *)buf, cap)) > 0)
		for (Int at = 0; at < len;) {
			const struct vki_dirent64 *e = (const struct vki_dirent64 *)(buf + at);

			at += e->d_reclen;
			if (VG_(strcmp)(e->d_name, ".") == 0 || VG_(strcmp)(e->d_name, "..") == 0)
				continue;
			GROW(l->names, l->n, l->room);
			l->names[l->n++] = VG_(strdup)("pmend.name", e->d_name);
		}
	VG_(free)(buf);
	if (l->n > 1)
		VG_(ssort)(l->names, l->n, sizeof *l->names, compare_names);
}

static void see_below(ThreadId tid, const HChar *path, struct before *left);

/* Records the file with this name in the folder, if it has no number yet, or its further name. */
static void see_entry(ThreadId tid, struct place *p, const HChar *folder, const HChar *name,
		      struct before *left)
{
	HChar *whole = VG_(malloc)("pmend.path", 2 * PMT_PAGE_BYTES);
	struct vki_stat link;
	UInt file;

	VG_(sprintf)(whole, "%s/%s", folder, name);
	if (VG_(strlen)(whole) < PMT_PAGE_BYTES && followed_has(whole) &&
	    sys_lstat(whole, &link) >= 0) {
		const struct vg_stat st = { .dev = p->dev, .ino = link.st_ino };

		VG_(strncpy)(p->name, name, sizeof p->name - 1);
		file = known(&st);
		if (file != 0) {
			name_event(tid, PMT_NAME, file, p->folder, PMT_NAMED_BEFORE, name);
		} else if (left->files == 0 || 512ULL * link.st_blocks > left->bytes) {
			left->is_partial = True;
		} else {
			VG_(strcpy)(whole, folder);
			left->files -= file_at(tid, p, whole) != 0;
			left->bytes -= 512ULL * link.st_blocks;
			if (VKI_S_ISDIR(link.st_mode))
				see_below(tid, whole, left);
		}
	}
	VG_(free)(whole);
}

static void see_below(ThreadId tid, const HChar *path, struct before *left)
{
	struct listing l = { 0 };
	struct vg_stat st;
	struct place p = { 0 };
	SysRes r = VG_(open)(path, VKI_O_RDONLY, 0);

	if (sr_isError(r))
		return;
	if (VG_(fstat)(sr_Res(r), &st) == 0 && VKI_S_ISDIR(st.mode)) {
		p.dev = st.dev;
		p.folder = followed_fd(tid, sr_Res(r));
		list_folder(sr_Res(r), &l);
	}
	VG_(close)(sr_Res(r));
	for (UInt i = 0; i < l.n; i++) {
		if (p.folder != 0)
			see_entry(tid, &p, path, l.names[i], left);
		VG_(free)(l.names[i]);
	}
	VG_(free)(l.names);
}

/* Is the folder, the i-th one of --files, below another one, or named twice? */
static Bool is_covered(UInt i)
{
	const HChar *folder = followed_folder(i), *other;

	for (UInt k = 0; (other = followed_folder(k)); k++) {
		const SizeT n = VG_(strlen)(other);

		if (k != i && VG_(strncmp)(other, folder, n) == 0 &&
		    (folder[n] == '/' || (folder[n] == '\0' && k < i)))
			return True;
	}
	return False;
}

void followed_begin(ThreadId tid)
{
	static const HChar many[] =
		"the folders of --files hold more than 339 files or 1 GiB: crash states lack some that the program does not use";
	struct before left = { MAX_FILES_BEFORE, MAX_BYTES_BEFORE, False };

	if (!followed_any() || shared_has_files())
		return; /* an executed program is not the first one */
	for (UInt i = 0; followed_folder(i); i++)
		if (!is_covered(i))
			see_below(tid, followed_folder(i), &left);
	if (left.is_partial)
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, many, sizeof many - 1);
}

/* ---- functions for system calls ---- */

UInt followed_at(ThreadId tid, const HChar *path)
{
	HChar *whole;
	struct place p;
	UInt file = 0;

	if (!followed_any())
		return 0;
	whole = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	if (find_place(tid, path, &p, whole, PMT_PAGE_BYTES))
		file = file_at(tid, &p, whole);
	VG_(free)(whole);
	return file;
}

UInt followed_target(ThreadId tid, const HChar *path)
{
	SysRes r;
	UInt file;

	if (!followed_any())
		return 0;
	r = VG_(open)(path, O_PATH_BIT, 0);
	if (sr_isError(r))
		return 0;
	file = followed_fd(tid, sr_Res(r));
	VG_(close)(sr_Res(r));
	return file;
}

void followed_made(ThreadId tid, const HChar *path)
{
	HChar *whole;
	struct place p;
	struct vki_stat link;
	SysRes r;
	UInt file;

	if (!followed_any())
		return;
	whole = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	if (find_place(tid, path, &p, whole, PMT_PAGE_BYTES)) {
		r = VG_(open)(path, O_PATH_BIT, 0);
		if (sys_lstat(path, &link) >= 0 && VKI_S_ISLNK(link.st_mode))
			made_note(p.dev, link.st_ino);
		else if (!sr_isError(r))
			pm_created(tid, sr_Res(r));
		file = file_at(tid, &p, whole);
		if (file != 0)
			name_event(tid, PMT_NAME, file, p.folder, PMT_NAMED_MADE, p.name);
		if (!sr_isError(r))
			VG_(close)(sr_Res(r));
	}
	VG_(free)(whole);
}

void followed_made_fd(ThreadId tid, Int fd)
{
	HChar *path, *whole;
	struct vg_stat st;
	struct place p;
	UInt file = followed_fd(tid, fd);

	if (file == 0 || VG_(fstat)(fd, &st) != 0 || st.nlink == 0)
		return;
	path = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	whole = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	if (file_path(fd, path, PMT_PAGE_BYTES) && find_place(tid, path, &p, whole, PMT_PAGE_BYTES))
		name_event(tid, PMT_NAME, file, p.folder, PMT_NAMED_MADE, p.name);
	VG_(free)(whole);
	VG_(free)(path);
}

/* Handles a new name of a file, which may have been outside of the followed folders. whole: gets
 * the file's path. */
static UInt arrive(ThreadId tid, const HChar *path, HChar *whole)
{
	struct place p;
	UInt file = 0;

	if (find_place(tid, path, &p, whole, PMT_PAGE_BYTES)) {
		g_is_arriving = True;
		file = file_at(tid, &p, whole);
		g_is_arriving = False;
	}
	if (file != 0)
		name_event(tid, PMT_NAME, file, p.folder, PMT_NAMED_LINKED, p.name);
	return file;
}

void followed_linked(ThreadId tid, const HChar *path)
{
	struct vg_stat st;
	HChar *whole;
	ULong file;

	if (!followed_any())
		return;
	whole = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	file = arrive(tid, path, whole);
	/* its only name, which becomes its name in the trace */
	if (file != 0 && !sr_isError(VG_(stat)(whole, &st)) && st.nlink == 1 &&
	    VKI_S_ISREG(st.mode))
		emit_event(tid, PMT_RENAME, 0, &file, whole, VG_(strlen)(whole));
	VG_(free)(whole);
}

void followed_removed(ThreadId tid, UInt file, const HChar *path)
{
	HChar *whole;
	struct place p;

	if (file == 0)
		return;
	whole = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	if (find_place(tid, path, &p, whole, PMT_PAGE_BYTES))
		name_event(tid, PMT_UNNAME, file, p.folder, 0, p.name);
	VG_(free)(whole);
}

void followed_moved(ThreadId tid, UInt file, UInt replaced, const HChar *from, const HChar *to,
		    UInt flags)
{
	HChar *whole, names[2 * 256];
	struct place a, b;
	SizeT n;

	if (!followed_any())
		return;
	whole = VG_(malloc)("pmend.path", PMT_PAGE_BYTES);
	find_place(tid, from, &a, whole, PMT_PAGE_BYTES);
	find_place(tid, to, &b, whole, PMT_PAGE_BYTES);
	if (file == 0 && b.folder != 0)
		arrive(tid, to, whole);
	VG_(free)(whole);
	if (file != 0 && followed_at(tid, to) == 0) {
		followed_removed(tid, file, from); /* it moves out of the followed folders */
		return;
	}
	if (file == 0)
		return;
	n = VG_(strlen)(a.name);
	VG_(strcpy)(names, a.name);
	names[n] = '/';
	VG_(strcpy)(names + n + 1, b.name);
	n += 1 + VG_(strlen)(b.name);
	{
		const ULong args[5] = { file, a.folder, b.folder, flags, replaced };

		emit_event(tid, PMT_MOVE, 0, args, names, n);
	}
}
