/* Tells whose code a read of recovery is, by the object file of each frame: the program's, PMDK's, the C library's, or another system library's.
 * No symbols are needed. */
#include "crash/races/readers.h"

#include <string.h>

enum owner { OWNER_UNKNOWN, OWNER_LIBC, OWNER_PMDK, OWNER_SYSTEM, OWNER_USER };

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static enum owner owner_of_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (begins(name, "libpmem"))
		return OWNER_PMDK;
	if (begins(name, "libc.so") || begins(name, "libc-") || begins(name, "ld-linux") || begins(name, "libpthread") ||
	    begins(name, "libpmend_rt"))
		return OWNER_LIBC;
	return begins(path, "/usr/lib") || begins(path, "/lib") ? OWNER_SYSTEM : OWNER_USER;
}

static enum owner owner_of(const struct trace_object *objects, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (pc - objects[i].va < objects[i].len_bytes)
			return owner_of_path(objects[i].path);
	return OWNER_UNKNOWN;
}

static uint32_t nframes(const struct run_decision *d)
{
	return d->nframes < RUN_STACK ? d->nframes : RUN_STACK;
}

bool reader_is_pmdk(const struct runner *r, const struct runner_command *c, const struct run_decision *d)
{
	const struct trace_object *objects;
	size_t n = c ? runner_objects(r, c, &objects) : 0;

	for (uint32_t i = 0; n > 0 && i < nframes(d); i++) {
		enum owner o = owner_of(objects, n, d->stack[i]);

		if (o != OWNER_LIBC)
			return o == OWNER_PMDK;
	}
	return false;
}

bool reader_is_libc(const struct runner *r, const struct runner_command *c, const struct run_decision *d)
{
	const struct trace_object *objects;
	size_t n = c ? runner_objects(r, c, &objects) : 0;

	return n > 0 && nframes(d) > 0 && owner_of(objects, n, d->stack[0]) == OWNER_LIBC;
}

uint64_t reader_pc(const struct runner *r, const struct runner_command *c, const struct run_decision *d)
{
	const struct trace_object *objects;
	size_t n = c ? runner_objects(r, c, &objects) : 0;

	for (uint32_t i = 0; n > 0 && i < nframes(d); i++)
		if (owner_of(objects, n, d->stack[i]) == OWNER_USER)
			return d->stack[i];
	return d->nframes ? d->stack[0] : 0;
}
