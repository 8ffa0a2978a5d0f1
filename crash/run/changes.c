/* Computes what recovery changed: which words of the PM files differ from the crash state, and what
 * all of them contain. Two recoveries that write the same places count as the same work for a
 * second crash during recovery. */
#include <string.h>
#include <sys/stat.h>

#include "crash/run/runner_internal.h"
#include "util/hash.h"

#define CHUNK_BYTES 64u

/* Gives the index of the line that contains addr, or -1. */
static ptrdiff_t line_at(const struct state_set *s, uint64_t addr)
{
	size_t low = 0, high = s->lines.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->lines.at[middle].addr + s->line_bytes <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->lines.n && s->lines.at[low].addr <= addr ? (ptrdiff_t)low : -1;
}

/* Bytes that are left out of a content hash. */
struct leaving_out {
	const struct run_gap *at;
	size_t n;
};

static bool is_left_out(struct leaving_out out, uint64_t word)
{
	for (size_t i = 0; i < out.n; i++)
		if (word < out.at[i].addr + out.at[i].len_bytes && out.at[i].addr < word + 8)
			return true;
	return false;
}

static uint64_t chunk_changes(const uint8_t *is, const uint8_t *want, uint64_t addr, uint64_t h)
{
	for (uint32_t i = 0; i < CHUNK_BYTES; i += 8)
		if (memcmp(is + i, want + i, 8) != 0)
			h = hash_mix(h, addr + i);
	return h;
}

static uint64_t page_changes(const struct runner *r, const uint8_t *is, const uint8_t *want,
			     uint64_t addr, struct leaving_out out, uint64_t h)
{
	(void)out;
	for (uint32_t at = 0; at < IMAGE_PAGE_BYTES; at += CHUNK_BYTES) {
		const uint8_t *chunk = want + at, *newest;
		ptrdiff_t line;

		if (memcmp(is + at, chunk, CHUNK_BYTES) == 0)
			continue;
		line = line_at(r->set, addr + at);
		newest = line >= 0 ? line_newest(r->set, (size_t)line, r->region.left) : NULL;
		if (newest)
			chunk = newest + (addr + at - r->set->lines.at[line].addr);
		h = chunk_changes(is + at, chunk, addr + at, h);
	}
	return h;
}

/* Hashes the words of a page that differ from the durable content, which is the same for all runs.
 * So undecided lines count with what they contain. */
static uint64_t page_content(const struct runner *r, const uint8_t *is, const uint8_t *durable,
			     uint64_t addr, struct leaving_out out, uint64_t h)
{
	(void)r;
	for (uint32_t at = 0; at < IMAGE_PAGE_BYTES; at += 8) {
		uint64_t word;

		if (memcmp(is + at, durable + at, 8) == 0 || is_left_out(out, addr + at))
			continue;
		memcpy(&word, is + at, 8);
		h = hash_mix(hash_mix(h, addr + at), word);
	}
	return h;
}

typedef uint64_t page_fn(const struct runner *r, const uint8_t *is, const uint8_t *want,
			 uint64_t addr, struct leaving_out out, uint64_t h);

/* Hashes the pages of a file that had data before the run or have data now. Which pages these are
 * does not depend on earlier runs. */
static uint64_t file_pages(const struct runner *r, const struct image_file *f,
			   const struct crash_file *cf, page_fn *f_page, struct leaving_out out,
			   uint64_t h)
{
	uint64_t npages, first = 0, end = 0;
	uint8_t buf[IMAGE_PAGE_BYTES];
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return h;
	if ((uint64_t)st.st_size != cf->size_bytes)
		h = hash_mix(h, (uint64_t)st.st_size);
	npages = ((uint64_t)st.st_size < cf->size_bytes ? (uint64_t)st.st_size : cf->size_bytes) +
		 IMAGE_PAGE_BYTES - 1;
	npages /= IMAGE_PAGE_BYTES;
	for (uint64_t page = 0; page < npages; page++) {
		if (page >= end && !pages_next_data(f, npages, &first, &end))
			first = end = npages;
		if (page >= first || bit_get(cf->touched, page))
			h = f_page(r, f->map + page * IMAGE_PAGE_BYTES, page_want(cf, page, buf),
				   PMT_ADDR(f->number, page * IMAGE_PAGE_BYTES), out, h);
	}
	return h;
}

static uint64_t each_page(const struct runner *r, page_fn *f_page, struct leaving_out out)
{
	uint64_t h = 0;

	for (size_t i = 0; i < r->images.files.n; i++) {
		const struct image_file *f = &r->images.files.at[i];
		const struct crash_file *cf = f->number ? image_file(r->image, f->number) : NULL;

		if (cf && f->map)
			h = file_pages(r, f, cf, f_page, out, h);
	}
	return h;
}

uint64_t runner_changes(const struct runner *r)
{
	return each_page(r, page_changes, (struct leaving_out){ 0 });
}

uint64_t runner_content_beside(const struct runner *r, const struct run_gap *gaps, size_t n)
{
	return each_page(r, page_content, (struct leaving_out){ gaps, n });
}

uint64_t runner_content(const struct runner *r, uint64_t addr, uint64_t len_bytes)
{
	return runner_content_beside(r, &(struct run_gap){ addr, len_bytes }, 1);
}
