/* Handles client requests: the annotations of the program. */
#ifndef REC_REQUESTS_H
#define REC_REQUESTS_H

#include "valgrind/recorder/out/basics.h"

Bool requests_handle(ThreadId tid, UWord *args, UWord *ret);

#endif
