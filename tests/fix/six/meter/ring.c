/* ring.c - a ring of records in persistent memory */
#include "ring.h"

#if defined(__x86_64__)
#pragma GCC target("clflushopt")
#include <immintrin.h>
#endif

void ring_sync(const void *p, size_t n)
{
	const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63);
	const char *end = (const char *)p + n;

	while (line < end) {
#if defined(__aarch64__)
		__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#else
		_mm_clflushopt((void *)line);
#endif
		line += 64;
	}
#if defined(__aarch64__)
	__asm__ volatile("dsb ish" : : : "memory");
#else
	_mm_sfence();
#endif
}

static uint64_t body_sum(const char *body, size_t len)
{
	uint64_t sum = 1;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + (unsigned char)body[i];
	return sum;
}

int ring_put(struct ring *r, ring_fill_fn fill, void *ctx)
{
	struct ring_slot *s = &r->slots[r->head % RING_SLOTS];

	if (r->head - r->tail == RING_SLOTS)
		return -1;
	s->number = r->head;
	s->len = fill(s->body, sizeof(s->body), ctx);
	s->sum = body_sum(s->body, s->len);
	ring_sync(s, sizeof(*s));
	r->head++;
	ring_sync(&r->head, sizeof(r->head));
	return 0;
}

int ring_take(struct ring *r, ring_take_fn take, void *ctx)
{
	const struct ring_slot *s = &r->slots[r->tail % RING_SLOTS];

	if (r->head == r->tail)
		return -1;
	take(s->body, s->len, ctx);
	r->tail++;
	ring_sync(&r->tail, sizeof(r->tail));
	return 0;
}

int ring_check(const struct ring *r)
{
	if (r->tail > r->head || r->head - r->tail > RING_SLOTS)
		return -1;
	for (uint64_t i = r->tail; i < r->head; i++) {
		const struct ring_slot *s = &r->slots[i % RING_SLOTS];

		if (s->number != i || s->len > RING_BODY || s->sum != body_sum(s->body, s->len))
			return -1;
	}
	return 0;
}
