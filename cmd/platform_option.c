/* Finds the platform that the user named. */
#include "cmd/platform_option.h"

#include <string.h>

#include "session/native.h"

const struct platform *platform_option(const struct command *c, const char *name)
{
	const struct platform *p = platform_find(name);

	if (!p)
		die_usage(c, "--platform is one of x86-adr, eadr, msync, arm64, arm64-poc, not '%s'", name);
	if (!native_has(p) && strcmp(c->name, "check") != 0)
		die_usage(c, "--platform %s is about %s instructions, which do not run here; 'pmend check --platform %s' says what a recording made here would lose there", name,
			  p->isa, name);
	return p;
}
