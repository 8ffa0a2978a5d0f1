/* What was stored before a crash, as seen from words that recovery reads and the crash could lose.
 * One pass over the trace does for several. */
#ifndef CRASH_RACES_HISTORY_H
#define CRASH_RACES_HISTORY_H

#include "crash/states/walk.h"
#include "util/map.h"

#define HISTORY_LINE 64u /* bytes */
#define HISTORIES_MAX 8u /* suspects of one pass: memory grows with them */

/* One word that recovery reads and a crash could lose. */
struct suspect {
	uint64_t addr; /* of the line */
	uint32_t at;   /* in the line */
	uint64_t mask; /* of bytes from at */
	uint64_t seq;  /* of the store */
};
struct suspects {
	struct suspect *at;
	size_t n, room;
};
bool suspect_touches(const struct suspect *s, uint64_t addr, uint64_t len_bytes);

/* Of one line: bytes that other stores than those to the suspect left. */
struct history_line {
	uint64_t recent; /* since the commit write before, if `epoch` is that of the history */
	uint64_t late;   /* since the store in question */
	uint64_t epoch;
};

struct history {
	struct suspect suspect;
	uint64_t epoch; /* grows with each commit write but the last */
	/* bytes of the suspect, like its mask: before that store, since an allocator handed them
	 * out */
	uint64_t was_stored;
	bool is_atomic; /* the suspect's store is */
};

/* Zero-initialised is empty. */
struct histories {
	struct history list[HISTORIES_MAX];
	size_t n;
	VEC(uint64_t) lines;            /* addresses of all that were stored to */
	VEC(struct history_line) cells; /* of each line, one for each suspect */
	struct map by_line;             /* index plus 1 */
};
void histories_release(struct histories *h);
/* Of the first suspects, up to where the walk is. At least one is taken. */
void histories_take(struct histories *h, const struct walk *w, const struct suspect *list,
		    size_t n);
/* In the whole trace, only atomic instructions change the word, and so begin with the 0 of a new
 * file, which they read: that 0 is a value. */
bool history_begins_with_zero(const struct walk *w, const struct suspect *s);
/* The number of the suspect's history; SIZE_MAX: it was not taken. */
size_t histories_find(const struct histories *h, const struct suspect *s);
/* The index of a line; SIZE_MAX: it was not stored to. */
size_t histories_line(const struct histories *h, uint64_t line);
/* number: of the history. */
static inline const struct history_line *histories_cell(const struct histories *h, size_t line,
							size_t number)
{
	return &h->cells.at[line * h->n + number];
}

#endif
