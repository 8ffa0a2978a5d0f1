/* Decides whose code a frame is: the user's, or a library's, whose lines the user will not
 * change. */
#ifndef TRACE_OWNER_H
#define TRACE_OWNER_H

#include "trace/trace.h"

enum owner {
	OWNER_USER,
	/* the C and C++ library and ld.so: their fences and locked instructions are not the
	 * program's */
	OWNER_RUNTIME,
	OWNER_PMDK,
	OWNER_PMEND,   /* libpmend_rt.so and pmend's annotations */
	OWNER_SYSTEM,  /* other libraries and headers of the system, and headers of the compiler */
	OWNER_LIBRARY, /* named by --library */
};

/* Further libraries that the user names: globs of objects or source files. A glob without a slash
 * is compared with the file's name alone. One that begins with neither slash nor star may match the
 * end of a path. */
struct libraries {
	const char *const *globs;
	size_t n;
};

/* Says whose the object file with this path is. The path is never NULL. */
enum owner owner_of_object(const char *path);
/* Decides by the site's object alone; site may be NULL. */
enum owner owner_of_site(const struct trace_site *site);
/* Says whose a frame is, by its object, file and function. Each argument may be NULL. */
enum owner owner_of_code(const struct libraries *libraries, const char *object, const char *file,
			 const char *function);

/* ---- what PMDK decides itself ---- */

/* Does a flush or fence inside this library function, which the program called, follow from the
 * library's own decision, as in a commit or an allocation? Then gives the library's name, such as
 * "libpmemobj" (a constant). NULL if the program asked for it (pmemobj_persist, pmem_memcpy, …), or
 * if it is not such a library. */
const char *owner_decider(const char *object, const char *function);
/* Does the function create a pool? */
bool owner_makes_pool(const char *object, const char *function);

/* Asks whether the object is libpmem or a library built on it. o may be NULL. */
bool owner_is_libpmem(const struct trace_object *o);

#endif
