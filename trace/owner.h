/* Whose code a frame is: the user's, or a library's, whose lines nobody here will change. The one
 * place that decides it. */
#ifndef TRACE_OWNER_H
#define TRACE_OWNER_H

#include "trace/trace.h"

enum owner {
	OWNER_USER,
	/* the C and the C++ library, ld.so: their fences and locked instructions are not the
	 * program's */
	OWNER_RUNTIME,
	OWNER_PMDK,
	OWNER_PMEND,   /* our preloaded runtime and our annotations */
	OWNER_SYSTEM,  /* other libraries and headers of the system, headers of the compiler */
	OWNER_LIBRARY, /* --library says so */
};

/* What the user calls a library, besides: globs, of an object or of a source file. One without a
 * slash is compared with the name alone; one that begins with neither slash nor star may lack
 * folders in front. */
struct libraries {
	const char *const *globs;
	size_t n;
};

/* An object file, by its path; never NULL. */
enum owner owner_of_object(const char *path);
enum owner owner_of_site(const struct trace_site *site); /* by its object alone; site may be NULL */
/* A frame. object, file and function may be NULL, libraries, too. */
enum owner owner_of_code(const struct libraries *libraries, const char *object, const char *file,
			 const char *function);

/* ---- what PMDK does on its own ---- */

/* The library's name without its ending ("libpmemobj"), if a flush or a fence inside this function,
 * which the program called, is the library's own decision: a commit's, an allocation's. NULL if the
 * program asked for it (pmemobj_persist, pmem_memcpy…), or if this is none of these libraries. A
 * constant. */
const char *owner_decider(const char *object, const char *function);
/* Is it a function that makes a pool? */
bool owner_makes_pool(const char *object, const char *function);

/* Of an object that may be NULL: is it libpmem, or a library built on it? */
bool owner_is_libpmem(const struct trace_object *o);

#endif
