/* The C library's choice of functions, the same on all machines. */
#ifndef UTIL_TUNABLES_H
#define UTIL_TUNABLES_H

/* "GLIBC_TUNABLES=…" for programs that are recorded and for recovery. What the user's own
 * environment says comes last, and wins. free() it. */
char *tunables_env(void);

#endif
