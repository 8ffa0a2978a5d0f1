/* Keeps in shared memory what all workers know about races. A conclusion about a pair (a reading
 * and a storing place) depends on earlier conclusions, and only the first failure points of a pair
 * are asked. So conclusions are drawn in the order of failure points, each when all earlier points
 * are done; they are the same as with one worker. Nobody waits for a pair that is settled. */
#ifndef CRASH_RACES_RACE_TABLE_H
#define CRASH_RACES_RACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

/* failure points at which a pair is asked; the same places would show the same again */
#define RACE_TRIES 2u

/* What is known about all reads at one place of what one place stored. */
struct race_entry {
	uint64_t pc;
	uint32_t part, site, kind;
	uint32_t state;            /* enum race_state */
	uint32_t tries, is_closed; /* is_closed: more tries change nothing */
	uint32_t is_doubted;       /* a try proved nothing */
	/* of inconsistent data: how often the variable made recovery read it, and how often not */
	uint32_t nselected, nrefuted;
};

struct race_table;
struct race_table *race_table_new(uint32_t nworkers); /* for at most so many workers */
/* Prepares for nworkers workers that have claimed nothing yet; keeps what is known. */
void race_table_reset(struct race_table *t, uint32_t nworkers);
void race_table_clear(struct race_table *t); /* forgets everything; only while no worker runs */
void race_table_free(struct race_table *t);  /* NULL is allowed */
/* Notes that a worker comes to the failure point that was claimed n-th; UINT64_MAX: it comes to no
 * more. */
void race_table_begin(struct race_table *t, uint32_t worker, uint64_t n);
/* Waits until all that was claimed earlier is done. False: *is_stopped became true. */
bool race_table_wait(const struct race_table *t, uint32_t worker, const uint32_t *is_stopped);
/* Are both entries about one pair of places: the place that reads and the place that stored what is
 * read? */
bool race_entry_is_same(const struct race_entry *a, const struct race_entry *b);
/* Finds an entry; NULL: nothing is known. */
struct race_entry *race_table_find(const struct race_table *t, const struct race_entry *key);
/* Finds or adds an entry; only after race_table_wait(). NULL: the table is full. */
struct race_entry *race_table_get(struct race_table *t, const struct race_entry *key);
/* everything that is known */
typedef VEC(struct race_entry) race_entries;
void race_table_list(const struct race_table *t, race_entries *list);
/* Adds an entry that is known already, before workers start. */
void race_table_put(struct race_table *t, const struct race_entry *e);
/* Is the entry settled, so that nothing more is asked about it? May be called at any time. */
bool race_entry_is_final(const struct race_entry *e);

#endif
