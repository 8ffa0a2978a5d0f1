/* Parses the words of a `pmend crash` command that a report contains, as if they were on the
 * command line. */
#ifndef CMD_CRASH_WORDS_H
#define CMD_CRASH_WORDS_H

#include "crash/setup/crash_setup.h"

extern const struct crash_reader crash_words;

#endif
