/* Replays a trace and compares the result with each PM file, or with sums of its pages, to find
 * changes that were not recorded. Only pages where the file has data, or to which the trace stored,
 * are compared, so a sparse file costs what is in it.
 *
 * Bytes stored beyond the end of a file, in its last page, may or may not appear when the file
 * grows, so they are not compared. */
#include "pools/unseen/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pools/unseen/pages.h"
#include "trace/writer.h"

#define RANGES_TOLD 3u  /* ranges that a message lists */
#define RANGES_MAX 256u /* ranges that are looked at more closely */
#define BLOCK_BYTES (16u * PAGES_BYTES)
#define WAITING 64u /* short stores that wait for their pages */
#define SHORT_BYTES 16u
#define MEMORY_SHARE 4 /* uses at most 1/4 of the machine's memory */

struct range {
	uint64_t offset, len_bytes;
	bool is_rough; /* only some of these bytes */
};
typedef VEC(struct range) range_list;

struct one {                  /* a PM file */
	char *path, *why_not; /* why_not: why it is not compared; free() it */
	int fd;
	bool is_ours;                     /* close the descriptor at the end */
	const struct pmt_sums_file *sums; /* NULL: read the file itself */
	uint64_t dev, ino;
	uint64_t now, told; /* its size now, and its size according to the trace */
	struct pages pages; /* its content according to the trace */
	range_list beyond;  /* ranges beyond its end to which something was stored */
	range_list differs; /* the first ranges that differ */
	size_t ndiffers;    /* how many ranges differ */
};

/* A short store that is not applied yet. Its page is likely not in the cache, and waiting for one
 * page after the other would be most of the cost; so pages are prefetched for several stores. */
struct waiting {
	struct one *file;
	uint64_t offset;
	uint32_t len_bytes;
	uint8_t bytes[SHORT_BYTES];
};

struct all {
	struct pages_room room;
	struct waiting waiting[WAITING];
	uint32_t nwaiting;
	VEC(struct one) files; /* by number; path is NULL before the FILE event */
	uint64_t room_bytes;   /* how much memory may still be used */
	uint32_t nstreams;
	bool is_by_sums; /* compared with sums, because the files may have changed since */
};

static bool is_within(const range_list *list, uint64_t offset)
{
	for (size_t i = 0; i < list->n; i++)
		if (offset - list->at[i].offset < list->at[i].len_bytes)
			return true;
	return false;
}

static struct one *one_of(const struct all *a, uint64_t number)
{
	struct one *f = number < a->files.n ? &a->files.at[number] : NULL;

	return f && f->path && !f->why_not ? f : NULL;
}

static void leave_out(struct one *f, const char *why)
{
	if (!f->why_not)
		f->why_not = xstrdup(why);
}

/* ---- the files ---- */

/* Opens the file if its name still leads to the same inode. */
static int open_by_name(const char *path, uint64_t dev, uint64_t ino)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 &&
	    (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != dev || st.st_ino != ino)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Opens the file by its name, unless it is open already. False: it cannot be opened. */
static bool one_open(struct one *f)
{
	if (f->fd < 0) {
		f->fd = open_by_name(f->path, f->dev, f->ino);
		f->is_ours = true;
	}
	return f->fd >= 0;
}

/* Gives the file's size, and how much of it is data. False if that is unknown. */
static bool one_size(struct one *f, uint64_t *data_bytes)
{
	struct stat st;

	if (f->sums) {
		f->now = f->sums->size_bytes;
		*data_bytes = f->sums->npages * PAGES_BYTES;
		return true;
	}
	if (!one_open(f) || fstat(f->fd, &st) < 0)
		return false;
	f->now = (uint64_t)st.st_size;
	*data_bytes = (uint64_t)st.st_blocks * 512;
	return true;
}

static void file_event(struct all *a, const struct trace_event *ev)
{
	const uint64_t number = ev->arg[0];
	struct one *f = number < a->files.n ? &a->files.at[number] : NULL;
	uint64_t data_bytes;

	if (!f || f->path || (ev->arg[2] & (PMT_FILE_MEMORY | PMT_FILE_FOLDER | PMT_FILE_SYMLINK)))
		return;
	f->path = xasprintf("%.*s", (int)ev->data_len, (const char *)ev->data);
	f->told = ev->arg[1];
	f->dev = ev->arg[3];
	f->ino = ev->arg[4];
	if (ev->arg[2] & PMT_FILE_DEVICE) {
		leave_out(f, "it is a device, whose initial content is not recorded");
		return;
	}
	if (!one_size(f, &data_bytes)) {
		leave_out(f, "it cannot be read any more");
		return;
	}
	if (data_bytes > a->room_bytes) {
		leave_out(f, "there is not enough memory for it");
		return;
	}
	a->room_bytes -= data_bytes;
	pages_init(&f->pages, &a->room, f->now);
}

/* ---- replaying events ---- */

static void meta_event(const struct all *a, const struct trace_event *ev)
{
	char text[64];
	uint32_t number;
	struct one *f;

	snprintf(text, sizeof text, "%.*s", (int)ev->data_len, (const char *)ev->data);
	if (sscanf(text, "changed_after_unlink=%" SCNu32, &number) == 1 && (f = one_of(a, number)))
		leave_out(f, "the program changed it after it had removed it");
}

/* Notes a store beyond the end: the rest of the file's last page. */
static void note_beyond(struct one *f, uint64_t size_bytes)
{
	if (f->beyond.n == 0 || f->beyond.at[f->beyond.n - 1].offset != size_bytes)
		*vec_add(&f->beyond) =
			(struct range){ size_bytes, PAGES_BYTES - size_bytes % PAGES_BYTES, false };
}

/* Applies the waiting stores; needed before any other event of a file. */
static void write_waiting(struct all *a)
{
	for (uint32_t i = 0; i < a->nwaiting; i++)
		pages_prefetch(&a->waiting[i].file->pages, a->waiting[i].offset);
	for (uint32_t i = 0; i < a->nwaiting; i++) {
		const struct waiting *w = &a->waiting[i];

		pages_write(&w->file->pages, w->offset, w->bytes, w->len_bytes);
	}
	a->nwaiting = 0;
}

static void store_event(struct all *a, const struct trace_event *ev)
{
	struct one *f = one_of(a, PMT_FILE(ev->addr));
	const uint64_t offset = PMT_OFFSET(ev->addr);
	struct waiting *w;

	if (!f)
		return;
	if (offset + ev->data_len > f->told && ev->kind != PMT_CONTENT)
		note_beyond(f, f->told);
	if (ev->data_len > SHORT_BYTES || a->nwaiting == WAITING)
		write_waiting(a);
	if (ev->data_len > SHORT_BYTES) {
		pages_write(&f->pages, offset, ev->data, ev->data_len);
		return;
	}
	w = &a->waiting[a->nwaiting++];
	w->file = f;
	w->offset = offset;
	w->len_bytes = ev->data_len;
	memcpy(w->bytes, ev->data, ev->data_len);
	pages_prefetch_place(&f->pages, offset);
}

static void size_event(struct one *f, uint64_t size_bytes)
{
	if (size_bytes < f->told)
		pages_zero(&f->pages, size_bytes, f->told);
	f->told = size_bytes;
}

static void fallocate_event(struct one *f, uint64_t mode, uint64_t offset, uint64_t len_bytes)
{
	if (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
		leave_out(f, "the program moved its content by fallocate()");
	if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		pages_zero(&f->pages, offset, offset + len_bytes);
	if (!(mode & FALLOC_FL_KEEP_SIZE) && offset + len_bytes > f->told)
		f->told = offset + len_bytes;
}

static void old_event(struct one *f, uint64_t offset, uint64_t len_bytes)
{
	uint8_t bytes[PAGES_BYTES];
	size_t n;

	for (len_bytes = len_bytes < f->told - offset ? len_bytes : f->told - offset; len_bytes > 0;
	     offset += n, len_bytes -= n) {
		n = len_bytes < sizeof bytes ? (size_t)len_bytes : sizeof bytes;
		pmt_old_bytes(bytes, offset, n);
		pages_write(&f->pages, offset, bytes, n);
	}
}

static void other_event(struct all *a, const struct trace_event *ev)
{
	struct one *f;

	write_waiting(a);
	if (ev->kind == PMT_FILE)
		file_event(a, ev);
	else if (ev->kind == PMT_META)
		meta_event(a, ev);
	else if (ev->kind == PMT_OLD && (f = one_of(a, PMT_FILE(ev->addr))) &&
		 PMT_OFFSET(ev->addr) < f->told)
		old_event(f, PMT_OFFSET(ev->addr), ev->arg[0]);
	else if (ev->kind == PMT_SIZE && (f = one_of(a, ev->arg[0])))
		size_event(f, ev->arg[1]);
	else if (ev->kind == PMT_FALLOCATE && (f = one_of(a, ev->arg[0])))
		fallocate_event(f, ev->arg[1], ev->arg[2], ev->arg[3]);
}

static void replay_event(struct all *a, const struct trace_event *ev)
{
	if (trace_is_store(ev->kind) || ev->kind == PMT_CONTENT)
		store_event(a, ev);
	else if (ev->kind == PMT_FILE || ev->kind == PMT_META || ev->kind == PMT_OLD ||
		 ev->kind == PMT_SIZE || ev->kind == PMT_FALLOCATE)
		other_event(a, ev);
	if (ev->stream >= a->nstreams)
		a->nstreams = ev->stream + 1;
}

/* ---- comparing ---- */

static void found_byte(struct one *f, uint64_t offset)
{
	struct range *last = f->differs.n > 0 ? &f->differs.at[f->differs.n - 1] : NULL;

	if (is_within(&f->beyond, offset))
		return;
	if (last && !last->is_rough && f->ndiffers == f->differs.n &&
	    last->offset + last->len_bytes == offset) {
		last->len_bytes++;
		return;
	}
	if (f->ndiffers++ < RANGES_MAX)
		*vec_add(&f->differs) = (struct range){ offset, 1, false };
}

static bool touches_beyond(const struct one *f, uint64_t page)
{
	for (size_t i = 0; i < f->beyond.n; i++)
		if (f->beyond.at[i].offset / PAGES_BYTES == page)
			return true;
	return false;
}

/* Notes a page in which unknown bytes differ. */
static void found_page(struct one *f, uint64_t page)
{
	const uint64_t offset = page * PAGES_BYTES;

	if (touches_beyond(f, page))
		leave_out(
			f,
			"something was stored beyond its end, and it changed since it was recorded");
	else if (f->ndiffers++ < RANGES_MAX)
		*vec_add(&f->differs) = (struct range){
			offset, f->now - offset < PAGES_BYTES ? f->now - offset : PAGES_BYTES, true
		};
}

/* Compares a page, or what is left at the end of the file. */
static void compare_page(struct one *f, uint64_t offset, const uint8_t *bytes, size_t len_bytes)
{
	static const uint8_t zeros[PAGES_BYTES];
	const uint8_t *page = f->pages.at[offset / PAGES_BYTES], *replayed = page ? page : zeros;

	if (memcmp(replayed, bytes, len_bytes) == 0)
		return;
	for (size_t i = 0; i < len_bytes; i++)
		if (replayed[i] != bytes[i])
			found_byte(f, offset + i);
}

static void compare_data(struct one *f, uint64_t from, uint64_t to)
{
	uint8_t block[BLOCK_BYTES];

	for (uint64_t offset = from / PAGES_BYTES * PAGES_BYTES; offset < to;
	     offset += sizeof block) {
		const size_t n = to - offset < sizeof block ? (size_t)(to - offset) : sizeof block;

		if (pread(f->fd, block, n, (off_t)offset) != (ssize_t)n) {
			leave_out(f, "it cannot be read");
			return;
		}
		for (size_t at = 0; at < n; at += PAGES_BYTES)
			compare_page(f, offset + at, block + at,
				     n - at < PAGES_BYTES ? n - at : PAGES_BYTES);
	}
}

/* Compares a hole of the file, which reads as zeros. */
static void compare_hole(struct one *f, uint64_t from, uint64_t to)
{
	static const uint8_t zeros[PAGES_BYTES];
	const uint64_t end = (to + PAGES_BYTES - 1) / PAGES_BYTES;

	for (uint64_t page = (from + PAGES_BYTES - 1) / PAGES_BYTES; page < end; page++) {
		const uint64_t offset = page * PAGES_BYTES;

		if (f->pages.at[page])
			compare_page(f, offset, zeros,
				     to - offset < PAGES_BYTES ? (size_t)(to - offset)
							       : PAGES_BYTES);
	}
}

static void compare_one(struct one *f)
{
	uint64_t at = 0;

	while (at < f->now && !f->why_not) {
		off_t from = lseek(f->fd, (off_t)at, SEEK_DATA), to;

		/* no more data, or the file system does not support it */
		if (from < 0)
			from = errno == ENXIO ? (off_t)f->now : (off_t)at;
		compare_hole(f, at, (uint64_t)from);
		to = (uint64_t)from < f->now ? lseek(f->fd, from, SEEK_HOLE) : from;
		if (to < 0 || (uint64_t)to > f->now)
			to = (off_t)f->now;
		compare_data(f, (uint64_t)from, (uint64_t)to);
		at = (uint64_t)to;
	}
}

/* ---- comparing with sums ---- */

/* Reads a page as it was when its sum was made. False if it has changed since. */
static bool read_page(struct one *f, uint64_t page, uint64_t sum, uint8_t bytes[PAGES_BYTES])
{
	const uint64_t offset = page * PAGES_BYTES, left = f->now - offset;
	const size_t n = left < PAGES_BYTES ? (size_t)left : PAGES_BYTES;

	memset(bytes, 0, PAGES_BYTES);
	return sum == 0 || (one_open(f) && pread(f->fd, bytes, n, (off_t)offset) == (ssize_t)n &&
			    pmt_page_sum(bytes) == sum);
}

static void compare_sum(struct one *f, uint64_t page, uint64_t sum)
{
	_Alignas(64) uint8_t bytes[PAGES_BYTES];
	const uint64_t offset = page * PAGES_BYTES, left = f->now - offset;
	const size_t n = left < PAGES_BYTES ? (size_t)left : PAGES_BYTES;
	const uint8_t *replayed = f->pages.at[page];

	if (replayed && n < PAGES_BYTES) {
		memset(bytes, 0, sizeof bytes);
		replayed = memcpy(bytes, replayed, n);
	}
	if ((replayed ? pmt_page_sum(replayed) : 0) == sum)
		return;
	if (read_page(f, page, sum, bytes))
		compare_page(f, offset, bytes, n);
	else
		found_page(f, page);
}

static void compare_sums_of(struct one *f)
{
	const struct pmt_sums_page *sum = (const struct pmt_sums_page *)(f->sums + 1),
				   *end = sum + f->sums->npages;

	for (uint64_t page = 0; page < f->pages.n && !f->why_not; page++) {
		const bool has_sum = sum < end && sum->number == page;

		if (has_sum || f->pages.at[page])
			compare_sum(f, page, has_sum ? sum->sum : 0);
		sum += has_sum;
	}
}

/* ---- stores of several processes ---- */

/* Two processes may store to the same bytes at the same time. The trace then has both stores,
 * perhaps in the other order. So a byte that has the last value of any process was not changed
 * unseen. */
struct left {
	uint64_t addr;
	uint32_t stream;
	uint8_t value;
};
typedef VEC(struct left) left_list;

static void note_left(left_list *list, uint64_t addr, uint32_t stream, uint8_t value)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].addr == addr && list->at[i].stream == stream) {
			list->at[i].value = value;
			return;
		}
	*vec_add(list) = (struct left){ addr, stream, value };
}

static bool is_left(const left_list *list, uint64_t addr, uint8_t value)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].addr == addr && list->at[i].value == value)
			return true;
	return false;
}

static void note_all_left(const struct all *a, struct trace *t, left_list *list)
{
	struct trace_event ev;

	while (trace_next(t, &ev)) {
		const struct one *f = trace_is_store(ev.kind) ? one_of(a, PMT_FILE(ev.addr)) : NULL;

		for (uint32_t i = 0; f && f->ndiffers > 0 && i < ev.data_len; i++)
			if (is_within(&f->differs, PMT_OFFSET(ev.addr) + i))
				note_left(list, ev.addr + i, ev.stream, ev.data[i]);
	}
}

static bool is_race(const struct one *f, uint64_t addr, uint64_t len_bytes, const left_list *list)
{
	uint8_t byte;

	for (uint64_t i = 0; i < len_bytes; i++)
		if (pread(f->fd, &byte, 1, (off_t)(PMT_OFFSET(addr) + i)) != 1 ||
		    !is_left(list, addr + i, byte))
			return false;
	return true;
}

static void drop_races(struct one *f, uint32_t number, const left_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < f->differs.n; i++)
		if (!is_race(f, PMT_ADDR(number, f->differs.at[i].offset),
			     f->differs.at[i].len_bytes, list))
			f->differs.at[n++] = f->differs.at[i];
	f->ndiffers -= f->differs.n - n;
	f->differs.n = n;
}

static void look_for_races(struct all *a, const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	left_list list = { 0 };

	note_all_left(a, t, &list);
	for (uint32_t i = 0; i < a->files.n; i++)
		drop_races(&a->files.at[i], i, &list);
	vec_release(&list);
	trace_close(t);
}

/* ---- the result ---- */

static char *differs_text(const struct one *f)
{
	const size_t told = f->differs.n < RANGES_TOLD ? f->differs.n : RANGES_TOLD;
	char *text = NULL, *longer;

	for (size_t i = 0; i < told; i++) {
		const struct range *r = &f->differs.at[i];

		longer = xasprintf("%s%s%s%" PRIu64 " byte%s at offset %#" PRIx64, text ? text : "",
				   !text                  ? ""
				   : i + 1 == f->ndiffers ? " and "
							  : ", ",
				   r->is_rough ? "some of the " : "", r->len_bytes,
				   r->len_bytes == 1 ? "" : "s", r->offset);
		free(text);
		text = longer;
	}
	if (f->ndiffers <= told)
		return text;
	longer = xasprintf("%s and %zu more place%s", text, f->ndiffers - told,
			   f->ndiffers - told == 1 ? "" : "s");
	free(text);
	return longer;
}

/* What is appended to the trace. */
struct addition {
	const char *trace;
	struct writer *w; /* NULL until something is */
	char *missing;
	struct error err; /* why it could not be written; empty if it could */
};

static void addition_note(struct addition *to, const char *text)
{
	char *longer =
		xasprintf("%s%s%s", to->missing ? to->missing : "", to->missing ? "; " : "", text);

	free(to->missing);
	to->missing = longer;
}

/* Appends an event; frees the text. */
static void append_event(struct addition *to, enum pmt_kind kind, char *text)
{
	const size_t len = strlen(text);
	struct writer *w;

	if (kind == PMT_INCOMPLETE)
		addition_note(to, text);
	if (!to->w && writer_append(&to->w, to->trace, &to->err) < 0) {
		to->w = NULL;
		free(text);
		return;
	}
	w = to->w;
	writer_event(w, &(struct writer_event){
				.site = writer_site(w, 0, 0, kind, 0),
				.thread = 1,
				.data = text,
				.data_len = (uint32_t)(len < WRITER_BLOB_MAX_BYTES
							       ? len
							       : WRITER_BLOB_MAX_BYTES) });
	free(text);
}

static void append_difference(struct addition *to, const struct one *f)
{
	char *places;

	if (!f->why_not && (f->now != f->told || f->ndiffers > 0))
		append_event(to, PMT_META, xasprintf("changed_unseen=%s", f->path));
	if (f->why_not) {
		append_event(to, PMT_META, xasprintf("uncompared=%s: %s", f->path, f->why_not));
	} else if (f->now != f->told) {
		append_event(to, PMT_INCOMPLETE,
			     xasprintf("something changed %s unseen: it has %" PRIu64
				       " bytes, but %" PRIu64 " were recorded",
				       f->path, f->now, f->told));
	} else if (f->ndiffers > 0) {
		places = differs_text(f);
		append_event(
			to, PMT_INCOMPLETE,
			xasprintf("something changed %s unseen: %s differ%s from what was recorded",
				  f->path, places,
				  f->ndiffers == 1 && f->differs.at[0].len_bytes == 1 ? "s" : ""));
		free(places);
	}
}

static void tell_all(const struct all *a, struct addition *to, const char *others)
{
	if (others)
		append_event(to, PMT_INCOMPLETE, xstrdup(others));
	for (size_t i = 0; a && i < a->files.n; i++)
		if (a->files.at[i].path)
			append_difference(to, &a->files.at[i]);
	if (to->w)
		writer_close(to->w, &to->err);
}

/* ---- all of it ---- */

static void all_init(struct all *a, struct kept *kept, uint32_t nfiles)
{
	*a = (struct all){ .room_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) *
					 (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE };
	for (uint32_t i = 0; i <= nfiles; i++)
		*vec_add(&a->files) = (struct one){ .fd = kept ? kept_fd(kept, i) : -1 };
}

/* Gives each file the sums of its own pages. */
static void all_take_sums(struct all *a, const struct pmt_sums *sums)
{
	const uint8_t *at = (const uint8_t *)(sums + 1), *end = at + sums->len_bytes;

	while ((size_t)(end - at) >= sizeof(struct pmt_sums_file)) {
		const struct pmt_sums_file *f = (const struct pmt_sums_file *)at;

		if (f->npages > ((size_t)(end - at) - sizeof *f) / sizeof(struct pmt_sums_page))
			return;
		if (f->file < a->files.n)
			a->files.at[f->file].sums = f;
		at += sizeof *f + f->npages * sizeof(struct pmt_sums_page);
	}
}

static void all_release(struct all *a)
{
	for (size_t i = 0; i < a->files.n; i++) {
		struct one *f = &a->files.at[i];

		if (f->is_ours && f->fd >= 0)
			close(f->fd);
		pages_release(&f->pages);
		free(f->path);
		free(f->why_not);
		vec_release(&f->beyond);
		vec_release(&f->differs);
	}
	vec_release(&a->files);
	pages_room_release(&a->room);
}

/* Compares all files. True if one differs. */
static bool compare_all(struct all *a)
{
	bool differs = false;

	for (size_t i = 0; i < a->files.n; i++) {
		if (!one_of(a, i) || a->files.at[i].now != a->files.at[i].told)
			continue;
		if (a->files.at[i].sums)
			compare_sums_of(&a->files.at[i]);
		else
			compare_one(&a->files.at[i]);
		differs |= a->files.at[i].ndiffers > 0;
	}
	return differs;
}

/* Replays the trace and compares. False if the trace is damaged, which is reported elsewhere. */
static bool replay_and_compare(struct all *a, const char *trace, struct addition *to,
			       const char *others)
{
	struct error ignored;
	struct trace_event ev;
	struct trace *t;
	bool is_whole;

	if (trace_open(&t, trace, &ignored) < 0)
		return false;
	while (trace_next(t, &ev))
		replay_event(a, &ev);
	write_waiting(a);
	is_whole = !trace_damage(t);
	if (is_whole) {
		if (compare_all(a) && a->nstreams > 1 && !a->is_by_sums)
			look_for_races(a, t);
		tell_all(a, to, others);
	}
	trace_close(t);
	return is_whole;
}

char *compare_files(const char *trace, uint32_t nfiles, struct kept *kept, const char *others)
{
	struct addition to = { .trace = trace };
	struct all a;

	all_init(&a, kept, nfiles);
	replay_and_compare(&a, trace, &to, others);
	all_release(&a);
	return to.missing;
}

int compare_sums(const char *trace, uint32_t nfiles, const struct pmt_sums *sums, struct error *err)
{
	struct addition to = { .trace = trace };
	struct all a;
	bool is_whole;

	all_init(&a, NULL, nfiles);
	a.is_by_sums = true;
	if (sums)
		all_take_sums(&a, sums);
	for (size_t i = 1; i < a.files.n; i++)
		if (!a.files.at[i].sums)
			leave_out(&a.files.at[i],
				  "what it held at the end is not in the trace, which is damaged");
	is_whole = replay_and_compare(&a, trace, &to, NULL);
	all_release(&a);
	free(to.missing);
	if (to.err.msg[0])
		return error_set(err, "%s", to.err.msg);
	return !is_whole ? COMPARED_NOT : to.w ? COMPARED_TOLD : COMPARED_EQUAL;
}

char *compare_tell(const char *trace, const char *others)
{
	struct addition to = { .trace = trace };

	tell_all(NULL, &to, others);
	return to.missing;
}
