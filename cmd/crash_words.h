/* The words of a `pmend crash` that a report tells, understood as its command line is. */
#ifndef CMD_CRASH_WORDS_H
#define CMD_CRASH_WORDS_H

#include "session/crash_setup.h"

extern const struct crash_reader crash_words;

#endif
