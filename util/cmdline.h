/* The command line of another process. */
#ifndef UTIL_CMDLINE_H
#define UTIL_CMDLINE_H

#include <stdbool.h>
#include <sys/types.h>

/* Its words with blanks between, without those at the beginning for which is_hidden says so (NULL:
 * none), cut after some hundred bytes. free() it. Its number if nothing is known. */
char *cmdline_of(pid_t pid, bool (*is_hidden)(const char *word, unsigned number));

#endif
