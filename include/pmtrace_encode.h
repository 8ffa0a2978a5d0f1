/* Encodes events as bytes, for the recorder and for writers of traces. The reader (trace/) does the
 * reverse with the same predictions. For example, a loop that stores to a[0], a[1], a[2] has one
 * site whose stride is always 8, so each event is a head byte (same thread, next site,
 * PMT_ADDR_STRIDE) and its value.
 *
 * Freestanding. The caller provides PMT_RECORD_MAX_BYTES of room, and the site's state. */
#ifndef PMTRACE_ENCODE_H
#define PMTRACE_ENCODE_H

#include "pmtrace.h"

/* What is remembered of a site for predicting its next event. */
struct pmt_site_state {
	uint64_t last_addr;
	int64_t stride;
	uint64_t last_value;
	uint32_t next; /* the site whose event followed last time */
};

/* What is remembered of a stream. */
struct pmt_encoder {
	uint64_t prev_addr, prev_bytes;
	uint64_t last_node_pc, last_site_pc;
	uint32_t prev_site;
	uint32_t thread;
};

static inline uint8_t *pmt_put_number(uint8_t *p, uint64_t n)
{
	while (n >= 0x80) {
		*p++ = (uint8_t)n | 0x80;
		n >>= 7;
	}
	*p++ = (uint8_t)n;
	return p;
}

static inline uint8_t *pmt_put_signed(uint8_t *p, int64_t n)
{
	return pmt_put_number(p, pmt_zigzag(n));
}

static inline uint8_t *pmt_put_blob(uint8_t *p, const void *data, uint32_t len_bytes)
{
	p = pmt_put_number(p, len_bytes);
	__builtin_memcpy(p, data, len_bytes);
	return p + len_bytes;
}

static inline uint8_t *pmt_put_node(struct pmt_encoder *e, uint8_t *p, uint32_t parent,
				    int is_signal, uint64_t pc)
{
	*p++ = PMT_H_TABLE | PMT_TABLE_NODE << 2;
	p = pmt_put_number(p, (uint64_t)parent << 1 | (is_signal != 0));
	p = pmt_put_signed(p, (int64_t)(pc - e->last_node_pc));
	e->last_node_pc = pc;
	return p;
}

static inline uint8_t *pmt_put_site(struct pmt_encoder *e, uint8_t *p, uint32_t node, uint64_t pc,
				    enum pmt_kind kind, uint32_t size)
{
	*p++ = PMT_H_TABLE | PMT_TABLE_SITE << 2;
	p = pmt_put_number(p, node);
	p = pmt_put_signed(p, (int64_t)(pc - e->last_site_pc));
	*p++ = (uint8_t)kind;
	p = pmt_put_number(p, size);
	e->last_site_pc = pc;
	return p;
}

static inline uint8_t *pmt_put_seq(uint8_t *p, uint64_t skipped)
{
	*p++ = PMT_H_TABLE | PMT_TABLE_SEQ << 2;
	return pmt_put_number(p, skipped);
}

static inline uint8_t *pmt_put_object(uint8_t *p, uint64_t va, uint64_t len_bytes, uint64_t offset,
				      const void *build_id, uint32_t build_id_len, const char *path,
				      uint32_t path_len)
{
	*p++ = PMT_H_TABLE | PMT_TABLE_OBJECT << 2;
	p = pmt_put_number(p, va);
	p = pmt_put_number(p, len_bytes);
	p = pmt_put_number(p, offset);
	p = pmt_put_blob(p, build_id, build_id_len);
	return pmt_put_blob(p, path, path_len);
}

static inline uint8_t *pmt_put_object_gone(uint8_t *p, uint64_t va, uint64_t len_bytes)
{
	*p++ = PMT_H_TABLE | PMT_TABLE_OBJECT_GONE << 2;
	p = pmt_put_number(p, va);
	return pmt_put_number(p, len_bytes);
}

/* Encodes the site of an event. This function and the following ones encode an event piece by
 * piece: the thread and the site, then the address, the value, the arguments as numbers, and the
 * blob. `head`, the event's first byte, is 0 at first, collects bits, and is stored before the rest
 * at the end. prev: the state of the previous event's site, or a zeroed state before the first
 * event. */
static inline uint8_t *pmt_put_site_number(uint32_t *head, uint8_t *p, uint32_t site,
					   struct pmt_site_state *prev)
{
	if (__builtin_expect(prev->next == site, 1)) {
		*head |= PMT_H_NEXT;
		return p;
	}
	prev->next = site;
	return pmt_put_number(p, site);
}

static inline uint8_t *pmt_put_event(struct pmt_encoder *e, uint32_t *head, uint8_t *p,
				     uint32_t thread, uint32_t site, struct pmt_site_state *prev)
{
	if (thread != e->thread) {
		*head |= PMT_H_THREAD;
		p = pmt_put_number(p, thread);
		e->thread = thread;
	}
	e->prev_site = site;
	return pmt_put_site_number(head, p, site, prev);
}

static inline uint8_t *pmt_put_addr(struct pmt_encoder *e, uint32_t *head, uint8_t *p,
				    struct pmt_site_state *s, uint64_t addr, uint32_t size)
{
	int64_t by_site = (int64_t)(addr - s->last_addr);

	s->last_addr = addr;
	if (__builtin_expect(by_site != s->stride, 0)) {
		int64_t by_prev = (int64_t)(addr - e->prev_addr);

		s->stride = by_site;
		if (addr == e->prev_addr + e->prev_bytes) {
			*head |= PMT_ADDR_ADJACENT << PMT_H_ADDR_SHIFT;
		} else if (pmt_zigzag(by_prev) <= pmt_zigzag(by_site)) {
			*head |= PMT_ADDR_NEAR << PMT_H_ADDR_SHIFT;
			p = pmt_put_signed(p, by_prev);
		} else {
			*head |= PMT_ADDR_SITE << PMT_H_ADDR_SHIFT;
			p = pmt_put_signed(p, by_site);
		}
	} /* else PMT_ADDR_STRIDE */
	e->prev_addr = addr;
	e->prev_bytes = size;
	return p;
}

static inline uint8_t *pmt_put_low_bytes(uint32_t *head, uint8_t *p, uint64_t v, uint32_t size)
{
	uint32_t n, code;

	if (v == 0)
		return p;                            /* PMT_VALUE_0 */
	n = (71 - (uint32_t)__builtin_clzll(v)) / 8; /* 1 to 8 */
	code = n <= 4 ? n : n <= 6 && size > 6 ? PMT_VALUE_6 : PMT_VALUE_ALL;
	if (n >= size)
		code = PMT_VALUE_ALL;
	if (code == PMT_VALUE_ALL)
		n = size;
	else if (code == PMT_VALUE_6)
		n = 6;
	*head |= code << PMT_H_VALUE_SHIFT;
	__builtin_memcpy(p, &v, 8); /* may write beyond n, for which there is room */
	return p + n;
}

/* Encodes a value of up to 8 bytes, given as a little-endian number. */
static inline uint8_t *pmt_put_small(uint32_t *head, uint8_t *p, struct pmt_site_state *s,
				     uint64_t v, uint32_t size)
{
	uint64_t delta = pmt_zigzag((int64_t)(v - s->last_value));

	s->last_value = v;
	/* only if it takes at most two bytes, and fewer than v itself */
	if (size > 2 && v >= 1 << 14 && delta < 1 << 14) {
		*head |= PMT_VALUE_DELTA << PMT_H_VALUE_SHIFT;
		return pmt_put_number(p, delta);
	}
	return pmt_put_low_bytes(head, p, v, size);
}

/* Encodes a value of more than 8 bytes: as numbers if that is shorter, as for pointers and
 * zeros. */
static inline uint8_t *pmt_put_words(uint32_t *head, uint8_t *p, const uint8_t *data, uint32_t size)
{
	uint8_t *start = p;
	uint64_t any = 0, w;
	uint32_t at, n;

	for (at = 0; at < size; at += 8) {
		n = size - at < 8 ? size - at : 8;
		w = 0;
		if (n == 8)
			__builtin_memcpy(&w, data + at, 8);
		else
			for (uint32_t i = 0; i < n; i++)
				w |= (uint64_t)data[at + i] << (8 * i);
		any |= w;
		p = pmt_put_number(p, w);
	}
	if (any == 0)
		return start; /* PMT_VALUE_0 */
	if ((uint32_t)(p - start) < size) {
		*head |= PMT_VALUE_WORDS << PMT_H_VALUE_SHIFT;
		return p;
	}
	*head |= PMT_VALUE_ALL << PMT_H_VALUE_SHIFT;
	__builtin_memcpy(start, data, size);
	return start + size;
}

/* Encodes the stored bytes. */
static inline uint8_t *pmt_put_value(uint32_t *head, uint8_t *p, struct pmt_site_state *s,
				     const uint8_t *data, uint32_t size)
{
	uint64_t v = 0;

	if (size > 8)
		return pmt_put_words(head, p, data, size);
	for (uint32_t i = 0; i < size; i++)
		v |= (uint64_t)data[i] << (8 * i);
	return pmt_put_small(head, p, s, v, size);
}

#endif
