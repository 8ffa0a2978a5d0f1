/* What recovery does with stores that are not durable when the program ends: how much it matters
 * that a crash may lose them. */
#ifndef CRASH_USES_H
#define CRASH_USES_H

#include "crash/findings/exploration.h"

enum store_use {
	STORE_UNTOUCHED,
	STORE_OVERWRITTEN /* before anything of it is read */,
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
	enum store_use use; /* of all stores of its site, what matters most */
};

struct uses {
	VEC(struct store_used) list; /* by seq */
};

/* Runs recovery once, where nothing is lost. The list stays empty if it fails there, or if its
 * reads cannot be watched. */
int uses_find(const struct plan *p, const struct crash_options *o, struct uses *out,
	      struct error *err);
/* The same for any stores, durable or not: fills `use`. *is_sound: it did not fail, and could be
 * watched. */
int uses_ask(const struct plan *p, const struct crash_options *o, store_asked_list *list,
	     bool *is_sound, struct error *err);
void uses_release(struct uses *u);
const struct store_used *uses_of(const struct uses *u, uint64_t seq); /* NULL: not known */

#endif
