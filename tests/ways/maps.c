/* Reads through other mappings of the pool, or after its mapping was changed. */
#include "ways.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define DONTUNMAP 4
#define POPULATE_READ 22
#define COLLAPSE 25
#define ONLY_USER_MODE 1 /* of userfaultfd() */

static char *map(void *at, size_t n, int prot, int flags, off_t offset)
{
	char *const p = mmap(at, n, prot, flags, g_fd, offset);

	need(p != MAP_FAILED);
	return p;
}

/* So much room, and nothing in it. */
static char *free_room(size_t n)
{
	char *const p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED);
	return p;
}

static char *move(void *from, size_t n, size_t new_n, int flags, void *to)
{
	const long p = syscall(SYS_mremap, from, n, new_n, flags, to);

	need(p != -1);
	return (char *)p;
}

static uint64_t again(void)
{
	return load(map(NULL, POOL_BYTES, PROT_READ, MAP_SHARED, 0) + WORD_AT);
}

static uint64_t again_one_page(void)
{
	return load(map(NULL, PAGE_AT, PROT_READ, MAP_SHARED | MAP_POPULATE, WORD_AT));
}

static uint64_t in_its_place(void)
{
	return load(map(g_pool, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, 0) + WORD_AT);
}

static uint64_t page_over_another(void)
{
	return load(map(g_pool + PAGE_AT, PAGE_AT, PROT_READ, MAP_SHARED | MAP_FIXED, WORD_AT));
}

static uint64_t private(void)
{
	return load(map(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0) + WORD_AT);
}

/* A write beside the word copies its page. */
static uint64_t private_copied(void)
{
	char *const p = map(NULL, PAGE_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, WORD_AT);

	p[100] = 1;
	return load(p);
}

static uint64_t private_written_by_call(void)
{
	char *const p = map(NULL, PAGE_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE, WORD_AT);
	const int zero = open("/dev/zero", O_RDONLY);

	need(read(zero, p + 64, 64) == 64);
	return load(p);
}

static uint64_t private_over_shared(void)
{
	return load(map(g_pool, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, 0) + WORD_AT);
}

static uint64_t file_pages(void)
{
	need(syscall(SYS_remap_file_pages, g_pool + PAGE_AT, PAGE_AT, 0, WORD_AT / PAGE_AT, 0) == 0);
	return load(g_pool + PAGE_AT);
}

/* ---- moved ---- */

static uint64_t moved_grown(void)
{
	return load(move(g_pool, POOL_BYTES, 2 * POOL_BYTES, MREMAP_MAYMOVE, NULL) + WORD_AT);
}

static uint64_t moved_to(void)
{
	return load(move(g_pool, POOL_BYTES, POOL_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, free_room(POOL_BYTES)) + WORD_AT);
}

static uint64_t moved_page(void)
{
	return load(move(WORD, PAGE_AT, PAGE_AT, MREMAP_MAYMOVE | MREMAP_FIXED, free_room(PAGE_AT)));
}

/* A length of 0 leaves the old mapping and makes a second one. */
static uint64_t mapped_twice(void)
{
	return load(move(g_pool, 0, POOL_BYTES, MREMAP_MAYMOVE, NULL) + WORD_AT);
}

static uint64_t mapped_twice_from_page(void)
{
	char *const p = move(WORD, 0, PAGE_AT, MREMAP_MAYMOVE, NULL);

	need(munmap(g_pool, POOL_BYTES) == 0);
	return load(p);
}

static uint64_t mapped_twice_to(void)
{
	char *const p = move(g_pool + PAGE_AT, 0, 3 * PAGE_AT, MREMAP_MAYMOVE | MREMAP_FIXED, free_room(4 * PAGE_AT));

	return load(p + WORD_AT - PAGE_AT);
}

/* The old one stays as well. */
static uint64_t not_unmapped(void)
{
	return load(move(WORD, PAGE_AT, PAGE_AT, MREMAP_MAYMOVE | DONTUNMAP, NULL));
}

static uint64_t not_unmapped_old(void)
{
	move(WORD, PAGE_AT, PAGE_AT, MREMAP_MAYMOVE | DONTUNMAP, NULL);
	return load(WORD);
}

/* Other memory comes to where the pool was, and is written; the pool's file has the word still. */
static uint64_t replaced_by_other(void)
{
	char *const other = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int zero = open("/dev/zero", O_RDONLY);
	uint64_t w = 0;

	need(other != MAP_FAILED);
	move(other, POOL_BYTES, POOL_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, g_pool);
	need(read(zero, g_pool, POOL_BYTES) == POOL_BYTES && pread(g_fd, &w, 8, WORD_AT) == 8);
	return w;
}

/* ---- protected, advised ---- */

static uint64_t protected(void)
{
	need(mprotect(g_pool, POOL_BYTES, PROT_READ) == 0 && mprotect(g_pool, POOL_BYTES, PROT_READ | PROT_WRITE) == 0);
	return load(WORD);
}

static uint64_t closed_and_opened(void)
{
	need(mprotect(WORD, PAGE_AT, PROT_NONE) == 0 && mprotect(WORD, PAGE_AT, PROT_READ) == 0);
	return load(WORD);
}

static uint64_t with_own_key(void)
{
	const long key = syscall(SYS_pkey_alloc, 0, 0);

	need(key >= 0 && syscall(SYS_pkey_mprotect, g_pool, POOL_BYTES, PROT_READ | PROT_WRITE, key) == 0);
	return load(WORD);
}

static uint64_t without_key(void)
{
	need(syscall(SYS_pkey_mprotect, g_pool, POOL_BYTES, PROT_READ | PROT_WRITE, 0) == 0);
	return load(WORD);
}

static uint64_t populated(void)
{
	need(madvise(g_pool, POOL_BYTES, POPULATE_READ) == 0);
	return load(WORD);
}

static uint64_t not_needed(void)
{
	need(madvise(g_pool, POOL_BYTES, MADV_DONTNEED) == 0);
	return load(WORD);
}

static uint64_t advised_by_process(void)
{
	struct iovec all = { g_pool, POOL_BYTES };
	const long self = syscall(SYS_pidfd_open, getpid(), 0);

	need(self >= 0 && syscall(440 /* process_madvise */, self, &all, 1, MADV_WILLNEED, 0) >= 0);
	return load(WORD);
}

static uint64_t huge(void)
{
	(void)madvise(g_pool, POOL_BYTES, MADV_HUGEPAGE);
	(void)madvise(g_pool, POOL_BYTES, COLLAPSE); /* the kernel may decline */
	return load(WORD);
}

static uint64_t locked(void)
{
	(void)mlock(g_pool, POOL_BYTES);
	return load(WORD);
}

static uint64_t synced(void)
{
	need(msync(g_pool, POOL_BYTES, MS_SYNC) == 0);
	return load(WORD);
}

/* The kernel copies the page of the word to one that is missing. */
static uint64_t copied_by_fault(void)
{
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | ONLY_USER_MODE);
	struct uffdio_api api = { .api = UFFD_API };
	char *const to = mmap(NULL, PAGE_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register area = { .range = { (uintptr_t)to, PAGE_AT }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_copy copy = { .dst = (uintptr_t)to, .src = (uintptr_t)WORD, .len = PAGE_AT };

	need(fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &area) == 0 && ioctl(fd, UFFDIO_COPY, &copy) == 0);
	return load(to);
}

const struct way ways_maps[] = {
	{ "map.again", again, 0 },
	{ "map.page", again_one_page, 0 },
	{ "map.fixed", in_its_place, 0 },
	{ "map.over_another", page_over_another, 0 },
	{ "map.private", private, 0 },
	{ "map.private_copied", private_copied, 0 },
	{ "map.private_by_call", private_written_by_call, 0 },
	{ "map.private_over_shared", private_over_shared, 0 },
	{ "map.file_pages", file_pages, 0 },
	{ "map.mremap_grown", moved_grown, 0 },
	{ "map.mremap_fixed", moved_to, 0 },
	{ "map.mremap_page", moved_page, 0 },
	{ "map.mremap_twice", mapped_twice, 0 },
	{ "map.mremap_twice_page", mapped_twice_from_page, 0 },
	{ "map.mremap_twice_fixed", mapped_twice_to, 0 },
	{ "map.mremap_dontunmap", not_unmapped, 0 },
	{ "map.mremap_dontunmap_old", not_unmapped_old, 0 },
	{ "map.mremap_replaced", replaced_by_other, 0 },
	{ "map.mprotect", protected, 0 },
	{ "map.mprotect_none", closed_and_opened, 0 },
	{ "map.own_key", with_own_key, 0 },
	{ "map.key_0", without_key, 0 },
	{ "map.populate", populated, 0 },
	{ "map.dontneed", not_needed, 0 },
	{ "map.process_madvise", advised_by_process, 0 },
	{ "map.huge", huge, 0 },
	{ "map.mlock", locked, 0 },
	{ "map.msync", synced, 0 },
	{ "map.userfaultfd", copied_by_fault, 0 },
	{ 0 },
};
