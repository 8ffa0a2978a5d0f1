/* Builds messages, takes them apart, and sends them through a pipe or file. A message is its length
 * in 8 bytes and its content. A number takes one byte per 7 bits, lowest bits first; the top bit of
 * a byte says that more follow. A string is its length + 1 (0: NULL) and its bytes. */
#include "util/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"

#define MESSAGE_MAX ((uint64_t)1 << 30)

static void append(struct wire *w, const void *bytes, size_t len_bytes)
{
	if (w->n + len_bytes > w->room) {
		w->room = 2 * (w->n + len_bytes);
		w->bytes = xrealloc(w->bytes, w->room, 1);
	}
	memcpy(w->bytes + w->n, bytes, len_bytes);
	w->n += len_bytes;
}

static uint64_t get_number(struct wire *w)
{
	uint64_t n = 0, byte = 0x80;

	for (unsigned shift = 0; byte >= 0x80 && shift < 70; shift += 7) {
		if (w->at >= w->n) {
			w->is_bad = true;
			return 0;
		}
		byte = w->bytes[w->at++];
		n |= (byte & 0x7f) << shift;
	}
	return n;
}

static void put_number(struct wire *w, uint64_t n)
{
	uint8_t bytes[10];
	size_t len_bytes = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[len_bytes++] = (uint8_t)(n | 0x80);
	bytes[len_bytes++] = (uint8_t)n;
	append(w, bytes, len_bytes);
}

uint64_t wire_number(struct wire *w, uint64_t n)
{
	if (w->is_received)
		return get_number(w);
	put_number(w, n);
	return n;
}

void wire_bytes(struct wire *w, void *bytes, size_t len_bytes)
{
	if (!w->is_received) {
		append(w, bytes, len_bytes);
	} else if (len_bytes > w->n - w->at) {
		w->is_bad = true;
		memset(bytes, 0, len_bytes);
	} else {
		memcpy(bytes, w->bytes + w->at, len_bytes);
		w->at += len_bytes;
	}
}

void wire_pass_number(struct wire *w, uint64_t *n)
{
	*n = wire_number(w, *n);
}

void wire_pass_set(struct wire *w, struct map *set)
{
	const uint64_t n = wire_number(w, set->n);

	for (size_t i = 0; !w->is_received && i < set->room; i++)
		if (set->slots[i].value)
			wire_number(w, set->slots[i].key);
	for (uint64_t i = 0; w->is_received && i < n && !w->is_bad; i++)
		map_set(set, wire_number(w, 0), set);
}

static char *get_string(struct wire *w)
{
	uint64_t n = get_number(w);
	char *s;

	if (n-- == 0 || w->is_bad)
		return NULL;
	if (n > w->n - w->at) {
		w->is_bad = true;
		return NULL;
	}
	s = xmalloc(n + 1);
	memcpy(s, w->bytes + w->at, n);
	s[n] = '\0';
	w->at += n;
	return s;
}

char *wire_string(struct wire *w, char *s)
{
	if (w->is_received)
		return get_string(w);
	wire_number(w, s ? strlen(s) + 1 : 0);
	if (s && *s)
		append(w, s, strlen(s));
	return s;
}

void wire_release(struct wire *w)
{
	free(w->bytes);
	*w = (struct wire){ 0 };
}

static int write_all(int fd, const void *bytes, size_t len_bytes)
{
	const uint8_t *p = bytes;

	while (len_bytes > 0) {
		ssize_t n = write(fd, p, len_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len_bytes -= (size_t)n;
	}
	return 0;
}

/* Reads until len_bytes bytes were read or the file ends. Gives how many bytes were read. */
static size_t read_all(int fd, void *bytes, size_t len_bytes)
{
	size_t have = 0;

	while (have < len_bytes) {
		ssize_t n = read(fd, (uint8_t *)bytes + have, len_bytes - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

int wire_send(const struct wire *w, int fd)
{
	uint64_t n = w->n;

	return write_all(fd, &n, sizeof n) < 0 ? -1 : write_all(fd, w->bytes, w->n);
}

int wire_receive(struct wire *w, int fd)
{
	uint64_t n;
	size_t have = read_all(fd, &n, sizeof n);

	wire_release(w);
	if (have == 0)
		return 0;
	if (have < sizeof n || n > MESSAGE_MAX)
		return -1;
	w->bytes = xmalloc(n + 1);
	w->n = w->room = n;
	w->is_received = true;
	return read_all(fd, w->bytes, n) == n ? 1 : -1;
}

int wire_peek(struct wire *w, int fd, uint64_t *at)
{
	uint64_t n;

	wire_release(w);
	if (pread(fd, &n, sizeof n, (off_t)*at) != (ssize_t)sizeof n || n > MESSAGE_MAX)
		return 0;
	w->bytes = xmalloc(n + 1);
	w->n = w->room = n;
	w->is_received = true;
	if (pread(fd, w->bytes, n, (off_t)(*at + sizeof n)) != (ssize_t)n)
		return 0;
	*at += sizeof n + n;
	return 1;
}
