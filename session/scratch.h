/* Small things that several commands do with files of their own. */
#ifndef SESSION_SCRATCH_H
#define SESSION_SCRATCH_H

#include <stdbool.h>

char *scratch_folder(void); /* a new one in TMPDIR or /tmp; dies if it cannot; free() the path */
bool is_trace_name(const char *name); /* ends with .pmt */
int copy_file(const char *from, const char *to); /* -1 with errno */

#endif
