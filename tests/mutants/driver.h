/* What a data structure offers to the program around it (driver.c): a map from keys to values, or a log of values. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store; /* an open pool; each structure has its own */

typedef void visit_fn(uint64_t key, uint64_t value, void *arg);

struct structure {
	/* Recovers what a crash left. NULL: *why says what is wrong with the pool; without a reason, there is no pool yet (absent,
	 * or its creation was interrupted), which can only happen if it may not be created now. */
	struct store *(*open)(const char *path, bool may_write, const char **why);
	void (*close)(struct store *s);
	void (*put)(struct store *s, uint64_t key, uint64_t value);
	bool (*del)(struct store *s, uint64_t key);
	bool (*get)(struct store *s, uint64_t key, uint64_t *value);
	const char *(*check)(struct store *s); /* the first thing that is wrong; NULL: nothing is */
	void (*each)(struct store *s, visit_fn *visit, void *arg); /* in no order; only after a good check */

	/* A log instead of a map: put() appends and its key must be the number of records; instead of del() there is this. */
	void (*truncate)(struct store *s);
	uint64_t (*count)(struct store *s);
};

extern const struct structure structure;

_Noreturn void die(const char *what); /* for what is neither the pool's fault nor to be handled: out of memory, pool full */
void *need(void *memory); /* or dies */

/* Mixes words into a checksum that is never 0. */
uint64_t checksum(const void *words, size_t len_bytes, uint64_t seed);

#endif
