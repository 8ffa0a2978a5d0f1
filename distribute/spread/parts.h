/* The files of the parts of one exploration, in a folder: part-I-of-N.json, which `pmend crash
 * --shard I/N --continue` keeps; beside it .log, what that printed, and .status, how it ended, if
 * it ended by itself. */
#ifndef DISTRIBUTE_SPREAD_PARTS_H
#define DISTRIBUTE_SPREAD_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/error.h"

struct spread_part {
	bool is_over;           /* all is done that will be */
	uint64_t done, npoints; /* failure points; 0 of 0: it is not known yet */
	struct stat seen;       /* of the file when it was read */
};

struct spread_parts {
	const char *folder; /* borrowed */
	struct spread_part *at;
	uint32_t n;
};

void spread_parts_init(struct spread_parts *p, const char *folder, uint32_t n);
void spread_parts_release(struct spread_parts *p);
/* A file of part `index`, from 0; free() it. */
char *spread_parts_path(const struct spread_parts *p, uint32_t index, const char *ending);
/* Looks at the files that changed. -1 with err if one is of something else. */
int spread_parts_read(struct spread_parts *p, struct error *err);
uint32_t spread_parts_nover(const struct spread_parts *p);
uint64_t spread_parts_ndone(const struct spread_parts *p); /* failure points, of all parts */
/* the same, as far as they are known */
uint64_t spread_parts_npoints(const struct spread_parts *p);
/* Forgets how parts ended that are to be started again. */
void spread_parts_begin(const struct spread_parts *p);
/* Removes their files, and the folder if nothing else is in it. */
void spread_parts_remove(const struct spread_parts *p);

#endif
