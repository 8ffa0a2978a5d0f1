/* What dumps printed with nothing lost, by hash: a report shows what a dump was compared with. */
#ifndef CRASH_SEARCH_DUMP_TEXTS_H
#define CRASH_SEARCH_DUMP_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"
#include "util/vec.h"

/* A text as a difference to the one before it: so many bytes of its beginning and end are the
 * same. */
struct dump_text {
	uint64_t hash;
	size_t same_before, same_after, len_bytes; /* the latter: of `middle` */
	char *middle;
};

/* Zero-initialised is empty. */
struct dump_texts {
	VEC(struct dump_text) list;
	struct map by_hash; /* → index in list plus 1 */
	char *last;         /* the text of the newest */
	size_t last_len;
	size_t kept_bytes;
};

/* Texts of a known hash are not kept again; nor is any once there are too many. */
void dump_texts_add(struct dump_texts *t, uint64_t hash, const char *text, size_t len_bytes);
char *dump_texts_find(const struct dump_texts *t, uint64_t hash); /* free() it; NULL: not kept */
void dump_texts_release(struct dump_texts *t);
/* Printable as a string: NUL becomes its symbol, U+2400. free() it. */
char *dump_text_of(const char *bytes, size_t len_bytes);

#endif
