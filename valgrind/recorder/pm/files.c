/* Which files are PM: those that survive the program and match --pm. Each gets a number in the trace, with its content when it is mapped first. */
#include "valgrind/common/sys.h"
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

/* Without --pm: what a crash would leave. Unlinked files and memfds would be gone; semaphores of glibc are no data. */
static Bool is_pm_path(const struct vg_stat *st, const HChar *path)
{
	if (is_device(st))
		return VG_(strncmp)(path, "/dev/dax", 8) == 0 && (g_nglobs == 0 || glob_matches(path));
	if (!VKI_S_ISREG(st->mode))
		return False;
	if (g_nglobs > 0)
		return glob_matches(path);
	return st->nlink > 0 && VG_(strncmp)(path, "/dev/shm/sem.", 13) != 0;
}

Bool file_is_pm(Int fd, const struct vg_stat *st, const HChar **path)
{
	static HChar buffer[PMT_PAGE_BYTES];

	*path = buffer;
	return file_path(fd, buffer, sizeof buffer) && is_pm_path(st, buffer);
}

static Bool is_zero(const UChar *p, SizeT n)
{
	for (SizeT i = 0; i < n; i++)
		if (p[i] != 0)
			return False;
	return True;
}

/* The initial content, without holes and zero pages. */
static void record_content(ThreadId tid, UInt file, Int fd, ULong size)
{
	static UChar page[PMT_PAGE_BYTES];
	ULong offset = 0;

	while (offset < size) {
		Long old = VG_(lseek)(fd, 0, VKI_SEEK_CUR), data, n;

		data = VG_(lseek)(fd, offset, 3 /* SEEK_DATA */);
		VG_(lseek)(fd, old, VKI_SEEK_SET);
		if (data == -1 && offset == 0)
			data = 0; /* the file system cannot tell: read everything */
		if (data < 0)
			return;
		if ((ULong)data > offset)
			offset = (ULong)data & ~(ULong)(PMT_PAGE_BYTES - 1);
		/* one more look for holes every 64 pages is enough */
		for (UInt i = 0; i < 64 && offset < size; i++, offset += PMT_PAGE_BYTES) {
			n = sys_pread(fd, page, sizeof page, offset);
			if (n <= 0)
				return;
			if (!is_zero(page, n))
				emit_event(tid, PMT_CONTENT, PMT_ADDR(file, offset), NULL, page, n);
		}
	}
}

static UInt file_of_stat(const struct vg_stat *st, Bool *is_new)
{
	return is_device(st) ? shared_file_id(st->rdev, ~0ULL, is_new) : shared_file_id(st->dev, st->ino, is_new);
}

UInt file_of_mapping(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path)
{
	Bool is_new;
	UInt file = file_of_stat(st, &is_new);
	ULong args[5];

	if (!is_device(st))
		beside_add_folder(path);
	if (!is_new || file == 0)
		return file;
	args[0] = file;
	args[1] = st->size;
	args[2] = (file_was_created(st) ? PMT_FILE_CREATED : 0) | (is_device(st) ? PMT_FILE_DEVICE : 0);
	args[3] = st->dev;
	args[4] = st->ino;
	emit_event(tid, PMT_FILE, 0, args, path, VG_(strlen)(path));
	*shared_file_size(file) = st->size;
	if (!is_device(st))
		record_content(tid, file, fd, st->size);
	return file;
}

static UInt known_file(const struct vg_stat *st)
{
	return shared_has_files() && VKI_S_ISREG(st->mode) ? shared_file_find(st->dev, st->ino) : 0;
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
	*shared_file_size(file) = size;
	emit_event(tid, PMT_SIZE, 0, args, NULL, 0);
}

void pm_file_gone(UInt file)
{
	shared_file_forget(file);
}
