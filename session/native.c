/* Which architecture this machine has, as uname(2) says. */
#include "session/native.h"

#include <string.h>
#include <sys/utsname.h>

const char *native_isa(void)
{
	struct utsname name;

	return uname(&name) == 0 && strcmp(name.machine, "aarch64") == 0 ? "arm64" : "amd64";
}

bool native_has(const struct platform *p)
{
	return !p->isa || strcmp(p->isa, native_isa()) == 0;
}

const struct platform *native_platform(void)
{
	size_t i = 0;

	while (!native_has(platforms[i]))
		i++;
	return platforms[i];
}
