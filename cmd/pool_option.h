/* {pool} in the command line of a program that is recorded: the path of a scratch pool. */
#ifndef CMD_POOL_OPTION_H
#define CMD_POOL_OPTION_H

#include "record/recorder.h"
#include "util/tempdir.h"

struct pool_option {
	struct tempdir folder; /* of the pool; goes away with pmend, however that ends */
	char *path;
	char **words;
};

struct command;
/* Dies if a word has what was probably meant to be a placeholder. */
void pool_option_check(const struct command *c, char *const *words);
/* The words to run: the same, or, if one has {pool} in it, others in a new folder. There is no file
 * yet: the program makes its pool. Dies if there is no room. */
char **pool_option_begin(struct pool_option *p, struct recording *r, char **target);
void pool_option_end(struct pool_option *p); /* the pool, and all that is beside it, is removed */

#endif
