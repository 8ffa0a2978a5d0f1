/* Saves what a part of an exploration has done, repeatedly, in the part's file. So the part can be
 * killed at any time and continued later. */
#ifndef DISTRIBUTE_SHARD_KEEPER_H
#define DISTRIBUTE_SHARD_KEEPER_H

#include "crash/setup/crash_setup.h"

struct keeper {
	struct crash_setup *setup;
	struct crash_parts parts;
	const char *path;  /* file of the part */
	bool is_continued; /* continue an existing file */
	const char *trace; /* name of the trace in the part's report */
	char *fingerprint;
	char *data; /* the last state that was saved, in base64; NULL if none was */
	uint64_t nshare, ndone;
	struct crash_result done; /* what an earlier run has done */
	/* how `pmend test` checks the execution at the end; NULL: not at all */
	const struct word_list *checks;
	char *failure; /* why it could not be saved; NULL if it could */
};

/* Makes the setup, whose shard is known, save its progress at `path`, and mark its report as a
 * part. checks: as in struct keeper. */
void keeper_init(struct keeper *k, struct crash_setup *s, const struct word_list *checks,
		 const char *path, bool is_continued);
void keeper_release(struct keeper *k);

#endif
