/* Undecided lines. For each line, the shared region has the contents that a crash may have left in
 * it. If the run reads bytes on which the remaining contents disagree, a decision is taken: the
 * value of the newest content counts, which memory holds. Contents with another value are dropped,
 * and the decision is noted. Watched bytes are listed when they are first read.
 *
 * Example: a line may be old (x=0, y=0) or new (x=1, y=1). The run reads x: it gets 1, the old
 * content is dropped, and pmend learns that another run could read 0.
 *
 * Invariant: the newest content is never dropped; bytes that the run has not written have its
 * value. A write is marked after it was done. A read between the two causes a needless decision,
 * but never a wrong one. */
#include <string.h>

#include "pm.h"

static struct run_line *lines_all(void)
{
	return (struct run_line *)((char *)g_region + g_region->lines);
}

static uint64_t *line_left(const struct run_line *l)
{
	return (uint64_t *)((char *)g_region + l->left);
}

static const uint8_t *line_content(const struct run_line *l, uint32_t i)
{
	return (const uint8_t *)g_region + l->contents + (size_t)i * l->line_bytes;
}

static bool is_left(const struct run_line *l, uint32_t i)
{
	return line_left(l)[i / 64] >> i % 64 & 1;
}

static bool is_written(const struct run_line *l, uint32_t byte)
{
	return l->written[byte / 8] >> byte % 8 & 1;
}

/* ---- the lock, which all processes of the run share ---- */

void lines_lock(void)
{
	uint32_t me = (uint32_t)CALL0(SYS_gettid), owner, spins = 0;

	for (;;) {
		owner = 0;
		if (__atomic_compare_exchange_n(&g_region->lock, &owner, me, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		if (++spins % 64)
			continue;
		CALL0(SYS_sched_yield);
		/* the owner may have been killed; it can have left at most one decision half
		 * noted */
		if (spins % 4096 == 0 && CALL2(SYS_tkill, owner, 0) == -3 /* ESRCH */ &&
		    __atomic_compare_exchange_n(&g_region->lock, &owner, me, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
	}
}

void lines_unlock(void)
{
	__atomic_store_n(&g_region->lock, 0, __ATOMIC_RELEASE);
}

/* ---- finding lines ---- */

/* Finds the first line that ends after `from`. */
static uint32_t lines_first(uint32_t file, uint64_t from)
{
	const struct run_line *all = lines_all();
	uint32_t low = 0, high = g_region->nlines;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct run_line *l = &all[mid];

		if (l->file < file || (l->file == file && l->offset + l->line_bytes <= from))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint32_t newest_left(const struct run_line *l)
{
	uint32_t i = l->ncontents;

	while (i > 0 && !is_left(l, i - 1))
		i--;
	return i ? i - 1 : 0;
}

static bool line_is_undecided(const struct run_line *l)
{
	uint32_t newest = newest_left(l), n = l->line_bytes;
	const uint8_t *a = line_content(l, newest);

	for (uint32_t i = 0; i < newest; i++) {
		const uint8_t *b = line_content(l, i);

		if (!is_left(l, i) || memcmp(a, b, n) == 0)
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (a[k] != b[k] && !is_written(l, k))
				return true;
	}
	return false;
}

/* Gives a bit for each of 8 bytes of the line: set if the first read of the byte must be listed. */
static uint8_t line_listed(const struct run_line *l, uint32_t i)
{
	return (uint8_t)(l->watch[i] | (i < sizeof l->unasked ? l->unasked[i] : 0));
}

static bool line_is_watched(const struct run_line *l)
{
	for (uint32_t i = 0; i < l->line_bytes / 8; i++)
		if (line_listed(l, i) & ~l->written[i])
			return true;
	return false;
}

/* Asks whether reads of the line must be noticed. */
static bool line_is_open(const struct run_line *l)
{
	return line_is_undecided(l) || line_is_watched(l);
}

uint64_t lines_undecided_page(uint32_t file, uint64_t from, uint64_t to)
{
	const struct run_line *all = lines_all();

	for (uint32_t i = lines_first(file, from);
	     i < g_region->nlines && all[i].file == file && all[i].offset < to; i++)
		if (line_is_open(&all[i]))
			return PAGE_DOWN(all[i].offset);
	return to;
}

bool lines_any_undecided(void)
{
	for (uint32_t i = 0; i < g_region->nlines; i++)
		if (line_is_open(&lines_all()[i]))
			return true;
	return false;
}

/* ---- reading ---- */

/* Gives the bytes at..at+n of content i as a number. Bytes that the mask excludes are zero. */
static uint64_t content_value(const struct run_line *l, uint32_t i, uint32_t at, uint32_t n,
			      uint64_t mask)
{
	uint64_t v = 0;

	memcpy(&v, line_content(l, i) + at, n);
	return v & mask;
}

static uint32_t count_values(const struct run_line *l, uint32_t at, uint32_t n, uint64_t mask)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->ncontents; i++) {
		uint32_t k = 0;

		if (!is_left(l, i))
			continue;
		while (k < i && !(is_left(l, k) && content_value(l, k, at, n, mask) ==
							   content_value(l, i, at, n, mask)))
			k++;
		count += k == i;
	}
	return count;
}

static void note_decision(uint32_t line, uint32_t at, uint64_t byte_mask, uint32_t chosen,
			  uint32_t nvalues)
{
	const uint32_t in_roi = g_region->roi_depth > 0 ? RUN_READ_IN_ROI : 0,
		       skipped = t_self.skip_depth > 0 ? RUN_READ_SKIPPED : 0;
	const struct run_file *files =
		(const struct run_file *)((char *)g_region + g_region->files);
	struct run_decision *d = (struct run_decision *)((char *)g_region + g_region->decisions);
	uint32_t i = g_region->ndecisions++;

	if (i >= g_region->decisions_room)
		return;
	d += i;
	d->line = line;
	d->at = at;
	d->mask = byte_mask;
	d->chosen = chosen;
	d->nvalues = nvalues;
	d->flags = in_roi | skipped |
		   (files[lines_all()[line].file].cut_bytes != ~0ul ? RUN_READ_CUT : 0);
	d->access_bytes = t_self.access_bytes;
	d->thread = (uint32_t)CALL0(SYS_gettid);
	/* the caller holds the lock */
	d->nframes = g_region->flags & RUN_NO_STACKS ? 0 : rt_stack_kept(d->stack);
}

/* Turns each set bit of 8 into a byte 0xff. */
static uint64_t spread(uint32_t bits)
{
	uint64_t m = 0;

	for (uint32_t i = 0; i < 8; i++)
		if (bits >> i & 1)
			m |= (uint64_t)0xff << 8 * i;
	return m;
}

/* Lists the bytes among at..at+n that are in `set`, and removes them from `set`. */
static void piece_list(uint32_t index, uint8_t *set, uint32_t at, uint32_t n, uint32_t nvalues)
{
	const struct run_line *l = &lines_all()[index];
	uint64_t seen = 0;

	for (uint32_t k = 0; k < n; k++) {
		uint8_t bit = (uint8_t)(1u << (at + k) % 8), *byte = &set[(at + k) / 8];

		if (*byte & bit && !is_written(l, at + k)) {
			*byte &= (uint8_t)~bit;
			seen |= (uint64_t)1 << k;
		}
	}
	if (seen)
		note_decision(index, at, seen, newest_left(l), nvalues);
}

/* Lists watched bytes. While reads do not count (skipped, or outside of the region of interest),
 * bytes are left for later reads, unless RUN_WATCH_ALL. */
static void piece_watch(uint32_t index, uint32_t at, uint32_t n)
{
	struct run_line *l = &lines_all()[index];

	if (at + n <= 8 * sizeof l->unasked)
		piece_list(index, l->unasked, at, n, 0);
	if (g_region->flags & RUN_WATCH_ALL ||
	    (t_self.skip_depth == 0 && !(g_region->has_roi && g_region->roi_depth <= 0)))
		piece_list(index, l->watch, at, n, 1);
}

/* Takes the decision for a read of at most 8 bytes of one line. The caller holds the lock. */
static void piece_read(uint32_t index, uint32_t at, uint32_t n)
{
	struct run_line *l = &lines_all()[index];
	uint32_t newest = newest_left(l), open = 0, differ = 0, nvalues;
	uint64_t value, mask;

	for (uint32_t k = 0; k < n; k++)
		open |= (uint32_t)!is_written(l, at + k) << k;
	value = content_value(l, newest, at, n, spread(open));
	for (uint32_t i = 0; i < newest; i++) {
		uint64_t other =
			is_left(l, i) ? content_value(l, i, at, n, spread(open)) ^ value : 0;

		for (uint32_t k = 0; k < n && other; k++)
			differ |= (uint32_t)((other >> 8 * k & 0xff) != 0) << k;
	}
	if (!differ) {
		if (g_region->flags & RUN_ALL_READS && open && line_is_undecided(l))
			note_decision(index, at, open, newest, 1);
		return;
	}
	mask = spread(differ);
	nvalues = count_values(l, at, n, mask);
	for (uint32_t i = 0; i < newest; i++)
		if (is_left(l, i) && content_value(l, i, at, n, mask) != (value & mask))
			line_left(l)[i / 64] &= ~((uint64_t)1 << i % 64);
	note_decision(index, at, differ, newest, nvalues);
}

/* Asks whether reads of this word of the line must be noticed. */
static bool word_is_open(const struct run_line *l, uint32_t at)
{
	uint32_t newest = newest_left(l);
	uint8_t open = (uint8_t)~l->written[at / 8];

	if (line_listed(l, at / 8) & open || g_region->flags & RUN_ALL_READS)
		return true;
	for (uint32_t i = 0; i < newest; i++)
		for (uint32_t k = 0; is_left(l, i) && k < 8; k++)
			if (open >> k & 1 &&
			    line_content(l, i)[at + k] != line_content(l, newest)[at + k])
				return true;
	return false;
}

static void line_mark(const struct run_line *l)
{
	for (uint32_t at = 0; at < l->line_bytes; at += 8)
		window_mark(l->file, l->offset + at, word_is_open(l, at));
}

void lines_mark(uint32_t file, uint64_t from, uint64_t to)
{
	const struct run_line *all = lines_all();

	for (uint32_t i = lines_first(file, from);
	     i < g_region->nlines && all[i].file == file && all[i].offset < to; i++)
		line_mark(&all[i]);
}

bool lines_read(uint32_t file, uint64_t from, uint64_t to, bool is_one)
{
	const struct run_line *all = lines_all();
	uint32_t i = lines_first(file, from);

	if (i >= g_region->nlines || all[i].file != file || all[i].offset >= to)
		return false;
	t_self.access_bytes = to - from < UINT32_MAX ? (uint32_t)(to - from) : UINT32_MAX;
	lines_lock();
	for (; i < g_region->nlines && all[i].file == file && all[i].offset < to; i++) {
		uint64_t a = from > all[i].offset ? from - all[i].offset : 0;
		uint64_t bytes = all[i].line_bytes,
			 b = to - all[i].offset < bytes ? to - all[i].offset : bytes;

		while (a < b) {
			uint64_t end = is_one && b - a <= 8 ? b : (a | 7) + 1;

			end = end < b ? end : b;
			piece_read(i, (uint32_t)a, (uint32_t)(end - a));
			piece_watch(i, (uint32_t)a, (uint32_t)(end - a));
			a = end;
		}
		if (window_is_open())
			line_mark(&all[i]);
	}
	lines_unlock();
	return true;
}

void lines_written(uint32_t file, uint64_t from, uint64_t to)
{
	struct run_line *all = lines_all();
	uint32_t i = lines_first(file, from);

	if (i >= g_region->nlines || all[i].file != file || all[i].offset >= to)
		return;
	lines_lock();
	for (; i < g_region->nlines && all[i].file == file && all[i].offset < to; i++) {
		uint64_t a = from > all[i].offset ? from - all[i].offset : 0;
		uint64_t bytes = all[i].line_bytes,
			 b = to - all[i].offset < bytes ? to - all[i].offset : bytes;

		for (; a < b; a++)
			all[i].written[a / 8] |= (uint8_t)(1u << a % 8);
	}
	lines_unlock();
}
