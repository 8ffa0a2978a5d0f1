/* --platform, for the commands that have it. */
#ifndef CMD_PLATFORM_OPTION_H
#define CMD_PLATFORM_OPTION_H

#include "cmd/cmd.h"
#include "model/model.h"

/* The platform with that name; dies with a message about wrong usage of the command. */
const struct platform *platform_option(const struct command *c, const char *name);

#endif
