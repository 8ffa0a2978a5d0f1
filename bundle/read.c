/* Opens a bundle: reads the header, then the index, which must be as the header says. The contents
 * must exactly fill the space between them, so a truncated or extended bundle is refused before
 * anything is unpacked. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bundle/bundle.h"

#define INDEX_MAX_BYTES ((uint64_t)256 << 20)

struct header {
	uint64_t index_at, stored_bytes, index_bytes;
	uint8_t hash[SHA256_BYTES];
};

static int read_at(int fd, void *to, size_t n, uint64_t at)
{
	for (char *p = to; n > 0;) {
		const ssize_t got = pread(fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		p += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

static uint64_t number_at(const uint8_t *from, size_t bytes)
{
	uint64_t n = 0;

	memcpy(&n, from, bytes);
	return le64toh(n);
}

static int header_read(struct bundle *b, struct header *h, struct error *err)
{
	uint8_t bytes[BUNDLE_HEADER_BYTES];
	struct stat st;

	if (fstat(b->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_set(err, "%s is not a file", b->file);
	if (read_at(b->fd, bytes, sizeof bytes, 0) < 0 || memcmp(bytes, BUNDLE_MAGIC, 8) != 0)
		return error_set(err, "%s is not a bundle that 'pmend pack' wrote", b->file);
	if (number_at(bytes + 8, 4) != BUNDLE_VERSION)
		return error_set(
			err,
			"%s is a bundle of version %u, and this pmend reads version %u; pack it again",
			b->file, (unsigned)number_at(bytes + 8, 4), BUNDLE_VERSION);
	*h = (struct header){ .index_at = number_at(bytes + 16, 8),
			      .stored_bytes = number_at(bytes + 24, 8),
			      .index_bytes = number_at(bytes + 32, 8) };
	memcpy(h->hash, bytes + 40, sizeof h->hash);
	if (h->index_at < sizeof bytes || h->index_at > (uint64_t)st.st_size ||
	    h->stored_bytes != (uint64_t)st.st_size - h->index_at || h->stored_bytes == 0)
		return error_set(
			err,
			"%s is damaged: it is %lld bytes long, but its header says otherwise. Copy it again, or pack it again",
			b->file, (long long)st.st_size);
	if (h->index_bytes > INDEX_MAX_BYTES || h->stored_bytes > INDEX_MAX_BYTES)
		return error_set(err, "%s is damaged: its index is impossibly long", b->file);
	return 0;
}

/* Checks that the contents fill the space between header and index. */
static int contents_check(const struct bundle *b, const struct header *h, struct error *err)
{
	uint64_t at = BUNDLE_HEADER_BYTES;

	for (size_t i = 0; i < b->entries.n && at <= h->index_at; i++)
		at += b->entries.at[i].stored_bytes;
	return at == h->index_at
		       ? 0
		       : error_set(err,
				   "%s is damaged: its files are not as long as its index says",
				   b->file);
}

static int index_read(struct bundle *b, const struct header *h, struct error *err)
{
	char *stored = xmalloc(h->stored_bytes), *text = xmalloc(h->index_bytes + 1);
	uint8_t hash[SHA256_BYTES];
	struct error why;
	int result = -1;

	if (read_at(b->fd, stored, h->stored_bytes, h->index_at) < 0) {
		error_set(err, "cannot read %s: %s", b->file, strerror(errno));
		goto out;
	}
	sha256(stored, h->stored_bytes, hash);
	if (memcmp(hash, h->hash, sizeof hash) != 0 ||
	    ZSTD_decompress(text, h->index_bytes, stored, h->stored_bytes) != h->index_bytes) {
		error_set(err,
			  "%s is damaged: its index has changed. Copy it again, or pack it again",
			  b->file);
		goto out;
	}
	bundle_hash_text(h->hash, b->identity);
	result = bundle_index_read(b, text, h->index_bytes, &why);
	if (result < 0)
		error_set(err, "%s: %s", b->file, why.msg);
	else
		result = contents_check(b, h, err);
out:
	free(stored);
	free(text);
	return result;
}

int bundle_open(struct bundle *b, const char *file, struct error *err)
{
	struct header h;

	bundle_init(b);
	b->file = xstrdup(file);
	b->fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (b->fd < 0) {
		error_set(err, "cannot open %s: %s", file, strerror(errno));
	} else if (header_read(b, &h, err) == 0 && index_read(b, &h, err) == 0) {
		return 0;
	}
	bundle_release(b);
	return -1;
}

static void words_release(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i]);
}

void bundle_release(struct bundle *b)
{
	for (size_t i = 0; i < b->entries.n; i++) {
		free(b->entries.at[i].path);
		free(b->entries.at[i].target);
	}
	for (size_t i = 0; i < b->libraries.n; i++) {
		free(b->libraries.at[i].name);
		free(b->libraries.at[i].path);
	}
	words_release(b->options.at, b->options.n);
	words_release(b->environment.at, b->environment.n);
	words_release(b->lacks.at, b->lacks.n);
	vec_release(&b->options);
	vec_release(&b->environment);
	vec_release(&b->lacks);
	vec_release(&b->libraries);
	vec_release(&b->entries);
	free(b->version);
	free(b->arch);
	free(b->cwd);
	free(b->trace);
	free(b->file);
	if (b->fd >= 0)
		close(b->fd);
	bundle_init(b);
}
