/* Restores the contents of one image file after a run. Pages of the crash image are compared with
 * it. All other pages must be zero; they are searched only if the kernel counts more pages than
 * expected. So the cost grows with the pages that have data, not with the size of the file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum {
	/* pages in a row that should have no data are freed without reading them */
	PUNCH_PAGES = 256,
	ZERO_PAGES = 4096, /* largest number of pages that are kept although they are all zero */
};

static uint64_t file_pages(const struct crash_file *cf)
{
	return (cf->size_bytes + IMAGE_PAGE_BYTES - 1) / IMAGE_PAGE_BYTES;
}

/* Gives the expected pages among 64, as bits. */
static uint64_t expected_word(const struct image_file *f, const struct crash_file *cf,
			      uint64_t word)
{
	const uint64_t npages = file_pages(cf), rest = npages - word * 64;

	return (cf->touched[word] | f->zero[word]) &
	       (rest >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << rest) - 1);
}

bool page_is_expected(const struct image_file *f, const struct crash_file *cf, uint64_t page)
{
	return expected_word(f, cf, page / 64) >> page % 64 & 1;
}

void page_expect(struct image_file *f, uint64_t page)
{
	f->zero[page / 64] |= (uint64_t)1 << page % 64;
}

const uint8_t *page_want(const struct crash_file *cf, uint64_t page, uint8_t *buf)
{
	const uint64_t offset = page * IMAGE_PAGE_BYTES,
		       end = cf->size_bytes < cf->room ? cf->size_bytes : cf->room;

	if (offset + IMAGE_PAGE_BYTES <= end)
		return cf->bytes + offset;
	memset(buf, 0, IMAGE_PAGE_BYTES); /* the last page of a file is zero behind its end */
	if (offset < end)
		memcpy(buf, cf->bytes + offset, end - offset);
	return buf;
}

/* Allocates the expected pages, so that a store to them cannot fail for lack of space (SIGBUS). */
static int pages_populate(struct image_file *f, const struct crash_file *cf, struct error *err)
{
	/* pages of 16 or 64 KiB exist */
	const uint64_t npages = file_pages(cf), kernel_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = 0, end;

	while (first < npages) {
		uint64_t from;

		if (!expected_word(f, cf, first / 64)) {
			first = (first / 64 + 1) * 64;
			continue;
		}
		if (!page_is_expected(f, cf, first)) {
			first++;
			continue;
		}
		for (end = first + 1; end < npages && page_is_expected(f, cf, end);)
			end++;
		from = first * IMAGE_PAGE_BYTES & ~(kernel_page_bytes - 1);
		if (madvise(f->map + from, end * IMAGE_PAGE_BYTES - from, MADV_POPULATE_READ) < 0 &&
		    errno != EINVAL) /* kernels before 5.14 cannot allocate ahead */
			return error_set(
				err,
				"%s: no space for the crash image (set TMPDIR to a folder with more)",
				f->image);
		first = end;
	}
	return 0;
}

/* Compares the expected pages with the image and repairs them. Returns their number. */
static uint64_t pages_compare(struct image_file *f, const struct crash_file *cf)
{
	const uint64_t nwords = (file_pages(cf) + 63) / 64;
	uint8_t buf[IMAGE_PAGE_BYTES];
	uint64_t n = 0;

	for (uint64_t word = 0; word < nwords; word++)
		for (uint64_t set = expected_word(f, cf, word); set; set &= set - 1, n++) {
			const uint64_t page = word * 64 + (uint64_t)__builtin_ctzll(set);
			const uint8_t *want = page_want(cf, page, buf);
			uint8_t *is = f->map + page * IMAGE_PAGE_BYTES;

			if (memcmp(is, want, IMAGE_PAGE_BYTES) != 0)
				memcpy(is, want, IMAGE_PAGE_BYTES);
		}
	return n;
}

static int pages_punch(struct image_file *f, uint64_t first, uint64_t end, struct error *err)
{
	if (fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)(first * IMAGE_PAGE_BYTES),
		      (off_t)((end - first) * IMAGE_PAGE_BYTES)) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return error_set(err, "%s: %s", f->image, strerror(errno));
	memset(f->map + first * IMAGE_PAGE_BYTES, 0, (end - first) * IMAGE_PAGE_BYTES);
	return 0;
}

/* Frees pages first to end, which have unexpected data. */
static int pages_drop(struct image_file *f, uint64_t first, uint64_t end, struct error *err)
{
	static const uint8_t zeros[IMAGE_PAGE_BYTES];

	if (end - first >= PUNCH_PAGES || f->nzero + (end - first) > ZERO_PAGES)
		return pages_punch(f, first, end, err);
	for (; first < end; first++) {
		uint8_t *is = f->map + first * IMAGE_PAGE_BYTES;

		if (memcmp(is, zeros, IMAGE_PAGE_BYTES) != 0)
			memset(is, 0, IMAGE_PAGE_BYTES);
		page_expect(f, first);
		f->nzero++;
	}
	return 0;
}

bool pages_next_data(const struct image_file *f, uint64_t npages, uint64_t *first, uint64_t *end)
{
	const off_t at = lseek(f->fd, (off_t)(*end * IMAGE_PAGE_BYTES), SEEK_DATA),
		    hole = at < 0 ? -1 : lseek(f->fd, at, SEEK_HOLE);

	if (hole < 0)
		return false;
	*first = (uint64_t)at / IMAGE_PAGE_BYTES;
	*end = ((uint64_t)hole + IMAGE_PAGE_BYTES - 1) / IMAGE_PAGE_BYTES;
	*end = *end < npages ? *end : npages;
	return *first < *end;
}

/* Searches pages with data where none is expected. */
static int pages_scan(struct image_file *f, const struct crash_file *cf, struct error *err)
{
	const uint64_t npages = file_pages(cf);
	uint64_t page, end = 0, stop;

	while (pages_next_data(f, npages, &page, &end))
		for (; page < end; page = stop) {
			for (stop = page; stop < end && !page_is_expected(f, cf, stop);)
				stop++;
			if (stop > page && pages_drop(f, page, stop, err) < 0)
				return -1;
			if (stop == page)
				stop++;
		}
	return 0;
}

int pages_restore(struct image_file *f, const struct crash_file *cf, struct error *err)
{
	struct stat st;
	uint64_t n;

	if (fstat(f->fd, &st) < 0)
		return error_set(err, "%s: %s", f->image, strerror(errno));
	if ((uint64_t)st.st_blocks != f->blocks && pages_populate(f, cf, err) < 0)
		return -1;
	n = pages_compare(f, cf);
	/* all expected pages exist now: if the kernel counts no more, none is unexpected */
	if (fstat(f->fd, &st) < 0 || (uint64_t)st.st_blocks * 512 != n * IMAGE_PAGE_BYTES) {
		if (pages_scan(f, cf, err) < 0 || fstat(f->fd, &st) < 0)
			return -1;
	}
	f->blocks = (uint64_t)st.st_blocks;
	return 0;
}
