/* Writes sums of the pages of PM files when a recording ends, and compares the trace with them at
 * the first analysis. Reading a file takes a tenth of the time of replaying a trace, so the
 * recording does not have to wait for the comparison. */
#include "pools/unseen/sums.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pools/unseen/compare.h"
#include "util/vec.h"

#define BLOCK_BYTES (16u * PMT_PAGE_BYTES)
/* What compare_sums() appends usually fits into this room, so the trace keeps its size, by which
 * parts of a check recognise it. */
#define LEAST_BYTES 4096u

typedef VEC(uint8_t) byte_list;

/* Ignores SIGXFSZ: a trace that must not grow (ulimit -f) is no reason to die. */
static void hold_off_size_limit(struct sigaction *before)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignore, before);
}

static void *bytes_add(byte_list *list, const void *bytes, size_t len_bytes)
{
	const size_t at = list->n;

	vec_reserve(list, at + len_bytes);
	list->n += len_bytes;
	return memcpy(list->at + at, bytes, len_bytes);
}

/* ---- writing ---- */

static bool sum_data(byte_list *to, int fd, uint64_t from, uint64_t end, uint64_t *npages)
{
	_Alignas(64) uint8_t block[BLOCK_BYTES];

	for (uint64_t offset = from / PMT_PAGE_BYTES * PMT_PAGE_BYTES; offset < end;
	     offset += sizeof block) {
		const size_t n =
			end - offset < sizeof block ? (size_t)(end - offset) : sizeof block;

		if (pread(fd, block, n, (off_t)offset) != (ssize_t)n)
			return false;
		if (n % PMT_PAGE_BYTES)
			memset(block + n, 0, PMT_PAGE_BYTES - n % PMT_PAGE_BYTES);
		for (size_t at = 0; at < n; at += PMT_PAGE_BYTES) {
			const struct pmt_sums_page page = { (offset + at) / PMT_PAGE_BYTES,
							    pmt_page_sum(block + at) };

			if (page.sum) {
				bytes_add(to, &page, sizeof page);
				++*npages;
			}
		}
	}
	return true;
}

static bool sum_file(byte_list *to, uint32_t number, int fd)
{
	const size_t head = to->n;
	struct pmt_sums_file f = { .file = number };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	f.size_bytes = (uint64_t)st.st_size;
	bytes_add(to, &f, sizeof f);
	for (uint64_t at = 0; at < f.size_bytes;) {
		off_t from = lseek(fd, (off_t)at, SEEK_DATA), end;

		if (from < 0 && errno == ENXIO)
			break;
		if (from < 0)
			from = (off_t)at; /* the file system does not support it */
		end = lseek(fd, from, SEEK_HOLE);
		if (end <= from || (uint64_t)end > f.size_bytes)
			end = (off_t)f.size_bytes;
		if (!sum_data(to, fd, (uint64_t)from, (uint64_t)end, &f.npages))
			return false;
		at = (uint64_t)end;
	}
	memcpy(to->at + head, &f, sizeof f);
	return true;
}

static bool note_write(int fd, enum pmt_sums_state state)
{
	const struct pmt_sums_note note = { state, 0 };

	return pwrite(fd, &note, sizeof note, PMT_SUMS_NOTE_OFFSET) == sizeof note;
}

static bool header_get(int fd, struct pmt_header *h)
{
	return pread(fd, h, sizeof *h, 0) == sizeof *h;
}

static bool write_behind(const char *trace, const byte_list *sums)
{
	struct sigaction before;
	struct pmt_header h;
	int fd = open(trace, O_RDWR | O_CLOEXEC);
	bool is_written;

	hold_off_size_limit(&before);
	is_written = fd >= 0 && header_get(fd, &h) &&
		     pwrite(fd, sums->at, sums->n, (off_t)h.end) == (ssize_t)sums->n &&
		     (sums->n >= LEAST_BYTES || ftruncate(fd, (off_t)(h.end + LEAST_BYTES)) == 0) &&
		     note_write(fd, PMT_SUMS_TO_COMPARE);
	sigaction(SIGXFSZ, &before, NULL);
	if (fd >= 0)
		close(fd);
	return is_written;
}

bool sums_write(const char *trace, uint32_t nfiles, struct kept *kept)
{
	struct pmt_sums head = { .magic = PMT_SUMS_MAGIC };
	byte_list sums = { 0 };
	bool is_written = true;

	bytes_add(&sums, &head, sizeof head);
	for (uint32_t i = 1; i <= nfiles && is_written; i++)
		is_written = sum_file(&sums, i, kept_fd(kept, i));
	head.len_bytes = sums.n - sizeof head;
	if (is_written && head.len_bytes <= UINT32_MAX) {
		head.hash = pmt_hash_lanes(sums.at + sizeof head, (uint32_t)head.len_bytes);
		memcpy(sums.at, &head, sizeof head);
		is_written = write_behind(trace, &sums);
	} else {
		is_written = false;
	}
	vec_release(&sums);
	return is_written;
}

/* ---- comparing ---- */

static bool is_open(int fd)
{
	struct pmt_sums_note note;

	return pread(fd, &note, sizeof note, PMT_SUMS_NOTE_OFFSET) == sizeof note &&
	       note.state == PMT_SUMS_TO_COMPARE;
}

/* Reads the sums; NULL if they are damaged. free() them. */
static struct pmt_sums *sums_read(int fd, uint64_t offset)
{
	struct pmt_sums head, *sums;
	struct stat st;

	if (pread(fd, &head, sizeof head, (off_t)offset) != sizeof head ||
	    memcmp(head.magic, PMT_SUMS_MAGIC, sizeof head.magic) != 0 || fstat(fd, &st) < 0 ||
	    head.len_bytes > UINT32_MAX || head.len_bytes > (uint64_t)st.st_size)
		return NULL;
	sums = xmalloc(sizeof head + head.len_bytes);
	if (pread(fd, sums, sizeof head + head.len_bytes, (off_t)offset) ==
		    (ssize_t)(sizeof head + head.len_bytes) &&
	    pmt_hash_lanes(sums + 1, (uint32_t)head.len_bytes) == head.hash)
		return sums;
	free(sums);
	return NULL;
}

/* Compares the trace with its sums, while no other process does, and notes in the trace what
 * differs. */
static int compare_and_note(const char *trace, int fd, struct error *err)
{
	struct pmt_sums *sums;
	struct pmt_header h;
	struct error why;
	int compared;

	if (!header_get(fd, &h))
		return 0; /* the code that opens it reports that */
	sums = sums_read(fd, h.end);
	compared = compare_sums(trace, h.nfiles, sums, &why);
	free(sums);
	if (compared < 0)
		return error_set(
			err,
			"something changed a file of %s unseen, which must be noted in the trace, but %s; copy the trace to where it can be written, and analyse the copy",
			trace, why.msg);
	/* a trace that cannot be written is compared again next time */
	if (compared != COMPARED_NOT)
		note_write(fd, compared == COMPARED_TOLD ? PMT_SUMS_NONE : PMT_SUMS_EQUAL);
	return 0;
}

int sums_settle(const char *trace, struct error *err)
{
	int fd = open(trace, O_RDWR | O_CLOEXEC), result = 0;
	struct sigaction before;

	if (fd < 0)
		fd = open(trace, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* the code that needs it reports that */
	if (is_open(fd)) {
		flock(fd, LOCK_EX);
		hold_off_size_limit(&before);
		if (is_open(fd)) /* another process may have done it meanwhile */
			result = compare_and_note(trace, fd, err);
		sigaction(SIGXFSZ, &before, NULL);
	}
	close(fd);
	return result;
}
