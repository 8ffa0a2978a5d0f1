/* What is known of words of PM (8 bytes, aligned), for as many of them as somebody was interested
 * in: a hash table that grows. */
#ifndef CHECK_WORD_TABLE_H
#define CHECK_WORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/ranges.h"

#define WORD_BYTES 8u

struct trace_site;

struct word {
	uint64_t key;                  /* address / 8 + 1; 0: free */
	const struct trace_site *site; /* of the last store to it in a transaction */
	uint32_t tx;                   /* the number of that transaction */
	uint8_t bytes;                 /* bit i: byte i was stored to; 0: nothing is known */
	bool is_proper;                /* also changed outside of transactions, in the right way */
};

struct words {
	struct word *slots;
	size_t n, room; /* room is a power of two, or 0 */
};

void words_release(struct words *w);
void words_note(struct words *w, uint64_t addr, uint32_t len_bytes, uint32_t tx,
		const struct trace_site *site);
void words_forget(struct words *w, uint64_t addr, uint64_t len_bytes);
/* NULL if nothing is known of the word that holds addr */
struct word *words_find(const struct words *w, uint64_t addr);
/* one of these bytes was stored to */
bool words_touch(const struct words *w, uint64_t addr, uint32_t len_bytes);

/* Of the words in these ranges of which something is known: */
const struct word *words_first(const struct words *w, const struct ranges *r);
bool words_has_proper(const struct words *w, const struct ranges *r);
void words_set_proper(struct words *w, const struct ranges *r);

#endif
