/* Reads what a command prints from a pipe, so that it costs no disk. The first and the last part
 * are kept, and everything is hashed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "util/hash.h"

#define PIPE_BYTES (1 << 20) /* large, so that commands rarely wait for us */

int capture_init(struct capture *c, size_t room, int *write_end, struct error *err)
{
	int fds[2];

	*c = (struct capture){ .fd = -1, .half = room / 2 > 128 ? room / 2 : 128 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, "pipe: %s", strerror(errno));
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES); /* a smaller pipe works, too */
	c->fd = fds[0];
	*write_end = fds[1];
	c->head = xmalloc(c->half);
	c->tail = xmalloc(c->half);
	c->text = xmalloc(2 * c->half + 1);
	return 0;
}

void capture_release(struct capture *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->head);
	free(c->tail);
	free(c->text);
	*c = (struct capture){ .fd = -1 };
}

void capture_clear(struct capture *c)
{
	c->len = c->hash = c->word = 0;
}

static void capture_hash_bytes(struct capture *c, const char *p, size_t n)
{
	uint64_t at = c->len;

	for (; n && at % 8; n--, p++) {
		c->word |= (uint64_t)(uint8_t)*p << at % 8 * 8;
		if (++at % 8 == 0) {
			c->hash = hash_mix(c->hash, c->word);
			c->word = 0;
		}
	}
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		c->hash = hash_mix(c->hash, word);
	}
	for (size_t i = 0; i < n; i++)
		c->word |= (uint64_t)(uint8_t)p[i] << 8 * i;
}

uint64_t capture_hash(const struct capture *c)
{
	return hash_mix(hash_mix(c->hash, c->word), c->len);
}

static void capture_add(struct capture *c, const char *p, size_t n)
{
	size_t first = c->len < c->half ? c->half - c->len : 0;

	capture_hash_bytes(c, p, n);
	if (first > n)
		first = n;
	memcpy(c->head + c->len, p, first);
	c->len += first;
	p += first;
	n -= first;
	if (n > c->half) { /* only the end of this can be in the last part */
		c->len += n - c->half;
		p += n - c->half;
		n = c->half;
	}
	while (n) {
		size_t at = (c->len - c->half) % c->half,
		       piece = c->half - at < n ? c->half - at : n;

		memcpy(c->tail + at, p, piece);
		c->len += piece;
		p += piece;
		n -= piece;
	}
}

void capture_drain(struct capture *c)
{
	char buf[65536];
	ssize_t n;

	do {
		n = read(c->fd, buf, sizeof buf);
		if (n > 0)
			capture_add(c, buf, (size_t)n);
		/* fewer bytes than asked for: the pipe is empty */
	} while (n == (ssize_t)sizeof buf || (n < 0 && errno == EINTR));
}

const char *capture_text(struct capture *c, size_t *len)
{
	const size_t half = c->half;

	if (c->len <= half) {
		memcpy(c->text, c->head, c->len);
		*len = c->len;
	} else if (c->len <= 2 * half) {
		memcpy(c->text, c->head, half);
		memcpy(c->text + half, c->tail, c->len - half);
		*len = c->len;
	} else {
		size_t at = (c->len - half) % half; /* position of the oldest byte in the ring */
		char gap[64];
		size_t ngap = (size_t)snprintf(gap, sizeof gap, "\n[... %llu bytes left out ...]\n",
					       (unsigned long long)(c->len - 2 * half));

		memcpy(c->text, c->head, half);
		memcpy(c->text + half, c->tail + at, half - at);
		memcpy(c->text + 2 * half - at, c->tail, at);
		/* replaces the first bytes of the last part, because there is no more room */
		memcpy(c->text + half, gap, ngap);
		*len = 2 * half;
	}
	c->text[*len] = 0;
	return c->text;
}
