/* Reads the files of an exploration's parts in a folder: part-I-of-N.json, which `pmend crash
 * --shard I/N --continue` keeps; .log with what that command printed; and .status with its exit
 * status, if it ended by itself. */
#ifndef DISTRIBUTE_SPREAD_PARTS_H
#define DISTRIBUTE_SPREAD_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/error.h"

struct spread_part {
	bool is_over;           /* nothing is left to do */
	uint64_t done, npoints; /* failure points; 0 of 0: unknown */
	struct stat seen;       /* of the file when it was last read */
};

struct spread_parts {
	const char *folder; /* borrowed */
	struct spread_part *at;
	uint32_t n;
};

void spread_parts_init(struct spread_parts *p, const char *folder, uint32_t n);
void spread_parts_release(struct spread_parts *p);
/* Gives the path of a file of part `index`, counted from 0; free() it. */
char *spread_parts_path(const struct spread_parts *p, uint32_t index, const char *ending);
/* Reads the files that have changed. -1 with err if one belongs to something else. */
int spread_parts_read(struct spread_parts *p, struct error *err);
uint32_t spread_parts_nover(const struct spread_parts *p);
/* Counts the failure points that all parts together have done. */
uint64_t spread_parts_ndone(const struct spread_parts *p);
/* Counts the failure points that all parts together have, as far as that is known. */
uint64_t spread_parts_npoints(const struct spread_parts *p);
/* Removes the .status of parts that will be started again. */
void spread_parts_begin(const struct spread_parts *p);
/* Removes the parts' files, and the folder if it is then empty. */
void spread_parts_remove(const struct spread_parts *p);

#endif
