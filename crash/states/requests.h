/* Guesses operations of a server with several threads from its requests: one begins when a thread
 * reads a request, and ends when the same thread answers where the request came from. */
#ifndef CRASH_STATES_REQUESTS_H
#define CRASH_STATES_REQUESTS_H

#include "crash/states/plan.h"

/* Fills the operations of the plan, which has none yet. False, and nothing is filled: not several
 * threads have requests, or something shows that they are not what the threads work on. Reads the
 * trace once more. */
bool requests_find(struct plan *p);

#endif
