/* The lines that have more than one possible content at a failure point, and sets of crash states.
 * A state has one content per line. A set has, for each line, the contents that are still possible,
 * independently of the other lines:
 *
 *	line A has contents 0 1 2, line B has 0 1     all states: {0 1 2} {0 1}, 6 states
 *	recovery read a byte that is other in 2       the set:    {0 1} {0 1}, 4 states */
#ifndef CRASH_STATES_STATES_H
#define CRASH_STATES_STATES_H

#include "crash/states/image.h"
#include "model/model.h"
#include "util/big.h"
#include "util/map.h"
#include "util/vec.h"

/* An undecided line. A line with one content is listed if its content is not that of the image. */
struct state_line {
	uint64_t addr; /* PM address: file and offset */
	uint32_t ncontents;
	uint32_t words; /* words of its bit set: (ncontents + 63) / 64 */
	/* index of the first content in bytes; contents are sorted, the one that loses most first,
	 * the newest last */
	size_t contents;
	size_t set; /* index of its first word in a bit set of all lines */
	/* of a line with very many contents, one bit per byte in which they are told apart;
	 * otherwise all bits are set */
	uint64_t asked;
	bool is_watched; /* reads of some of its bytes are listed */
	/* index in watches of a bit set of line_bytes bits, in WATCH_BYTES bytes */
	size_t watch;
	/* its bytes, if it is shorter than the set's lines: memory among sectors; 0: it is not */
	uint32_t len_bytes;
};

#define WATCH_BYTES 64u

struct state_set {
	uint32_t line_bytes;
	VEC(struct state_line) lines; /* ascending address */
	VEC(uint8_t) bytes;
	VEC(uint8_t) watches;
	/* address → index of a line plus 1; filled while lines are being watched */
	struct map by_addr;
	size_t nwords;   /* words of a bit set of all lines */
	bool is_partial; /* a line had too many contents to list */
};

/* Contents of a line that are listed without asking. If a line has more, only contents are listed
 * that differ in the bytes that recovery asks for. On arm64, 64 stores of a byte without a barrier
 * have 2^64 contents; a recovery that reads 8 of the bytes sees 256. */
#define STATES_LISTED 64u

/* The bytes that recovery asked for, by address of the line. Zero-initialised is none. */
struct states_asked {
	struct map by_line;
	bool is_all; /* all bytes of all lines */
};
void states_asked_release(struct states_asked *a); /* forgets what was asked for */
void states_ask(struct states_asked *a, uint64_t line, uint64_t bytes);

/* Lists the undecided lines. asked: the bytes in which contents of a line must be told apart; NULL:
 * all contents of all lines. */
void states_collect(struct state_set *s, const struct model *m, const struct states_asked *asked);
/* Lists the lines for callers that need only the newest contents, which are always listed. */
void states_collect_newest(struct state_set *s, const struct model *m);
/* Is there a line whose contents count as one if they differ only in bytes that were not asked
 * for? */
bool states_is_asked(const struct state_set *s);
void states_release(struct state_set *s);
/* Makes the runner list reads of the bytes addr + i, for each bit i of mask; they are all in one
 * line. If the set does not have that line, it is added with the image's content; bit sets that
 * were made before are invalid then. Call states_sort() after the last line. Does nothing if the
 * file does not exist at this moment. */
void states_watch(struct state_set *s, const struct crash_image *im, uint64_t addr, uint64_t mask);
void states_sort(struct state_set *s);
/* Finds the line of this byte; lines must be sorted. NULL: it is not listed. */
const struct state_line *states_line(const struct state_set *s, uint64_t addr);

/* Gives a bit set with every content of every line; free() it. */
uint64_t *states_all(const struct state_set *s);
/* Gives the bit set of the state in which nothing is lost; free() it. */
uint64_t *states_newest(const struct state_set *s);
uint64_t *states_copy(const struct state_set *s, const uint64_t *set);
/* Finds the newest content in a line's own words. False: none is left. */
bool bits_newest(const uint64_t *left, uint32_t words, uint32_t *newest);
/* number of contents of the line that are left */
uint32_t states_left(const struct state_line *l, const uint64_t *set);
uint32_t states_newest_left(const struct state_line *l, const uint64_t *set);
void states_only(const struct state_line *l, uint64_t *set, uint32_t content);
/* Counts the states of the set. */
void states_count(const struct state_set *s, const uint64_t *set, struct big *n);
/* Counts the states of the set, like states_count(), from the number of all states. This is faster
 * if few lines are narrowed. */
void states_count_left(const struct state_set *s, const uint64_t *set, const struct big *all,
		       struct big *n);

static inline uint32_t state_line_bytes(const struct state_set *s, const struct state_line *l)
{
	return l->len_bytes ? l->len_bytes : s->line_bytes;
}
static inline const uint8_t *state_content(const struct state_set *s, const struct state_line *l,
					   uint32_t i)
{
	return s->bytes.at + l->contents + (size_t)i * state_line_bytes(s, l);
}
/* One word of the bit set that has every content of the line. */
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
