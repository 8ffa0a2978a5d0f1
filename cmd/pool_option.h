/* Which files of a program that is recorded are persistent memory; and {pool} in its command line: the path of a scratch pool. */
#ifndef CMD_POOL_OPTION_H
#define CMD_POOL_OPTION_H

#include "session/recorder.h"
#include "util/tempdir.h"

/* A row of an option table. */
#define PM_OPTION(list) { "pm", 0, "GLOB", "only files that match GLOB are persistent memory; +GLOB: besides them, files that are written, not mapped", OPTION_LIST, list }

struct pool_option {
	struct tempdir folder; /* of the pool; goes away with pmend, however that ends */
	char *path;
	char **words;
};

/* The words to run: the same, or, if one has {pool} in it, others in a new folder. There is no file yet: the program makes its pool. Dies if there is no room. */
char **pool_option_begin(struct pool_option *p, struct recording *r, char **target);
void pool_option_end(struct pool_option *p); /* the pool, and all that is beside it, is removed */

#endif
