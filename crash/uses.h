/* Finds out what recovery does with the stores that are not durable when the program ends: reads
 * them, overwrites them, or does not touch them. This shows how much it matters if a crash loses
 * them. */
#ifndef CRASH_USES_H
#define CRASH_USES_H

#include "crash/findings/exploration.h"

enum store_use {
	STORE_UNTOUCHED,
	STORE_OVERWRITTEN /* before recovery reads any of it */,
	STORE_READ
};

struct store_asked {
	uint64_t addr, seq;
	uint32_t size_bytes, site;
	enum store_use use;
};
typedef VEC(struct store_asked) store_asked_list;

struct store_used {
	uint64_t seq;
	enum store_use use; /* the most important use of any store of its site */
};

struct uses {
	VEC(struct store_used) list; /* ascending seq */
};

/* Runs recovery once with nothing lost, and lists what it does with each of these stores. The list
 * stays empty if recovery fails, or if its reads cannot be watched. */
int uses_find(const struct plan *p, const struct crash_options *o, struct uses *out,
	      struct error *err);
/* Finds the `use` of given stores, durable or not. *is_sound: recovery did not fail and could be
 * watched. */
int uses_ask(const struct plan *p, const struct crash_options *o, store_asked_list *list,
	     bool *is_sound, struct error *err);
void uses_release(struct uses *u);
const struct store_used *uses_of(const struct uses *u, uint64_t seq); /* NULL if unknown */

#endif
