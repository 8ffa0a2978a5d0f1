/* Several traces that are judged as one: each by itself, by one process or by several, and their
 * reports put together. */
#ifndef DISTRIBUTE_SHARD_CHECKS_H
#define DISTRIBUTE_SHARD_CHECKS_H

#include "crash/findings/exploration.h"
#include "report/bug.h"
#include "session/checking.h"
#include "util/vec.h"

struct checked_trace {
	char *name;    /* as the user gave it */
	uint64_t size; /* bytes */
	bool is_ours;  /* this process judges it */
	bool is_whole; /* finding nothing in it means something */
	/* finished, as JSON: what was found, nothing hidden. NULL: it was not judged yet */
	char *report;
};

struct checks {
	VEC(struct checked_trace) list; /* in the order in which they were given */
	struct shard shard;             /* of: 0, all */
	char *fingerprint;              /* of a part */
	const char *platform;           /* of a part: for the head of one that has no trace */
	bool is_platform_chosen;        /* likewise */
	const char *path;               /* where it is kept; NULL: nowhere */
};

/* These traces; of a shard, whole ones are dealt out by size. platform: as the user said it, or
 * NULL. -1: one cannot be read. */
int checks_init(struct checks *k, char *const *traces, size_t n, struct shard shard,
		const struct checking *c, const char *platform, struct error *err);
void checks_release(struct checks *k);
/* Takes the finished report of one of them. */
void checks_done(struct checks *k, size_t i, struct report *r, bool is_whole);

/* All that was judged becomes one report, which is not finished: bugs that several have are one,
 * counts add up. is_whole: as of a trace. NULL: they cannot be one report. */
struct report *checks_sum(const struct checks *k, bool *is_whole, struct error *err);

/* ---- parts ---- */

/* The report becomes one of this part. */
void checks_tell(const struct checks *k, struct report *r);
/* Writes what was judged so far to k->path. */
int checks_keep(const struct checks *k, struct error *err);
/* Takes what an earlier run of this part, which k->path holds, had judged. */
int checks_go_on(struct checks *k, struct error *err);
/* Adds a part to what is empty, or has others of the same. name: of its file. -1: it is damaged, or
 * not of these. */
int checks_add(struct checks *k, const struct report_shard *s, const char *name, struct error *err);

#endif
