/* Reads and changes the environment without getenv() and unsetenv(): shells define functions of
 * their own with these names. */
#include <string.h>

#include "internal.h"

extern char **__environ;

static const char *value_of(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

void environment_init(char **initial)
{
	if (!__environ)
		__environ = initial;
}

const char *environment_get(const char *name)
{
	for (char **e = __environ; e && *e; e++)
		if (value_of(*e, name))
			return value_of(*e, name);
	return NULL;
}

void environment_remove(const char *name)
{
	char **to = __environ;

	for (char **e = __environ; e && *e; e++)
		if (!value_of(*e, name))
			*to++ = *e;
	if (to)
		*to = NULL;
}
