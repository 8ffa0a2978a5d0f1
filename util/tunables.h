/* Makes the C library choose the same string functions on all machines. */
#ifndef UTIL_TUNABLES_H
#define UTIL_TUNABLES_H

/* Gives "GLIBC_TUNABLES=…" for programs that are recorded and for recovery. The user's own value
 * comes last and wins. free() it. */
char *tunables_env(void);

#endif
