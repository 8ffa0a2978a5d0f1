/* Looks at calls that change a file before they do. */
#ifndef REC_CHANGES_H
#define REC_CHANGES_H

#include "valgrind/recorder/out/basics.h"

/* With --stop-at-old, does not return if the call would change a file that existed before the
 * program began. */
void changes_before(ThreadId tid, UInt number, const UWord *args);

#endif
