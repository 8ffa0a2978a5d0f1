/* A hash table of the newest stores, with open addressing. Whenever it is full, it forgets what has
 * become durable, so its size follows the number of stores that a crash could lose. */
#include "check/newest.h"

#include <stdlib.h>

#include "util/alloc.h"

#define WORD_BYTES 8u
#define ROOM_LEAST 1024u
/* Of a longer store (a copy by the kernel), the words behind are left out. */
#define STORE_MAX 4096u

void newest_release(struct newest *n)
{
	free(n->slots);
	*n = (struct newest){ 0 };
}

static struct newest_store *slot_of(const struct newest *n, uint64_t key)
{
	const uint64_t h = key * 0x9e3779b97f4a7c15u;
	size_t i = (h ^ h >> 32) & (n->room - 1);

	while (n->slots[i].key && n->slots[i].key != key)
		i = (i + 1) & (n->room - 1);
	return &n->slots[i];
}

bool newest_is_durable(struct newest_store *s, const struct model *m)
{
	if (s->seq != 0 && model_is_durable(m, newest_addr(s), (uint64_t)(s->to - s->from)))
		s->seq = 0;
	return s->seq == 0;
}

/* Makes room: forgets what is durable, and takes a table that is at most a quarter full. */
static void make_room(struct newest *n, const struct model *m)
{
	struct newest old = *n;
	size_t kept = 0;

	for (size_t i = 0; i < old.room; i++)
		kept += old.slots[i].key && !newest_is_durable(&old.slots[i], m);
	*n = (struct newest){ .n = kept, .room = ROOM_LEAST };
	while (n->room < 4 * kept)
		n->room *= 2;
	n->slots = xcalloc(n->room, sizeof *n->slots);
	for (size_t i = 0; i < old.room; i++)
		if (old.slots[i].key && old.slots[i].seq)
			*slot_of(n, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

/* Does the store leave the word as its newest store did, which is durable? Then a crash loses
 * nothing. */
static bool is_repeated(struct newest_store *s, const struct model *m, uint8_t from, uint8_t to,
			uint64_t value)
{
	return s->key && s->is_known && s->from == from && s->to == to && s->value == value &&
	       newest_is_durable(s, m);
}

void newest_note(struct newest *n, const struct model *m, const struct trace_event *ev,
		 uint32_t who)
{
	const uint32_t len = ev->size_bytes < STORE_MAX ? ev->size_bytes : STORE_MAX;
	const uint64_t end = ev->addr + len;

	for (uint64_t addr = ev->addr, next; addr < end; addr = next) {
		const uint64_t word = addr / WORD_BYTES, at = addr - ev->addr;
		struct newest_store *s;
		uint64_t value = 0;
		bool is_known;

		next = (word + 1) * WORD_BYTES < end ? (word + 1) * WORD_BYTES : end;
		if (2 * (n->n + 1) > n->room)
			make_room(n, m);
		s = slot_of(n, word + 1);
		is_known = ev->data && at + (next - addr) <= ev->data_len;
		if (is_known)
			memcpy(&value, ev->data + at, next - addr);
		if (is_known && is_repeated(s, m, (uint8_t)(addr % WORD_BYTES),
					    (uint8_t)(next - word * WORD_BYTES), value))
			continue;
		n->n += !s->key;
		*s = (struct newest_store){ .key = word + 1,
					    .seq = ev->seq,
					    .site = ev->site,
					    .who = who,
					    .from = (uint8_t)(addr % WORD_BYTES),
					    .to = (uint8_t)(next - word * WORD_BYTES),
					    .value = value,
					    .is_known = is_known };
	}
}

/* Can these bits be a mark in a pointer to value, or in an offset? */
static bool is_mark(uint64_t bits, uint64_t value)
{
	return value >= PMT_PAGE_BYTES && (bits & ~(7ul | 0xfffful << 48)) == 0;
}

bool newest_is_cleared(const struct newest *n, const struct model *m, const struct trace_event *ev)
{
	struct newest_store *s = n->room ? slot_of(n, ev->addr / WORD_BYTES + 1) : NULL;
	uint64_t value = 0;

	if (!s || !s->key || newest_addr(s) != ev->addr ||
	    (uint32_t)(s->to - s->from) != ev->size_bytes || ev->data_len != ev->size_bytes)
		return false;
	memcpy(&value, ev->data, ev->size_bytes);
	if (!trace_is_atomic(ev) && ev->kind != PMT_STORE_ORDERED &&
	    !is_mark(s->value & ~value, value)) /* C11's release store is a plain one on amd64 */
		return false;
	return value != 0 && value != s->value && (value & ~s->value) == 0 &&
	       newest_is_durable(s, m);
}

void newest_settle(struct newest *n, uint64_t addr)
{
	slot_of(n, addr / WORD_BYTES + 1)->seq = 0;
}

struct newest_store *newest_find(const struct newest *n, uint64_t addr)
{
	struct newest_store *s = n->room ? slot_of(n, addr / WORD_BYTES + 1) : NULL;

	return s && s->key && s->seq ? s : NULL;
}
