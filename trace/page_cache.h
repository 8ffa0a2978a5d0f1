/* Tells programs that keep their data with msync and fsync from those that flush cache lines. */
#ifndef TRACE_PAGE_CACHE_H
#define TRACE_PAGE_CACHE_H

#include "trace/trace.h"

/* Does the program sync its files, and do nothing else to keep data? If it syncs but that is not
 * all, *why says so; free() it. Else *why is NULL. */
bool page_cache_is_all(const struct trace *t, char **why);

/* Asks whether some process of the trace loaded libpmem. */
bool page_cache_has_libpmem(const struct trace *t);

#endif
