/* Implements --fresh: a program is recorded as if its PM files did not exist, and gets them back
 * afterwards. Which files these are is known only when the program maps them. So the recorder ends
 * the program before it stores anything, the file is moved out of the way, and the program is
 * recorded again. Likewise before the program changes a file in another way; that file is copied
 * first. */
#ifndef POOLS_SET_ASIDE_H
#define POOLS_SET_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct set_aside;

/* Starts the guardian, which restores the files when this process ends, however it ends. */
struct set_aside *set_aside_begin(struct error *err);
/* Empties a folder, whose content comes back at the end. What the program leaves there is removed
 * then, and before it is recorded again. */
int set_aside_folder(struct set_aside *f, const char *name, struct error *err);
/* Must the recorder end the program at a file that existed before? It need not at the files that
 * set_aside_touchable() lists from 0 until false. */
bool set_aside_stops(const struct set_aside *f);
bool set_aside_touchable(const struct set_aside *f, size_t i, const char **path);
/* Moves away the file at which the recorder ended the program, if it did; to be called after a
 * recording. 1: the file is out of the way, so record again. 0: the recording is complete. -1: it
 * failed. */
int set_aside_clear(struct set_aside *f, const char *trace, struct error *err);
/* Gives the path of a file that is out of the way; NULL if there is none. */
const char *set_aside_first(const struct set_aside *f);
/* Restores all files. -1 with err, which says where a file is that could not be restored. f may be
 * NULL. */
int set_aside_end(struct set_aside *f, struct error *err);

#endif
