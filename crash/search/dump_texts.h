/* Keeps what dumps printed with nothing lost, by hash. A report shows the text with which a dump
 * was compared. */
#ifndef CRASH_SEARCH_DUMP_TEXTS_H
#define CRASH_SEARCH_DUMP_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"
#include "util/vec.h"

/* A text as the difference from the text before it: both begin with the same same_before bytes and
 * end with the same same_after bytes. */
struct dump_text {
	uint64_t hash;
	size_t same_before, same_after, len_bytes; /* len_bytes is the length of `middle` */
	char *middle;
};

/* Zero-initialised is empty. */
struct dump_texts {
	VEC(struct dump_text) list;
	struct map by_hash; /* hash → index in list plus 1 */
	char *last;         /* the whole text that was added last */
	size_t last_len;
	size_t kept_bytes;
};

/* Adds a text unless its hash is known already, or the texts take too much memory. */
void dump_texts_add(struct dump_texts *t, uint64_t hash, const char *text, size_t len_bytes);
/* free() it; NULL if the text was not kept */
char *dump_texts_find(const struct dump_texts *t, uint64_t hash);
void dump_texts_release(struct dump_texts *t);
/* Makes a string of the bytes: NUL becomes its symbol, U+2400. free() it. */
char *dump_text_of(const char *bytes, size_t len_bytes);

#endif
