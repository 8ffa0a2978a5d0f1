/* Whose code an instruction is. */
#ifndef TRACE_RUNTIME_CODE_H
#define TRACE_RUNTIME_CODE_H

#include "trace/trace.h"

/* Does the file of the instruction have a name that begins with one of these? The list ends with NULL. */
bool trace_site_is_of(const struct trace_site *site, const char *const *names);
/* Code of libc, ld.so and the like: its fences and locked instructions are not the program's. */
bool trace_site_is_runtime(const struct trace_site *site);

#endif
