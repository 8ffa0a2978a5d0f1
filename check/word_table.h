/* A hash table of facts about words of PM (8 bytes, aligned). It has only words that somebody asked
 * about, and grows. */
#ifndef CHECK_WORD_TABLE_H
#define CHECK_WORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/ranges.h"

#define WORD_BYTES 8u

struct trace_site;

struct word {
	uint64_t key;                  /* address / 8 + 1; 0: the slot is free */
	const struct trace_site *site; /* of the last store in a transaction */
	uint32_t tx;                   /* number of that transaction */
	uint8_t bytes;                 /* bit i: byte i was stored to; 0: nothing is known */
	bool is_proper;                /* also changed correctly outside of transactions */
};

struct words {
	struct word *slots;
	size_t n, room; /* room is a power of two, or 0 */
};

void words_release(struct words *w);
void words_note(struct words *w, uint64_t addr, uint32_t len_bytes, uint32_t tx,
		const struct trace_site *site);
void words_forget(struct words *w, uint64_t addr, uint64_t len_bytes);
/* the word that contains addr; NULL if nothing is known about it */
struct word *words_find(const struct words *w, uint64_t addr);
/* was one of these bytes stored to? */
bool words_touch(const struct words *w, uint64_t addr, uint32_t len_bytes);

/* Finds the first word in these ranges about which something is known. */
const struct word *words_first(const struct words *w, const struct ranges *r);
bool words_has_proper(const struct words *w, const struct ranges *r);
void words_set_proper(struct words *w, const struct ranges *r);

#endif
