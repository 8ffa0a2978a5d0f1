/* Checks several traces as one: each trace by itself, in one process or in several (shards), and
 * adds up the reports. */
#ifndef DISTRIBUTE_SHARD_CHECKS_H
#define DISTRIBUTE_SHARD_CHECKS_H

#include "crash/findings/exploration.h"
#include "report/bug.h"
#include "session/checking.h"
#include "util/vec.h"

struct checked_trace {
	char *name;    /* as the user gave it */
	uint64_t size; /* in bytes */
	bool is_ours;  /* this process checks it */
	bool is_whole; /* finding nothing in it means that nothing is wrong */
	/* the finished report as JSON, with everything that was found; NULL if the trace is not
	 * checked yet */
	char *report;
};

struct checks {
	VEC(struct checked_trace) list; /* in the user's order */
	struct shard shard;             /* shard.of is 0 if this process checks all */
	char *fingerprint;              /* of a part; else NULL */
	/* of a part; goes into the report of a part without traces */
	const char *platform;
	bool is_platform_chosen; /* of a part */
	const char *path;        /* file of the part; NULL if it is not kept */
};

/* Lists the traces and deals them out by size. platform is the user's choice, or NULL. -1 if a
 * trace cannot be read. */
int checks_init(struct checks *k, char *const *traces, size_t n, struct shard shard,
		const struct checking *c, const char *platform, struct error *err);
void checks_release(struct checks *k);
/* Takes the finished report of trace i. */
void checks_done(struct checks *k, size_t i, struct report *r, bool is_whole);

/* Adds up all reports into one, which is not finished: equal bugs become one, and counts are added.
 * *is_whole: finding nothing in the traces means that nothing is wrong. NULL if the reports do not
 * fit together. */
struct report *checks_sum(const struct checks *k, bool *is_whole, struct error *err);

/* ---- parts ---- */

/* Makes r the report of the part that this process checks (k->shard): adds to r the number of the
 * part, and what was found in its traces so far. */
void checks_tell(const struct checks *k, struct report *r);
/* Writes what was checked so far to k->path. */
int checks_keep(const struct checks *k, struct error *err);
/* Takes over what an earlier run of this part wrote to k->path. */
int checks_go_on(struct checks *k, struct error *err);
/* Adds a part to an empty k, or to one that has other parts of the same check. name is that of its
 * file. -1 if it is damaged or belongs to another check. */
int checks_add(struct checks *k, const struct report_shard *s, const char *name, struct error *err);

#endif
