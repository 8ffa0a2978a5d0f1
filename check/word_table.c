/* A hash table of words of PM, with open addressing. A word that is removed keeps its slot, so that
 * no search ends too early. */
#include "check/word_table.h"

#include <stdlib.h>

#include "util/alloc.h"

void words_release(struct words *w)
{
	free(w->slots);
	*w = (struct words){ 0 };
}

static struct word *slot_of(const struct words *w, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15u;
	size_t i = (h ^ h >> 32) & (w->room - 1);

	while (w->slots[i].key && w->slots[i].key != key)
		i = (i + 1) & (w->room - 1);
	return &w->slots[i];
}

static void grow(struct words *w)
{
	struct words old = *w;

	w->room = old.room ? 2 * old.room : 64;
	w->slots = xcalloc(w->room, sizeof *w->slots);
	for (size_t i = 0; i < old.room; i++)
		if (old.slots[i].key)
			*slot_of(w, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

/* Gives the bytes of the word at `word` that are in [addr, end), as bits. */
static uint8_t bits_in(uint64_t word, uint64_t addr, uint64_t end)
{
	uint8_t bits = 0xff;

	if (addr > word)
		bits = (uint8_t)(bits << (addr - word));
	if (end < word + WORD_BYTES)
		bits &= (uint8_t)(0xff >> (word + WORD_BYTES - end));
	return bits;
}

void words_note(struct words *w, uint64_t addr, uint32_t len_bytes, uint32_t tx,
		const struct trace_site *site)
{
	uint64_t end = addr + len_bytes;

	for (uint64_t word = addr & ~(uint64_t)(WORD_BYTES - 1); word < end; word += WORD_BYTES) {
		struct word *slot;

		if (2 * (w->n + 1) > w->room)
			grow(w);
		slot = slot_of(w, word / WORD_BYTES + 1);
		if (!slot->key)
			w->n++;
		slot->key = word / WORD_BYTES + 1;
		slot->bytes |= bits_in(word, addr, end);
		slot->tx = tx;
		slot->site = site;
	}
}

static void forget_in(struct word *slot, uint64_t addr, uint64_t end)
{
	uint64_t word = (slot->key - 1) * WORD_BYTES;

	if (!slot->key || word >= end || word + WORD_BYTES <= addr)
		return;
	slot->bytes &= (uint8_t)~bits_in(word, addr, end);
	if (!slot->bytes)
		slot->is_proper = false;
}

void words_forget(struct words *w, uint64_t addr, uint64_t len_bytes)
{
	uint64_t end = len_bytes > UINT64_MAX - addr ? UINT64_MAX : addr + len_bytes;

	if (len_bytes / WORD_BYTES >= w->room) {
		for (size_t i = 0; i < w->room; i++)
			forget_in(&w->slots[i], addr, end);
		return;
	}
	for (uint64_t word = addr & ~(uint64_t)(WORD_BYTES - 1); word < end; word += WORD_BYTES)
		forget_in(slot_of(w, word / WORD_BYTES + 1), addr, end);
}

struct word *words_find(const struct words *w, uint64_t addr)
{
	struct word *slot = w->room ? slot_of(w, addr / WORD_BYTES + 1) : NULL;

	return slot && slot->key && slot->bytes ? slot : NULL;
}

bool words_touch(const struct words *w, uint64_t addr, uint32_t len_bytes)
{
	uint64_t end = addr + len_bytes;
	const struct word *slot;

	for (uint64_t word = addr & ~(uint64_t)(WORD_BYTES - 1); word < end; word += WORD_BYTES)
		if ((slot = words_find(w, word)) && slot->bytes & bits_in(word, addr, end))
			return true;
	return false;
}

/* Finds the first known word in these ranges for which f is true. */
static struct word *word_find(const struct words *w, const struct ranges *r,
			      bool (*f)(struct word *word))
{
	for (size_t i = 0; i < r->list.n; i++) {
		uint64_t addr = r->list.at[i].from & ~(uint64_t)(WORD_BYTES - 1);

		for (; addr < r->list.at[i].to; addr += WORD_BYTES) {
			struct word *word = words_find(w, addr);

			if (word && f(word))
				return word;
		}
	}
	return NULL;
}

static bool word_is_known(struct word *word)
{
	(void)word;
	return true;
}

static bool word_is_proper(struct word *word)
{
	return word->is_proper;
}

static bool word_set_proper(struct word *word)
{
	word->is_proper = true;
	return false;
}

const struct word *words_first(const struct words *w, const struct ranges *r)
{
	return word_find(w, r, word_is_known);
}

bool words_has_proper(const struct words *w, const struct ranges *r)
{
	return word_find(w, r, word_is_proper) != NULL;
}

void words_set_proper(struct words *w, const struct ranges *r)
{
	word_find(w, r, word_set_proper);
}
