/* Decides which files are PM: those that survive the program and match --pm. Each gets a number in
 * the trace; its content is recorded when it is first mapped. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/glob.h"
#include "valgrind/recorder/pm/pm_internal.h"

#include "pub_tool_libcproc.h"

#define MAX_GLOBS 64
static const HChar *g_globs[MAX_GLOBS];
static UInt g_nglobs;

void pm_glob(const HChar *glob)
{
	if (g_nglobs == MAX_GLOBS)
		VG_(fmsg_bad_option)(glob, "more than %d --pm options\n", MAX_GLOBS);
	g_globs[g_nglobs++] = glob;
}

static Bool glob_matches(const HChar *path)
{
	for (UInt i = 0; i < g_nglobs; i++) {
		const HChar *glob = g_globs[i];

		if (glob_match(glob, VG_(strchr)(glob, '/') ? path : VG_(basename)(path)))
			return True;
	}
	return False;
}

Bool file_may_be_pm(const HChar *path)
{
	return g_nglobs == 0 || glob_matches(path);
}

static Bool is_device(const struct vg_stat *st)
{
	return VKI_S_ISCHR(st->mode);
}

/* Asks whether the file is PM if there is no --pm. A crash must leave the file: unlinked files and
 * memfds would be gone. Semaphores of glibc are no data. */
static Bool is_pm_path(const struct vg_stat *st, const HChar *path)
{
	if (is_device(st))
		return VG_(strncmp)(path, "/dev/dax", 8) == 0 &&
		       (g_nglobs == 0 || glob_matches(path));
	if (!VKI_S_ISREG(st->mode))
		return False;
	if (g_nglobs > 0)
		return glob_matches(path);
	if (followed_folder_of(path) != NULL) /* excepted by --files-except */
		return False;
	return st->nlink > 0 && VG_(strncmp)(path, "/dev/shm/sem.", 13) != 0;
}

Bool file_is_pm(Int fd, const struct vg_stat *st, const HChar **path)
{
	static HChar buffer[PMT_PAGE_BYTES];

	*path = buffer;
	return file_path(fd, buffer, sizeof buffer) &&
	       (followed_has(buffer) || is_pm_path(st, buffer));
}

static Bool is_zero(const UChar *p, SizeT n)
{
	for (SizeT i = 0; i < n; i++)
		if (p[i] != 0)
			return False;
	return True;
}

/* Gives the offset of the first data at or after this offset; negative: only a hole follows. */
static Long data_from(Int fd, ULong offset)
{
	Long old = VG_(lseek)(fd, 0, VKI_SEEK_CUR); /* the descriptor may be the program's */
	Long data = VG_(lseek)(fd, offset, 3 /* SEEK_DATA */);

	VG_(lseek)(fd, old, VKI_SEEK_SET);
	/* 0: the file system does not know holes, so read everything */
	return data == -1 && offset == 0 ? 0 : data;
}

/* Records the content without holes and zero pages. Negative: the file cannot be read. */
static Long copy_content(ThreadId tid, UInt file, Int fd, ULong size)
{
	/* aligned for O_DIRECT */
	static UChar page[PMT_PAGE_BYTES] __attribute__((aligned(PMT_PAGE_BYTES)));
	ULong offset = 0;

	while (offset < size) {
		Long data = data_from(fd, offset), n;

		if (data < 0)
			return 0;
		if ((ULong)data > offset)
			offset = (ULong)data & ~(ULong)(PMT_PAGE_BYTES - 1);
		/* looks for holes only every 64 pages */
		for (UInt i = 0; i < 64 && offset < size; i++, offset += PMT_PAGE_BYTES) {
			n = sys_pread(fd, page, sizeof page, offset);
			if (n <= 0)
				return n;
			if (!is_zero(page, n))
				emit_event(tid, PMT_CONTENT, PMT_ADDR(file, offset), NULL, page, n);
		}
	}
	return 0;
}

/* Records the initial content. Our own descriptor reads it, or the program's if there is none. */
static void record_content(ThreadId tid, UInt file, Int fd, const struct vg_stat *st,
			   const HChar *path)
{
	static HChar text[PMT_PAGE_BYTES + 64];
	Int own = kept_open(file, fd);

	if (copy_content(tid, file, own >= 0 ? own : fd, st->size) < 0) {
		VG_(snprintf)(text, sizeof text, "what %s held at first could not be read", path);
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, text, VG_(strlen)(text));
	}
	kept_send(file, own);
	kept_close(file, own);
}

static UInt file_of_stat(const struct vg_stat *st, Bool *is_new)
{
	return is_device(st) ? shared_file_id(st->rdev, ~0ULL, is_new)
			     : shared_file_id(st->dev, st->ino, is_new);
}

/* Gives the flags that the PMT_FILE event of the file has. */
static ULong flags_of(const struct vg_stat *st, const HChar *path)
{
	return made_flags(st) | (is_device(st) ? PMT_FILE_DEVICE : 0) |
	       (followed_has(path) ? PMT_FILE_FOLLOWED : 0) |
	       (VKI_S_ISDIR(st->mode) ? PMT_FILE_FOLDER : 0) |
	       (VKI_S_ISLNK(st->mode) ? PMT_FILE_SYMLINK : 0);
}

static void record_link(ThreadId tid, UInt file, const HChar *path)
{
	HChar *target = VG_(malloc)("pmend.link", PMT_PAGE_BYTES);
	const SSizeT n = VG_(readlink)(path, target, PMT_PAGE_BYTES);

	if (n > 0)
		emit_event(tid, PMT_CONTENT, PMT_ADDR(file, 0), NULL, target, n);
	VG_(free)(target);
}

static void tell_file(ThreadId tid, UInt file, Int fd, const struct vg_stat *st, const HChar *path)
{
	ULong args[5] = { file, VKI_S_ISDIR(st->mode) ? 0 : st->size, 0, st->dev, st->ino };
	const HChar *unseen;
	HChar text[64];
	ULong since;

	made_is_mapped_as(st, path);
	args[2] = flags_of(st, path);
	/* without other PM it does not matter when */
	since = file > 1 ? file_durable_since(st) : 0;
	unseen = made_unseen(st);
	if (since != 0) {
		VG_(sprintf)(text, "since=%u %llu", file, since);
		emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
	}
	made_tell_calls(file, st);
	emit_event(tid, PMT_FILE, 0, args, path, VG_(strlen)(path));
	name_is(file, path);
	if (unseen != NULL)
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, unseen, VG_(strlen)(unseen));
	*shared_file_size(file) = args[1];
	if (VKI_S_ISLNK(st->mode))
		record_link(tid, file, path);
	else if (VKI_S_ISREG(st->mode))
		record_content(tid, file, fd, st, path);
}

ULong file_device_bytes(const struct vg_stat *st, ULong mapped)
{
	HChar text[64] = "";
	ULong size;
	SysRes r;

	VG_(sprintf)
	(text, "/sys/dev/char/%llu:%llu/size", st->rdev >> 8 & 0xfff,
	 (st->rdev & 0xff) | (st->rdev >> 12 & 0xfff00));
	r = VG_(open)(text, VKI_O_RDONLY, 0);
	if (sr_isError(r))
		return mapped;
	VG_(memset)(text, 0, sizeof text);
	VG_(read)(sr_Res(r), text, sizeof text - 1);
	VG_(close)(sr_Res(r));
	size = VG_(strtoull10)(text, NULL);
	return size > mapped ? size : mapped;
}

UInt file_of_mapping(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path,
		     Bool *is_new)
{
	UInt file;

	/* other processes store to the file only after its content is recorded */
	if (g_shared)
		shared_lock();
	file = file_of_stat(st, is_new);
	if (*is_new && file != 0)
		tell_file(tid, file, fd, st, path);
	if (g_shared)
		shared_unlock();
	return file;
}

static UInt known_file(const struct vg_stat *st)
{
	return shared_has_files() && (VKI_S_ISREG(st->mode) || VKI_S_ISDIR(st->mode))
		       ? shared_file_find(st->dev, st->ino)
		       : 0;
}

void pm_linked(ThreadId tid, const HChar *path)
{
	const HChar *unseen = made_linked(path);

	if (unseen != NULL && file_may_be_pm(path))
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, unseen, VG_(strlen)(unseen));
}

UInt pm_file_of_fd(Int fd)
{
	struct vg_stat st;

	return shared_has_files() && VG_(fstat)(fd, &st) == 0 ? known_file(&st) : 0;
}

UInt pm_file_of_path(const HChar *path, Bool follow, UInt *nlink)
{
	struct vki_stat link;
	struct vg_stat st;

	if (!shared_has_files() || sr_isError(VG_(stat)(path, &st)))
		return 0;
	if (!follow && (sys_lstat(path, &link) < 0 || (link.st_mode & 0170000) == 0120000))
		return 0;
	*nlink = st.nlink;
	return known_file(&st);
}

void pm_file_resized(ThreadId tid, UInt file, ULong size)
{
	ULong args[2] = { file, size };

	if (file == 0 || *shared_file_size(file) == size)
		return;
	handed_zeroed(file, size, ~0ULL);
	*shared_file_size(file) = size;
	emit_event(tid, PMT_SIZE, 0, args, NULL, 0);
}

void pm_file_gone(UInt file)
{
	/* Closes our descriptor. Journals come and go, and there are few descriptors; a program
	 * that locks a file removes it last. */
	if (followed_any())
		kept_drop(file);
	shared_file_forget(file);
	name_is(file, "");
}

/* Notes that a file without a name was changed. Such a file is not followed, because its fate does
 * not matter, but the trace is not exact then. */
void pm_gone_changed(ThreadId tid, Int fd)
{
	static UInt told; /* the last one that was noted */
	struct vg_stat st;
	HChar text[64];
	UInt file;

	if (!shared_has_files() || VG_(fstat)(fd, &st) != 0 || st.nlink != 0)
		return;
	file = shared_file_gone(st.dev, st.ino);
	if (file == 0 || file == told)
		return;
	told = file;
	VG_(sprintf)(text, "changed_after_unlink=%u", file);
	emit_event(tid, PMT_META, 0, NULL, text, VG_(strlen)(text));
}
