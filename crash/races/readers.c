/* Says whose code does a read of recovery, by the object file of each frame: the program's, PMDK's,
 * the C library's, or another system library's. It needs no symbols. */
#include "crash/races/readers.h"

#include "trace/owner.h"

#define OWNER_UNKNOWN OWNER_LIBRARY /* no other library is named here */

static bool is_libc(enum owner o)
{
	return o == OWNER_RUNTIME || o == OWNER_PMEND;
}

static enum owner owner_of(const struct trace_object *objects, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (pc - objects[i].va < objects[i].len_bytes)
			return owner_of_object(objects[i].path);
	return OWNER_UNKNOWN;
}

static uint32_t nframes(const struct run_decision *d)
{
	return d->nframes < RUN_STACK ? d->nframes : RUN_STACK;
}

bool reader_is_pmdk(const struct runner *r, const struct runner_command *c,
		    const struct run_decision *d)
{
	const struct trace_object *objects;
	size_t n = c ? runner_objects(r, c, &objects) : 0;

	for (uint32_t i = 0; n > 0 && i < nframes(d); i++) {
		enum owner o = owner_of(objects, n, d->stack[i]);

		if (!is_libc(o))
			return o == OWNER_PMDK;
	}
	return false;
}

bool reader_is_libc(const struct runner *r, const struct runner_command *c,
		    const struct run_decision *d)
{
	const struct trace_object *objects;
	size_t n = c ? runner_objects(r, c, &objects) : 0;

	return n > 0 && nframes(d) > 0 && is_libc(owner_of(objects, n, d->stack[0]));
}

uint64_t reader_pc(const struct runner *r, const struct runner_command *c,
		   const struct run_decision *d)
{
	const struct trace_object *objects;
	size_t n = c ? runner_objects(r, c, &objects) : 0;

	for (uint32_t i = 0; n > 0 && i < nframes(d); i++)
		if (owner_of(objects, n, d->stack[i]) == OWNER_USER)
			return d->stack[i];
	return d->nframes ? d->stack[0] : 0;
}
