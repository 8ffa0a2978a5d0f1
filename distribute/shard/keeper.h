/* Keeps what a shard has done in its file, again and again, so that it can be killed at any time
 * and go on. */
#ifndef DISTRIBUTE_SHARD_KEEPER_H
#define DISTRIBUTE_SHARD_KEEPER_H

#include "crash/setup/crash_setup.h"

struct keeper {
	struct crash_setup *setup;
	struct crash_parts parts;
	const char *path;  /* of the part */
	bool is_continued; /* it may be there already: go on */
	const char *trace; /* what it is called in the part */
	char *fingerprint;
	char *data; /* base64: the newest that was kept; NULL: nothing yet */
	uint64_t nshare, ndone;
	struct crash_result done; /* what an earlier run had done */
	/* of `pmend test`: how the execution is judged in the end; NULL: it is not */
	const struct word_list *checks;
	char *failure; /* why it could not be kept; NULL: it could */
};

/* Has the setup, whose shard is known, keep what it explores at `path`, and tell of it in its
 * report. checks: see above. */
void keeper_init(struct keeper *k, struct crash_setup *s, const struct word_list *checks,
		 const char *path, bool is_continued);
void keeper_release(struct keeper *k);

#endif
