/* After a recording: do the files hold what the trace says? */
#ifndef SESSION_UNSEEN_COMPARE_H
#define SESSION_UNSEEN_COMPARE_H

#include "session/unseen/kept.h"

/* Replays the trace and compares each PM file with the result. What differs becomes an INCOMPLETE event at the end of the trace; a file that was not compared, a META "uncompared".
 * A trace that is damaged, or that a killed process left, is not compared. others: what
 * else is known to be missing, which the trace is told likewise; or NULL. Gives all that is missing, in words, or NULL; free() it. */
char *compare_files(const char *trace, uint32_t nfiles, struct kept *kept, const char *others);

#endif
