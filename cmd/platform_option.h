/* Finds the platform that the user named with --platform, for the commands that have this
 * option. */
#ifndef CMD_PLATFORM_OPTION_H
#define CMD_PLATFORM_OPTION_H

#include "cmd/cmd.h"
#include "model/files.h"
#include "model/model.h"

/* Gives the platform with that name; dies with a message about wrong usage of the command if there
 * is none. profile: gets the profile of files in MEMORY,FILES or FILES, or FILES_PROFILES if none
 * is named; the result is NULL if only a profile is. If profile is NULL, none may be named. */
const struct platform *platform_option(const struct command *c, const char *name,
				       enum files_profile *profile);

#endif
