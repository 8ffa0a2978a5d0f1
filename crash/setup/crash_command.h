/* An exploration as words of the command line: to replay one state of it, and to explore again. */
#ifndef CRASH_SETUP_CRASH_COMMAND_H
#define CRASH_SETUP_CRASH_COMMAND_H

#include "crash/setup/crash_setup.h"

/* The command line, for a shell, that replays a state of this exploration; free() it. */
char *crash_command_replay(const struct crash_setup *s, const char *state, const char *trace);
/* Tells the report the options by which the same can be explored again, also where chance
 * decided. */
void crash_command_tell(const struct crash_setup *s, struct report *r);

#endif
