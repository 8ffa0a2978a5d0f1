/* What all workers know together about races, in memory that they share. What is concluded about a
 * pair depends on what was concluded before, and only the first failure points of a pair are asked:
 * so conclusions are drawn in the order of failure points, each when all earlier points are done,
 * and are those of a single worker. A pair that is settled is not waited for. */
#ifndef CRASH_RACES_RACE_TABLE_H
#define CRASH_RACES_RACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

#define RACE_TRIES 2u /* for one pair: the same places tell the same again and again */

/* About all reads at one place of what one place stored. */
struct race_entry {
	uint64_t pc;
	uint32_t part, site, kind;
	uint32_t state;            /* enum race_state */
	uint32_t tries, is_closed; /* is_closed: more tries change nothing */
	uint32_t is_doubted;       /* a try told nothing */
	/* of what is not consistent: how often the variable made recovery read it, and how often
	 * not */
	uint32_t nselected, nrefuted;
};

struct race_table;
struct race_table *race_table_new(uint32_t nworkers); /* at most */
/* So many workers begin, and have claimed nothing yet; what is known stays known. */
void race_table_reset(struct race_table *t, uint32_t nworkers);
void race_table_clear(struct race_table *t); /* nothing is known; only while there are no workers */
void race_table_free(struct race_table *t);  /* NULL is fine */
/* A worker comes to the failure point that was claimed n-th; UINT64_MAX: it will come to no
 * more. */
void race_table_begin(struct race_table *t, uint32_t worker, uint64_t n);
/* Until all that was claimed before is done. False: *is_stopped. */
bool race_table_wait(const struct race_table *t, uint32_t worker, const uint32_t *is_stopped);
/* Both are about reads at one place of what one place stored. */
bool race_entry_is_same(const struct race_entry *a, const struct race_entry *b);
/* NULL: nothing is known. */
struct race_entry *race_table_find(const struct race_table *t, const struct race_entry *key);
/* Only after race_table_wait(). NULL: there is no room. */
struct race_entry *race_table_get(struct race_table *t, const struct race_entry *key);
/* All that is known. */
typedef VEC(struct race_entry) race_entries;
void race_table_list(const struct race_table *t, race_entries *list);
/* Before there are workers: this is known. */
void race_table_put(struct race_table *t, const struct race_entry *e);
/* Nothing more will be asked about it; may be asked at any time. */
bool race_entry_is_final(const struct race_entry *e);

#endif
