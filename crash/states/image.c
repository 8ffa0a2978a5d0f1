/* Keeps presence, size and durable content of the PM files during a walk. Each file is one mapping,
 * which uses no memory for pages that are not touched. */
#include "crash/states/image.h"

#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#include "util/error.h"

static uint64_t pages_of(uint64_t len_bytes)
{
	return (len_bytes + IMAGE_PAGE_BYTES - 1) / IMAGE_PAGE_BYTES;
}

static void file_init(struct crash_file *f, uint64_t room)
{
	uint64_t words = pages_of(room) / 64 + 1;

	*f = (struct crash_file){ .room = pages_of(room) * IMAGE_PAGE_BYTES };
	f->touched = xcalloc(words, sizeof *f->touched);
	f->changed = xcalloc(words, sizeof *f->changed);
	if (f->room == 0)
		return;
	f->bytes = mmap(NULL, f->room, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->bytes == MAP_FAILED)
		alloc_die();
}

void image_init(struct crash_image *im, const uint64_t *sizes, size_t n)
{
	*im = (struct crash_image){ 0 };
	for (size_t i = 0; i < n; i++)
		file_init(vec_add(&im->files), sizes[i]);
}

void image_release(struct crash_image *im)
{
	for (size_t i = 0; i < im->files.n; i++) {
		struct crash_file *f = &im->files.at[i];

		if (f->bytes)
			munmap(f->bytes, f->room);
		free(f->touched);
		free(f->changed);
		free(f->lines);
		free(f->path);
	}
	vec_release(&im->files);
}

bool image_has_file(const struct crash_image *im)
{
	for (size_t i = 1; i < im->files.n; i++)
		if (im->files.at[i].path && im->files.at[i].exists)
			return true;
	return false;
}

struct crash_file *image_file(const struct crash_image *im, uint64_t file)
{
	return file < im->files.n ? &im->files.at[file] : NULL;
}

static void note_lines(struct crash_file *f, uint64_t offset, uint64_t len_bytes)
{
	for (uint64_t l = offset / IMAGE_LINE_BYTES;
	     l <= (offset + len_bytes - 1) / IMAGE_LINE_BYTES; l++)
		f->lines[l / 64] |= (uint64_t)1 << l % 64;
}

static void note_pages(struct crash_image *im, struct crash_file *f, uint64_t offset,
		       uint64_t len_bytes)
{
	if (len_bytes == 0)
		return;
	if (f->lines)
		note_lines(f, offset, len_bytes);
	for (uint64_t p = offset / IMAGE_PAGE_BYTES;
	     p <= (offset + len_bytes - 1) / IMAGE_PAGE_BYTES; p++) {
		f->touched[p / 64] |= (uint64_t)1 << p % 64;
		f->changed[p / 64] |= (uint64_t)1 << p % 64;
	}
	f->version = ++im->version;
}

void image_write(struct crash_image *im, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	struct crash_file *f = image_file(im, PMT_FILE(addr));
	uint64_t offset = PMT_OFFSET(addr);

	/* beyond the end of the file: a mapping may be longer, but those bytes are not kept */
	if (!f || offset >= f->room)
		return;
	if (len_bytes > f->room - offset)
		len_bytes = (uint32_t)(f->room - offset);
	if (memcmp(f->bytes + offset, bytes, len_bytes) == 0)
		return;
	memcpy(f->bytes + offset, bytes, len_bytes);
	note_pages(im, f, offset, len_bytes);
}

void image_read(const struct crash_image *im, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	const struct crash_file *f = image_file(im, PMT_FILE(addr));
	uint64_t offset = PMT_OFFSET(addr), n;

	memset(bytes, 0, len_bytes);
	if (!f || offset >= f->room)
		return;
	n = f->room - offset;
	memcpy(bytes, f->bytes + offset, len_bytes < n ? len_bytes : n);
}

/* Sets a range to zero without touching pages that are zero already. */
static void zero_range(struct crash_image *im, struct crash_file *f, uint64_t offset, uint64_t end)
{
	if (end > f->room)
		end = f->room;
	while (offset < end) {
		uint64_t page = offset / IMAGE_PAGE_BYTES, to = (page + 1) * IMAGE_PAGE_BYTES;

		if (to > end)
			to = end;
		if (f->touched[page / 64] >> page % 64 & 1) {
			memset(f->bytes + offset, 0, to - offset);
			note_pages(im, f, offset, to - offset);
		}
		offset = to;
	}
}

static void set_size(struct crash_image *im, struct crash_file *f, uint64_t size_bytes)
{
	if (size_bytes < f->size_bytes)
		zero_range(im, f, size_bytes, f->size_bytes);
	f->size_bytes = size_bytes;
	f->version = ++im->version;
}

static void move_bytes(struct crash_image *im, struct crash_file *f, uint64_t to, uint64_t from,
		       uint64_t end)
{
	if (from < end && end <= f->room && to + (end - from) <= f->room) {
		memmove(f->bytes + to, f->bytes + from, end - from);
		note_pages(im, f, to, end - from);
	}
}

static void fallocate_event(struct crash_image *im, struct crash_file *f, uint64_t mode,
			    uint64_t offset, uint64_t len_bytes)
{
	uint64_t end = offset + len_bytes, old = f->size_bytes;

	if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		zero_range(im, f, offset, end);
	if (mode & FALLOC_FL_COLLAPSE_RANGE) {
		move_bytes(im, f, offset, end, old);
		set_size(im, f, old - len_bytes);
	} else if (mode & FALLOC_FL_INSERT_RANGE) {
		set_size(im, f, old + len_bytes);
		move_bytes(im, f, end, offset, old);
		zero_range(im, f, offset, end);
	} else if (!(mode & FALLOC_FL_KEEP_SIZE) && end > old) {
		set_size(im, f, end);
	}
}

static void file_event(struct crash_image *im, struct crash_file *f, const struct trace_event *ev)
{
	free(f->path);
	f->path = strndup((const char *)ev->data, ev->data_len);
	f->exists = true;
	set_size(im, f, ev->arg[1]);
}

static void old_event(struct crash_image *im, uint64_t addr, uint64_t len_bytes)
{
	const struct crash_file *f = image_file(im, PMT_FILE(addr));
	const uint64_t left = f && PMT_OFFSET(addr) < f->room ? f->room - PMT_OFFSET(addr) : 0;
	uint8_t bytes[IMAGE_PAGE_BYTES];
	uint32_t n;

	for (len_bytes = len_bytes < left ? len_bytes : left; len_bytes > 0;
	     addr += n, len_bytes -= n) {
		n = len_bytes < sizeof bytes ? (uint32_t)len_bytes : (uint32_t)sizeof bytes;
		pmt_old_bytes(bytes, PMT_OFFSET(addr), n);
		image_write(im, addr, bytes, n);
	}
}

void image_event(struct crash_image *im, const struct trace_event *ev)
{
	struct crash_file *f;

	if (ev->kind == PMT_OLD) {
		old_event(im, ev->addr, ev->arg[0]);
		return;
	}
	if (ev->kind == PMT_CONTENT) {
		image_write(im, ev->addr, ev->data, ev->data_len);
		return;
	}
	if (ev->kind != PMT_FILE && ev->kind != PMT_SIZE && ev->kind != PMT_FALLOCATE &&
	    ev->kind != PMT_RENAME && ev->kind != PMT_UNLINK)
		return;
	f = image_file(im, ev->arg[0]);
	if (!f)
		return;
	if (ev->kind == PMT_FILE) {
		file_event(im, f, ev);
	} else if (ev->kind == PMT_SIZE) {
		set_size(im, f, ev->arg[1]);
	} else if (ev->kind == PMT_FALLOCATE) {
		fallocate_event(im, f, ev->arg[1], ev->arg[2], ev->arg[3]);
	} else if (ev->kind == PMT_RENAME) {
		free(f->path);
		f->path = strndup((const char *)ev->data, ev->data_len);
	} else {
		f->exists = false;
	}
	f->version = ++im->version;
}

/* ---- changes ---- */

static uint64_t nlines_of(const struct crash_file *f)
{
	return f->room / IMAGE_LINE_BYTES;
}

void image_forget_lines(struct crash_image *im)
{
	for (size_t i = 0; i < im->files.n; i++) {
		struct crash_file *f = &im->files.at[i];

		free(f->lines);
		f->lines = xcalloc(nlines_of(f) / 64 + 1, sizeof *f->lines);
	}
}

/* Finds the next line that was written or, if !is_written, that was not; the search begins with
 * `line`. Gives the number of lines if there is none. */
static uint64_t next_line(const struct crash_file *f, uint64_t line, bool is_written)
{
	const uint64_t n = nlines_of(f);

	while (line < n) {
		const uint64_t word =
			(is_written ? f->lines[line / 64] : ~f->lines[line / 64]) >> line % 64;

		if (word)
			return line + (uint64_t)__builtin_ctzll(word) < n
				       ? line + (uint64_t)__builtin_ctzll(word)
				       : n;
		line += 64 - line % 64;
	}
	return n;
}

/* Sends the written lines as runs. Each run begins with the number of unwritten lines before it; an
 * empty run is the end. */
static void send_lines(struct crash_file *f, struct wire *w)
{
	const uint64_t n = nlines_of(f);
	uint64_t from, to = 0;

	while ((from = next_line(f, to, true)) < n) {
		wire_number(w, from - to);
		to = next_line(f, from, false);
		wire_number(w, to - from);
		wire_bytes(w, f->bytes + from * IMAGE_LINE_BYTES, (to - from) * IMAGE_LINE_BYTES);
	}
	wire_number(w, 0);
	wire_number(w, 0);
}

static void receive_lines(struct crash_image *im, struct crash_file *f, struct wire *w)
{
	uint64_t at = 0;

	for (;;) {
		const uint64_t skipped = wire_number(w, 0), n = wire_number(w, 0);

		if (n == 0 || w->is_bad)
			return;
		w->is_bad |= skipped > nlines_of(f) - at || n > nlines_of(f) - at - skipped;
		if (w->is_bad)
			return;
		at += skipped;
		wire_bytes(w, f->bytes + at * IMAGE_LINE_BYTES, n * IMAGE_LINE_BYTES);
		note_pages(im, f, at * IMAGE_LINE_BYTES, n * IMAGE_LINE_BYTES);
		at += n;
	}
}

void image_pass_changes(struct crash_image *im, struct wire *w)
{
	w->is_bad |= wire_number(w, im->files.n) != im->files.n;
	for (size_t i = 0; i < im->files.n && !w->is_bad; i++) {
		struct crash_file *f = &im->files.at[i];
		char *path = wire_string(w, f->path);

		wire_pass(w, f->exists);
		wire_pass(w, f->size_bytes);
		if (!w->is_received) {
			send_lines(f, w);
			continue;
		}
		free(f->path);
		f->path = path;
		receive_lines(im, f, w);
		f->version = ++im->version;
	}
}

static void model_read(void *im, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	image_read(im, addr, bytes, len_bytes);
}

static void model_write(void *im, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	image_write(im, addr, bytes, len_bytes);
}

struct model_image image_for_model(struct crash_image *im)
{
	return (struct model_image){ .read = model_read, .write = model_write, .arg = im };
}
