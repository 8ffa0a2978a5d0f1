/* Tells by the names of libraries whose code an instruction is. */
#include "trace/runtime_code.h"

#include <string.h>

bool trace_site_is_of(const struct trace_site *site, const char *const *names)
{
	const char *base;

	if (!site || !site->object)
		return false;
	base = strrchr(site->object->path, '/');
	base = base ? base + 1 : site->object->path;
	for (; *names; names++)
		if (strncmp(base, *names, strlen(*names)) == 0)
			return true;
	return false;
}

bool trace_site_is_runtime(const struct trace_site *site)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-linux", "libgcc_s", "libstdc++", NULL };

	return trace_site_is_of(site, names);
}
