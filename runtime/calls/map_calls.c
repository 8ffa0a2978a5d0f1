/* Makes the program's mmap, munmap, mremap, mprotect and brk. Images are mapped at the addresses
 * that the files had in the recorded program, and their pages with undecided lines are closed. */
#include "calls.h"

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* A heap of at least HEAP_BYTES is expected to grow further, so its new pages are made at once.
 * Larger steps than HEAP_STEP_BYTES may be for later use. */
#define HEAP_BYTES (512ul << 10)
#define HEAP_STEP_BYTES (1ul << 20)

/* Closes the window (window.c) if it overlaps the range. It takes the lines' lock, because other
 * threads mark words of the window. */
static void close_window(uint64_t start, uint64_t end)
{
	if (!window_is_open())
		return;
	lines_lock();
	window_close(start, end);
	lines_unlock();
}

static bool open_window(const struct pm_map *m, long fd)
{
	bool is_open;

	lines_lock();
	is_open = window_open(m, fd);
	lines_unlock();
	return is_open;
}

/* Removes what we know of mappings in this range. */
static void forget(uint64_t start, uint64_t len_bytes)
{
	close_window(start, start + PAGE_UP(len_bytes));
	maps_remove(start, start + PAGE_UP(len_bytes));
}

/* Asks whether the recorded address is in use, or a part of the range of the recorded length
 * there. */
static bool is_taken(const struct run_mapping *r, uint64_t offset, uint64_t len_bytes)
{
	const uint64_t at = r->va + (offset - r->offset),
		       most = r->len_bytes - (offset - r->offset),
		       len = len_bytes < most ? len_bytes : most;
	const long tried =
		CALL6(SYS_mmap, at, len, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);

	if (!IS_ERROR(tried))
		CALL2(SYS_munmap, tried, len);
	return IS_ERROR(tried) || (uint64_t)tried != at;
}

/* Maps the image at an address where the recorded program had this part of the file. If no such
 * address is free, notes that the image has moved, unless the image is or was at its address
 * already. Returns an error if nothing was mapped. */
static long map_as_recorded(uint32_t file, const long a[6])
{
	const struct run_mapping *list =
		(const struct run_mapping *)((char *)g_region + g_region->mappings);
	uint64_t offset = (uint64_t)a[5];
	bool has_place = false;

	for (uint32_t i = 0; i < g_region->nmappings; i++) {
		const struct run_mapping *r = &list[i];
		long at;

		if (r->file != file || offset < r->offset || offset >= r->offset + r->len_bytes)
			continue;
		at = CALL6(SYS_mmap, r->va + (offset - r->offset), a[1], a[2],
			   a[3] | MAP_FIXED_NOREPLACE, a[4], a[5]);
		if (!IS_ERROR(at) && (uint64_t)at == r->va + (offset - r->offset)) {
			images_note_home(file);
			return at;
		}
		if (!IS_ERROR(at))
			CALL2(SYS_munmap, at, a[1]);
		has_place |= is_taken(r, offset, (uint64_t)a[1]);
	}
	if (has_place && !images_was_home(file))
		g_region->is_moved = g_region->has_moved = 1;
	return -1;
}

/* Notes if the program itself asked for the recorded address, and got another one. Called after the
 * call was made. */
static void note_hint(uint32_t file, long at, const long a[6])
{
	const struct run_mapping *list =
		(const struct run_mapping *)((char *)g_region + g_region->mappings);

	for (uint32_t i = 0; i < g_region->nmappings && at != a[0] && !images_was_home(file); i++)
		if (list[i].file == file && (uint64_t)a[5] >= list[i].offset &&
		    (uint64_t)a[0] == list[i].va + ((uint64_t)a[5] - list[i].offset))
			g_region->is_moved = g_region->has_moved = 1;
}

/* Maps something that is no image. It may replace a mapping of an image. */
static long map_other(const long a[6])
{
	long at;

	if (!(a[3] & MAP_FIXED) || !maps_any())
		return CALL_PASS;
	at = CALL6(SYS_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (!IS_ERROR(at))
		forget((uint64_t)at, (uint64_t)a[1]);
	return at;
}

static void note_mapping(uint32_t file, long at, const long a[6])
{
	struct pm_map m = { .start = (uint64_t)at,
			    .end = (uint64_t)at + PAGE_UP((uint64_t)a[1]),
			    .offset = (uint64_t)a[5],
			    .file = file,
			    .prot = (int)a[2],
			    .is_private = (a[3] & MAP_TYPE) == MAP_PRIVATE };

	close_window(m.start, m.end);
	/* not a file that recovery made in the image's place */
	if (images_find_fd(a[4]) == (int)file)
		maps_guard(&m, m.start, m.end);
	maps_set(&m);
	if (!m.was_guarded || (g_pkey >= 0 && !detours_exist()) || !open_window(&m, a[4]))
		return;
	lines_mark(m.file, m.offset, m.offset + (m.end - m.start));
	window_show();
}

static long call_mmap(long a[6])
{
	int file = a[3] & MAP_ANONYMOUS ? -1 : images_find_mapped(a[4]);
	long at = -1;

	if (file < 0)
		return map_other(a);
	/* the file system of the image's folder may not support MAP_SYNC, and recovery does not
	 * need it */
	if ((a[3] & MAP_TYPE) == MAP_SHARED_VALIDATE)
		a[3] = (a[3] & ~(MAP_TYPE | MAP_SYNC)) | MAP_SHARED;
	if (a[0] == 0 && !(a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
		at = map_as_recorded((uint32_t)file, a);
	if (IS_ERROR(at))
		at = CALL6(SYS_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (a[0])
		note_hint((uint32_t)file, at, a);
	if (!IS_ERROR(at))
		note_mapping((uint32_t)file, at, a);
	return at;
}

static long call_munmap(long a[6])
{
	long r;

	if (!maps_any())
		return CALL_PASS;
	r = CALL2(SYS_munmap, a[0], a[1]);
	if (IS_ERROR(r))
		return r;
	forget((uint64_t)a[0], (uint64_t)a[1]);
	return r;
}

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Does mremap. The new mapping may replace a mapping of an image, even if the old one was none. */
static long remap(const long a[6])
{
	const long at = CALL5(SYS_mremap, a[0], a[1], a[2], a[3], a[4]);

	if (!IS_ERROR(at) && a[3] & MREMAP_FIXED && maps_any())
		forget((uint64_t)at, (uint64_t)a[2]);
	return at;
}

/* Makes an mremap from length 0, which makes a second mapping of the bytes at `old`. The kernel
 * gives the new mapping the protection of the page there. */
static long remap_twice(struct pm_map m, uint64_t old, const long a[6])
{
	const long at = remap(a);

	if (IS_ERROR(at))
		return at;
	m.offset += old - m.start;
	m.start = (uint64_t)at;
	m.end = m.start + PAGE_UP((uint64_t)a[2]);
	maps_unguard(&m, m.start, m.end);
	maps_guard(&m, m.start, m.end);
	maps_set(&m);
	return at;
}

static long remap_one(struct pm_map m, uint64_t old, uint64_t old_end, const long a[6])
{
	struct pm_map moved = m;
	long at;

	close_window(old, old_end);
	/* mremap moves only mappings whose pages all have the same protection */
	maps_unguard(&m, old, old_end);
	m.offset += old - m.start;
	m.start = old;
	m.end = old_end;
	at = remap(a);
	if (IS_ERROR(at) || a[3] & MREMAP_DONTUNMAP)
		maps_guard(&m, m.start, m.end);
	else
		maps_remove(old, old_end);
	if (IS_ERROR(at))
		return at;
	moved.offset = m.offset;
	moved.start = (uint64_t)at;
	moved.end = moved.start + PAGE_UP((uint64_t)a[2]);
	maps_guard(&moved, moved.start, moved.end);
	maps_set(&moved);
	return at;
}

static long call_mremap(long a[6])
{
	const uint64_t old = (uint64_t)a[0], old_end = old + PAGE_UP((uint64_t)a[1]);
	struct pm_map m;

	if (!maps_next(old, old_end > old ? old_end : old + 1, &m))
		return a[3] & MREMAP_FIXED && maps_any() ? remap(a) : CALL_PASS;
	if (old >= m.start && a[1] == 0)
		return remap_twice(m, old, a);
	if (old >= m.start && old_end <= m.end)
		return remap_one(m, old, old_end, a);
	if (g_is_lazy)
		rt_unsound("mremap of several mappings of PM files at once");
	return CALL_PASS;
}

static long call_mprotect(long number, long a[6])
{
	uint64_t start = (uint64_t)a[0], end = start + PAGE_UP((uint64_t)a[1]), at = start;
	struct pm_map m;
	long r;

	if (!maps_next(start, end, &m))
		return CALL_PASS;
	if (number == SYS_pkey_mprotect && a[3] != -1 && g_is_lazy)
		rt_unsound("the program uses protection keys on PM");
	r = rt_syscall(number, a[0], a[1], a[2], a[3], 0, 0);
	if (IS_ERROR(r))
		return r;
	if (!(a[2] & PROT_READ))
		close_window(start, end);
	while (at < end && maps_next(at, end, &m)) {
		uint64_t from = m.start > at ? m.start : at, to = m.end < end ? m.end : end;

		at = to;
		m.offset += from - m.start;
		m.start = from;
		m.end = to;
		m.prot = (int)a[2];
		maps_guard(&m, from, to);
		maps_set(&m);
	}
	return r;
}

/* Handles MADV_POPULATE_…, which brings pages into memory, also pages that we closed. It reads no
 * bytes, but copies private pages for writing. */
long map_advise(const long a[6])
{
	const uint64_t at = (uint64_t)a[0], n = (uint64_t)a[1];
	long r;

	if ((a[2] != MADV_POPULATE_READ && a[2] != MADV_POPULATE_WRITE) || !maps_touch(at, n))
		return CALL_PASS;
	if (a[2] == MADV_POPULATE_WRITE)
		maps_read_private(at, n);
	maps_open(at, n);
	r = CALL3(SYS_madvise, a[0], a[1], a[2]);
	maps_close(at, n);
	return r;
}

/* Makes brk, and brings pages of a growing heap into memory at once. Otherwise, libpmemobj's
 * recovery spends a quarter of its time on page faults for them. */
static long call_brk(const long a[6])
{
	static uint64_t first, last;
	const uint64_t r = (uint64_t)CALL1(SYS_brk, a[0]), old = last;

	if (!first)
		first = r;
	last = r;
	/* if this fails, the pages fault */
	if (old && r > old && r - old <= HEAP_STEP_BYTES && r - first >= HEAP_BYTES)
		CALL3(SYS_madvise, PAGE_UP(old), PAGE_UP(r) - PAGE_UP(old), MADV_POPULATE_WRITE);
	return (long)r;
}

/* Catches the system calls of code in memory that mmap or mprotect makes executable. r: the call's
 * result so far; with CALL_PASS, the call is made here. */
static long call_watched(long number, long a[6], long r)
{
	uint64_t start;

	if (!(a[2] & PROT_EXEC))
		return r;
	if (r == CALL_PASS)
		r = rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (IS_ERROR(r))
		return r;
	start = (uint64_t)(number == SYS_mmap ? r : a[0]);
	maps_lock(); /* only one thread at a time, and not during a fork */
	if (!gate_watch(start, start + PAGE_UP((uint64_t)a[1])))
		rt_unsound("executable memory in which system calls cannot be caught");
	maps_unlock();
	return r;
}

static long call(long number, long a[6])
{
	switch (number) {
	case SYS_mmap: return call_watched(number, a, call_mmap(a));
	case SYS_brk: return call_brk(a);
	case SYS_munmap: return call_munmap(a);
	case SYS_mremap: return call_mremap(a);
	case SYS_mprotect:
	case SYS_pkey_mprotect: return call_watched(number, a, call_mprotect(number, a));
	default: return CALL_PASS;
	}
}

long map_call(long number, long a[6])
{
	long r;

	if (number != SYS_mmap && number != SYS_brk && number != SYS_munmap &&
	    number != SYS_mremap && number != SYS_mprotect && number != SYS_pkey_mprotect)
		return CALL_PASS;
	maps_begin_call();
	r = call(number, a);
	maps_end_call();
	return r;
}
