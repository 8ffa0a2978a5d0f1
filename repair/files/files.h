/* Fixes bugs about files: adds the fsync, fdatasync or sync of a folder that is missing, where the
 * descriptor is known, in the code base's own way. */
#ifndef REPAIR_FILES_FILES_H
#define REPAIR_FILES_FILES_H

#include "repair/plan/internal.h"

void file_syncs_new(struct repair *r);
void file_syncs_free(struct repair *r);
void file_syncs_forget(struct repair *r);

/* Plans the sync for a bug about files, and sets its outcome. False: the bug is not about files. */
bool file_syncs_plan(struct repair *r, size_t bug);
/* Turns the planned syncs into edits. */
void file_syncs_emit(struct repair *r);

#endif
