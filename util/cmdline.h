/* Describes another process for a message by its command line, as in "cat file (process 7)". */
#ifndef UTIL_CMDLINE_H
#define UTIL_CMDLINE_H

#include <stdbool.h>
#include <sys/types.h>

/* Gives the words with blanks between them and the process number, "cat file (process 7)", cut
 * after 200 bytes. Leaves out the first words as long as is_hidden() says so; it may be NULL. Gives
 * "process 7" if the words cannot be read. free() it. */
char *cmdline_of(pid_t pid, bool (*is_hidden)(const char *word, unsigned number));

#endif
