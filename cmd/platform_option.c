/* Finds the platform that the user named, and the profile of files after it: x86-adr,ext4. */
#include "cmd/platform_option.h"

#include <stdlib.h>
#include <string.h>

#include "record/machine.h"
#include "util/alloc.h"

/* Takes the profile off the end of the name. Gives the rest, "" if there is none; free() it. */
static char *take_profile(const char *name, enum files_profile *profile)
{
	const char *comma = strrchr(name, ','), *last = comma ? comma + 1 : name;

	*profile = files_profile_find(last);
	if (*profile == FILES_PROFILES)
		return xstrdup(name);
	return xasprintf("%.*s", comma ? (int)(comma - name) : 0, name);
}

const struct platform *platform_option(const struct command *c, const char *name,
				       enum files_profile *profile)
{
	char *memory = profile ? take_profile(name, profile) : xstrdup(name);
	const bool is_profile = profile && *profile != FILES_PROFILES && !*memory;
	const struct platform *p = platform_find(memory);

	free(memory);
	if (is_profile)
		return NULL;
	if (!p)
		die_usage(
			c,
			"--platform is one of x86-adr, eadr, msync, x86-intel, x86-amd, arm64, arm64-poc%s, not '%s'",
			profile ? ", and for followed files files, ext4 or xfs, as in x86-adr,ext4"
				: "",
			name);
	if (!machine_has(p) && strcmp(c->name, "record") == 0)
		die_usage(
			c,
			"--platform %s is about %s instructions, which do not run here; 'pmend check --platform %s' and 'pmend crash --platform %s' say what a recording made here would lose there",
			name, p->isa, name, name);
	return p;
}
