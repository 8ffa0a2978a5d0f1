/* Records what was stored before a crash, relative to suspect words: words that recovery reads and
 * the crash could lose. One pass over the trace serves several suspects. */
#ifndef CRASH_RACES_HISTORY_H
#define CRASH_RACES_HISTORY_H

#include "crash/states/walk.h"
#include "util/map.h"

#define HISTORY_LINE 64u /* bytes */
#define HISTORIES_MAX 8u /* suspects per pass; memory grows with them */

/* One word that recovery reads and a crash could lose. */
struct suspect {
	uint64_t addr; /* of the line */
	uint32_t at;   /* offset in the line */
	uint64_t mask; /* of bytes from `at` */
	uint64_t seq;  /* of the store */
};
struct suspects {
	struct suspect *at;
	size_t n, room;
};
bool suspect_touches(const struct suspect *s, uint64_t addr, uint64_t len_bytes);

/* The bytes of one line that stores to other words left, relative to a suspect. */
struct history_line {
	/* stored since the commit write before; valid if `epoch` is that of the history */
	uint64_t recent;
	uint64_t late; /* stored since the store in question */
	uint64_t epoch;
};

struct history {
	struct suspect suspect;
	uint64_t epoch; /* grows with each commit write but the last */
	/* bytes of the suspect, like its mask, that were stored before that store, since an
	 * allocator gave them out */
	uint64_t was_stored;
	bool is_atomic; /* the suspect's store is one atomic store */
};

/* Zero-initialised is empty. */
struct histories {
	struct history list[HISTORIES_MAX];
	size_t n;
	VEC(uint64_t) lines;            /* addresses of all lines that were stored to */
	VEC(struct history_line) cells; /* by line, then by suspect */
	struct map by_line;             /* line → index plus 1 */
};
void histories_release(struct histories *h);
/* Takes the histories of the first suspects of the list (at least one), up to where the walk is. */
void histories_take(struct histories *h, const struct walk *w, const struct suspect *list,
		    size_t n);
/* Do only atomic instructions change the word in the whole trace? Then they begin by reading the 0
 * of the new file, and that 0 is a value. */
bool history_begins_with_zero(const struct walk *w, const struct suspect *s);
/* The index of the suspect's history; SIZE_MAX if it was not taken. */
size_t histories_find(const struct histories *h, const struct suspect *s);
/* The index of a line; SIZE_MAX if it was not stored to. */
size_t histories_line(const struct histories *h, uint64_t line);
/* The cell of a line and a history. number: index of the history. */
static inline const struct history_line *histories_cell(const struct histories *h, size_t line,
							size_t number)
{
	return &h->cells.at[line * h->n + number];
}

#endif
