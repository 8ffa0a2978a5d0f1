/* Finds the platform that the user named. */
#include "cmd/platform_option.h"

const struct platform *platform_option(const struct command *c, const char *name)
{
	const struct platform *p = platform_find(name);

	if (!p)
		die_usage(c, "--platform is one of x86-adr, eadr, msync, not '%s'", name);
	return p;
}
