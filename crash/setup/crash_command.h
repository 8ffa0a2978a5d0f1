/* Writes an exploration as words of a command line, to replay one of its states or to explore
 * again. */
#ifndef CRASH_SETUP_CRASH_COMMAND_H
#define CRASH_SETUP_CRASH_COMMAND_H

#include "crash/setup/crash_setup.h"

/* Gives the command line that replays a state of this exploration, quoted for a shell; free()
 * it. */
char *crash_command_replay(const struct crash_setup *s, const char *state, const char *trace);
/* Stores in the report the options with which pmend can explore in the same way again, with the
 * seed if it was chosen by chance. */
void crash_command_tell(const struct crash_setup *s, struct report *r);

#endif
