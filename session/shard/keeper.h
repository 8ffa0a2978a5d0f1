/* Keeps what a shard has done in its file, again and again, so that it can be killed at any time and go on. */
#ifndef SESSION_SHARD_KEEPER_H
#define SESSION_SHARD_KEEPER_H

#include "session/crash_setup.h"

struct keeper {
	struct crash_setup *setup;
	const char *path;  /* of the part; NULL: it is not kept while it grows */
	const char *trace; /* what it is called in the part */
	char *fingerprint;
	char *data;	   /* base64: the newest that was kept; NULL: nothing yet */
	uint64_t nshare, ndone;
	struct wire done;  /* what an earlier run had done */
	struct crash_result sum; /* the same, if that was all */
	char *failure;	   /* why it could not be kept; NULL: it could */
};

/* Has the setup explore one shard of the trace, and keep it. Goes on where the part ended, if that is wanted and there is one. The plan was made. -1 with err. */
int keeper_init(struct keeper *k, struct crash_setup *s, const char *trace, const char *kept, struct error *err);
/* The report becomes one of this part. */
void keeper_tell(const struct keeper *k, struct report *r);
void keeper_release(struct keeper *k);

#endif
