/* --fresh: a program is recorded as if its PM files had never been there, and gets them back afterwards. Which files these are is known only when the
 * program maps them: the recorder then ends it before it stores anything, the file is moved out of the way, and the program is recorded again. The same
 * before it changes a file otherwise: that is copied first. */
#ifndef SESSION_FRESH_H
#define SESSION_FRESH_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct fresh;

/* Starts a process that puts the files back when this one ends, however it ends. */
struct fresh *fresh_begin(struct error *err);
/* The recorder is to end the program at a file that was there before, but when it is changed not at these, from 0; false: that was the last. */
bool fresh_stops(const struct fresh *f);
bool fresh_touchable(const struct fresh *f, size_t i, const char **path);
/* After a recording. 1: it ended at such a file, which is out of the way now: record again. 0: it is as it should be. */
int fresh_clear(struct fresh *f, const char *trace, struct error *err);
/* A file that is out of the way; NULL: none is. */
const char *fresh_first(const struct fresh *f);
/* Puts all files back. -1: one could not be, and the error says where it is. NULL is fine. */
int fresh_end(struct fresh *f, struct error *err);

#endif
