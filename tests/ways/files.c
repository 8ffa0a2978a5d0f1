/* Reads of the file, not of memory: by descriptors of all origins. */
#include "ways.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

static uint64_t read_at(int fd, off_t at)
{
	uint64_t w = 0;

	need(fd >= 0);
	if (pread(fd, &w, 8, at) != 8)
		_exit(CANNOT);
	return w;
}

static uint64_t open_and_read(const char *path, int flags)
{
	return read_at(open(path, flags), WORD_AT);
}

static uint64_t by_pread(void)
{
	return read_at(g_fd, WORD_AT);
}

static uint64_t by_read(void)
{
	uint64_t w = 0;

	need(lseek(g_fd, WORD_AT, SEEK_SET) == WORD_AT && read(g_fd, &w, 8) == 8);
	return w;
}

static uint64_t by_vectors(void)
{
	uint64_t w = 0;
	struct iovec v[2] = { { &w, 3 }, { (char *)&w + 3, 5 } };

	need(preadv2(g_fd, v, 2, WORD_AT, 0) == 8);
	return w;
}

static uint64_t by_stdio(void)
{
	FILE *f = fopen(g_path, "r");
	uint64_t w = 0;

	need(f && fseek(f, WORD_AT, SEEK_SET) == 0 && fread(&w, 8, 1, f) == 1);
	return w;
}

static uint64_t opened_direct(void)
{
	void *page;
	int fd = open(g_path, O_RDONLY | O_DIRECT);

	need(fd >= 0 && posix_memalign(&page, PAGE_AT, PAGE_AT) == 0 && pread(fd, page, PAGE_AT, WORD_AT) == PAGE_AT);
	return load(page);
}

static uint64_t opened_how(void)
{
	struct open_how how = { .flags = O_RDONLY };

	return read_at((int)syscall(SYS_openat2, AT_FDCWD, g_path, &how, sizeof how), WORD_AT);
}

static uint64_t duplicated(void)
{
	return read_at(fcntl(dup(g_fd), F_DUPFD, 100), WORD_AT);
}

static uint64_t by_own_descriptor(const char *format)
{
	char path[64];

	snprintf(path, sizeof path, format, g_fd);
	return open_and_read(path, O_RDONLY);
}

static uint64_t in_proc(void)
{
	return by_own_descriptor("/proc/self/fd/%d");
}

static uint64_t in_dev(void)
{
	return by_own_descriptor("/dev/fd/%d");
}

/* It is one mapping for who made it. */
static int open_mapped(const char *folder)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%lx-%lx", folder, (unsigned long)g_pool, (unsigned long)g_pool + POOL_BYTES);
	return open(path, O_RDONLY);
}

static uint64_t in_map_files(void)
{
	return read_at(open_mapped("/proc/self/map_files"), WORD_AT);
}

static uint64_t in_map_files_relative(void)
{
	need(chdir("/proc/thread-self/..") == 0 && chdir("../map_files") == 0);
	return read_at(open_mapped("."), WORD_AT);
}

static uint64_t in_mem(void)
{
	return read_at(open("/proc/self/mem", O_RDONLY), (off_t)(uintptr_t)WORD);
}

static uint64_t in_mem_relative(void)
{
	need(chdir("/proc/self/task") == 0);
	return read_at(openat(open("..", O_PATH), "./mem", O_RDONLY), (off_t)(uintptr_t)WORD);
}

static uint64_t in_mem_by_link(void)
{
	char path[] = "/tmp/waysXXXXXX";
	uint64_t w;

	need(mkdtemp(path) && chdir(path) == 0 && symlink("/proc/self/mem", "link") == 0);
	w = read_at(open("link", O_RDONLY), (off_t)(uintptr_t)WORD);
	unlink("link");
	rmdir(path);
	return w;
}

static uint64_t by_symbolic_link(void)
{
	char path[4096];
	uint64_t w;

	snprintf(path, sizeof path, "/tmp/ways-link-%d", (int)getpid());
	need(symlink(g_path, path) == 0);
	w = open_and_read(path, O_RDONLY);
	unlink(path);
	return w;
}

static uint64_t by_hard_link(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.link", g_path);
	need(link(g_path, path) == 0);
	return open_and_read(path, O_RDONLY);
}

static uint64_t renamed(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.new", g_path);
	need(rename(g_path, path) == 0);
	return open_and_read(path, O_RDONLY);
}

static uint64_t by_handle(void)
{
	struct {
		struct file_handle h;
		char room[128];
	} h = { .h.handle_bytes = 128 };
	int mount;

	need(name_to_handle_at(AT_FDCWD, g_path, &h.h, &mount, 0) == 0);
	return read_at(open_by_handle_at(g_fd, &h.h, O_RDONLY), WORD_AT);
}

static uint64_t after_chroot(void)
{
	char folder[4096], *name;

	need(strlen(g_path) < sizeof folder);
	strcpy(folder, g_path);
	name = strrchr(folder, '/');
	need(name != NULL);
	*name = 0;
	need(chroot(folder) == 0);
	*name = '/';
	return open_and_read(name, O_RDONLY);
}

/* ---- from file to file ---- */

static uint64_t sent(void)
{
	int to = memfd_create("ways", 0);
	off_t at = WORD_AT;

	need(sendfile(to, g_fd, &at, 8) == 8);
	return read_at(to, 0);
}

static uint64_t sent_from_position(void)
{
	int to = memfd_create("ways", 0);

	need(lseek(g_fd, WORD_AT, SEEK_SET) == WORD_AT && sendfile(to, g_fd, NULL, 8) == 8);
	return read_at(to, 0);
}

static uint64_t copied(void)
{
	char path[] = "/tmp/waysXXXXXX";
	int to = mkstemp(path);
	loff_t at = WORD_AT, to_at = 0;

	unlink(path);
	/* another file system may refuse it */
	need(copy_file_range(g_fd, &at, to, &to_at, 8, 0) == 8 || sendfile(to, g_fd, &at, 8) == 8);
	return read_at(to, 0);
}

static uint64_t from_pipe(const int ends[2])
{
	uint64_t w = 0;

	need(read(ends[0], &w, 8) == 8);
	return w;
}

static uint64_t spliced(void)
{
	loff_t at = WORD_AT;
	int ends[2];

	need(pipe(ends) == 0 && splice(g_fd, &at, ends[1], NULL, 8, 0) == 8);
	return from_pipe(ends);
}

static uint64_t teed(void)
{
	loff_t at = WORD_AT;
	int ends[2], others[2];

	need(pipe(ends) == 0 && pipe(others) == 0 && splice(g_fd, &at, ends[1], NULL, 8, 0) == 8 && tee(ends[0], others[1], 8, 0) == 8);
	return from_pipe(others);
}

/* Through a file without a name, which is mapped. */
static uint64_t in_memfd(void)
{
	int to = memfd_create("ways", 0);
	off_t at = 0;
	char *copy;

	need(sendfile(to, g_fd, &at, POOL_BYTES) == POOL_BYTES);
	copy = mmap(NULL, POOL_BYTES, PROT_READ, MAP_SHARED, to, 0);
	need(copy != MAP_FAILED);
	return load(copy + WORD_AT);
}

/* It is written to itself, one page on. */
static uint64_t written_to_itself(void)
{
	need(pwrite(g_fd, WORD, 64, ROOM_AT) == 64);
	return load(g_pool + ROOM_AT);
}

static uint64_t cut_behind(void)
{
	need(ftruncate(g_fd, WORD_AT + 8) == 0 && ftruncate(g_fd, POOL_BYTES) == 0);
	return load(WORD);
}

static uint64_t collapsed(void)
{
	if (fallocate(g_fd, FALLOC_FL_COLLAPSE_RANGE, PAGE_AT, PAGE_AT) != 0)
		return load(WORD);
	return load(WORD - PAGE_AT);
}

const struct way ways_files[] = {
	{ "file.pread", by_pread, 0 },
	{ "file.read", by_read, 0 },
	{ "file.preadv2", by_vectors, 0 },
	{ "file.stdio", by_stdio, 0 },
	{ "file.direct", opened_direct, 0 },
	{ "file.openat2", opened_how, 0 },
	{ "file.dup", duplicated, 0 },
	{ "file.proc_fd", in_proc, 0 },
	{ "file.dev_fd", in_dev, 0 },
	{ "file.map_files", in_map_files, 0 },
	{ "file.map_files_relative", in_map_files_relative, 0 },
	{ "file.mem", in_mem, 0 },
	{ "file.mem_relative", in_mem_relative, 0 },
	{ "file.mem_link", in_mem_by_link, 0 },
	{ "file.symlink", by_symbolic_link, 0 },
	{ "file.link", by_hard_link, 1 },
	{ "file.rename", renamed, 1 },
	{ "file.handle", by_handle, 1 },
	{ "file.chroot", after_chroot, 1 },
	{ "file.sendfile", sent, 0 },
	{ "file.sendfile_position", sent_from_position, 0 },
	{ "file.copy_file_range", copied, 0 },
	{ "file.splice", spliced, 0 },
	{ "file.tee", teed, 0 },
	{ "file.memfd", in_memfd, 0 },
	{ "file.written_to_itself", written_to_itself, 0 },
	{ "file.truncated_behind", cut_behind, 0 },
	{ "file.collapse", collapsed, 0 },
	{ 0 },
};
