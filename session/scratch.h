/* Small things that sessions do with files: a copy, a path. */
#ifndef SESSION_SCRATCH_H
#define SESSION_SCRATCH_H

#include <stdbool.h>

#include "util/error.h"

char *path_absolute(const char *path,
		    struct error *err); /* free() it; NULL if the current folder is not known */
bool is_trace_name(const char *name);   /* ends with .pmt */
int copy_file(const char *from, const char *to); /* -1 with errno */

#endif
