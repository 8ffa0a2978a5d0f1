/* What a data structure offers to the program around it (driver.c): a map from keys to values, or a
 * log of values. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store; /* an open pool; each structure has its own */

typedef void visit_fn(uint64_t key, uint64_t value, void *arg);

struct structure {
	/* Recovers what a crash left. NULL with a reason in *why if the pool is wrong. NULL without
	 * a reason if there is no pool yet (absent, or its creation was interrupted) and it may not
	 * be created now. */
	struct store *(*open)(const char *path, bool may_write, const char **why);
	void (*close)(struct store *s);
	void (*put)(struct store *s, uint64_t key, uint64_t value);
	bool (*del)(struct store *s, uint64_t key);
	bool (*get)(struct store *s, uint64_t key, uint64_t *value);
	const char *(*check)(struct store *s); /* gives the first thing that is wrong, or NULL */
	/* in any order; only after check() succeeded */
	void (*each)(struct store *s, visit_fn *visit, void *arg);

	/* A log instead of a map: put() appends, and its key must be the number of records; this
	 * replaces del(). */
	void (*truncate)(struct store *s);
	uint64_t (*count)(struct store *s);
};

extern const struct structure structure;

/* for failures that are not the pool's fault: out of memory, pool full */
_Noreturn void die(const char *what);
void *need(void *memory); /* gives the memory; dies if it is NULL */

/* Mixes words into a checksum that is never 0. */
uint64_t checksum(const void *words, size_t len_bytes, uint64_t seed);

#endif
