/* Finds the platform that the user named. */
#include "cmd/platform_option.h"

#include <string.h>

#include "record/machine.h"

const struct platform *platform_option(const struct command *c, const char *name)
{
	const struct platform *p = platform_find(name);

	if (!p)
		die_usage(
			c,
			"--platform is one of x86-adr, eadr, msync, x86-intel, x86-amd, arm64, arm64-poc, not '%s'",
			name);
	if (!machine_has(p) && strcmp(c->name, "record") == 0)
		die_usage(
			c,
			"--platform %s is about %s instructions, which do not run here; 'pmend check --platform %s' and 'pmend crash --platform %s' say what a recording made here would lose there",
			name, p->isa, name, name);
	return p;
}
