/* The lines that have more than one possible content at a failure point, and sets of crash states:
 * for each line, which of its contents are still possible. A state is one content a line. */
#ifndef CRASH_STATES_STATES_H
#define CRASH_STATES_STATES_H

#include "crash/states/image.h"
#include "model/model.h"
#include "util/big.h"
#include "util/map.h"
#include "util/vec.h"

/* A line with one content is listed, too, where that is not the image's. */
struct state_line {
	uint64_t addr; /* PM address: file and offset */
	uint32_t ncontents;
	uint32_t words; /* of a bit set: (ncontents + 63) / 64 */
	/* index of the first byte in bytes; contents are sorted from the one that loses most to the
	 * newest */
	size_t contents;
	size_t set; /* index of its first word in a bit set of all lines */
	/* where there are very many contents: a bit for each byte in which they are told apart.
	 * Else all are set */
	uint64_t asked;
	bool is_watched; /* reads of some of its bytes are to be listed */
	/* index in watches of a bit set of line_bytes bits, in WATCH_BYTES bytes */
	size_t watch;
};

#define WATCH_BYTES 64u

struct state_set {
	uint32_t line_bytes;
	VEC(struct state_line) lines; /* by address */
	VEC(uint8_t) bytes;
	VEC(uint8_t) watches;
	struct map by_addr; /* index of a line plus 1, while lines are being watched */
	size_t nwords;      /* of a bit set of all lines */
	bool is_partial;    /* some line had too many contents to list */
};

/* A line with more contents than this is listed by what is asked for: 64 stores of a byte without a
 * barrier on arm64 have 2^64 contents, of which a recovery that reads 8 of the bytes sees 256. */
#define STATES_LISTED 64u

/* The bytes that were asked for, by address of a line. Zero-initialised is none. */
struct states_asked {
	struct map by_line;
	bool is_all; /* of all lines */
};
void states_asked_release(struct states_asked *a); /* nothing is asked for again */
void states_ask(struct states_asked *a, uint64_t line, uint64_t bytes);

/* asked: NULL: all contents of all lines. */
void states_collect(struct state_set *s, const struct model *m, const struct states_asked *asked);
/* Where only the newest contents are of interest, which are always there. */
void states_collect_newest(struct state_set *s, const struct model *m);
/* Contents of some line are told apart by what was asked for only. */
bool states_is_asked(const struct state_set *s);
void states_release(struct state_set *s);
/* Reads of the bytes addr + i, for each bit i of mask, all in one line, are to be listed. Adds the
 * line, with the image's content, if it is not there: sets that were made before are no longer sets
 * of it. Call states_sort() after the last. Nothing if the file is not there now. */
void states_watch(struct state_set *s, const struct crash_image *im, uint64_t addr, uint64_t mask);
void states_sort(struct state_set *s);
/* The line of this byte, in sorted lines; NULL: it is not listed. */
const struct state_line *states_line(const struct state_set *s, uint64_t addr);

/* A bit set with every content of every line; free() it. */
uint64_t *states_all(const struct state_set *s);
/* the state in which nothing is lost; free() it */
uint64_t *states_newest(const struct state_set *s);
uint64_t *states_copy(const struct state_set *s, const uint64_t *set);
/* The newest content of a line's own words; false: none is left. */
bool bits_newest(const uint64_t *left, uint32_t words, uint32_t *newest);
/* how many contents of the line are left */
uint32_t states_left(const struct state_line *l, const uint64_t *set);
uint32_t states_newest_left(const struct state_line *l, const uint64_t *set);
void states_only(const struct state_line *l, uint64_t *set, uint32_t content);
/* how many states */
void states_count(const struct state_set *s, const uint64_t *set, struct big *n);
/* The same, from how many there are in all, which is faster where few lines are narrowed. */
void states_count_left(const struct state_set *s, const uint64_t *set, const struct big *all,
		       struct big *n);

static inline const uint8_t *state_content(const struct state_set *s, const struct state_line *l,
					   uint32_t i)
{
	return s->bytes.at + l->contents + (size_t)i * s->line_bytes;
}
/* Of a bit set with every content of the line. */
static inline uint64_t states_word(const struct state_line *l, uint32_t word)
{
	return word + 1 < l->words || l->ncontents % 64 == 0
		       ? ~(uint64_t)0
		       : ((uint64_t)1 << l->ncontents % 64) - 1;
}
static inline bool bit_get(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}
static inline void bit_put(uint64_t *set, uint32_t i, bool on)
{
	set[i / 64] = (set[i / 64] & ~((uint64_t)1 << i % 64)) | (uint64_t)on << i % 64;
}

#endif
