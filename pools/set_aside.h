/* --fresh: a program is recorded as if its PM files had never been there, and gets them back
 * afterwards. Which files these are is known only when the program maps them: the recorder then
 * ends it before it stores anything, the file is moved out of the way, and the program is recorded
 * again. The same before it changes a file otherwise: that is copied first. */
#ifndef POOLS_SET_ASIDE_H
#define POOLS_SET_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct set_aside;

/* Starts a process that puts the files back when this one ends, however it ends. */
struct set_aside *set_aside_begin(struct error *err);
/* The recorder is to end the program at a file that was there before, but when it is changed not at
 * these, from 0; false: that was the last. */
bool set_aside_stops(const struct set_aside *f);
bool set_aside_touchable(const struct set_aside *f, size_t i, const char **path);
/* After a recording. 1: it ended at such a file, which is out of the way now: record again. 0: it
 * is as it should be. */
int set_aside_clear(struct set_aside *f, const char *trace, struct error *err);
/* A file that is out of the way; NULL: none is. */
const char *set_aside_first(const struct set_aside *f);
/* Puts all files back. -1: one could not be, and the error says where it is. NULL is fine. */
int set_aside_end(struct set_aside *f, struct error *err);

#endif
