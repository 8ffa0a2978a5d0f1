/* Finds the platform that the user named with --platform, for the commands that have this
 * option. */
#ifndef CMD_PLATFORM_OPTION_H
#define CMD_PLATFORM_OPTION_H

#include "cmd/cmd.h"
#include "model/model.h"

/* Gives the platform with that name; dies with a message about wrong usage of the command if there
 * is none. */
const struct platform *platform_option(const struct command *c, const char *name);

#endif
