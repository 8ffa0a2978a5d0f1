/* Which traces are of a program that keeps its data by msync and fsync, in the page cache, and not
 * by flushing cache lines. */
#ifndef TRACE_PAGE_CACHE_H
#define TRACE_PAGE_CACHE_H

#include "trace/trace.h"

/* Does it call msync or fsync of its files and nothing else? why: malloc'd, why not, as far as it
 * calls them at all; NULL: it does, or there is nothing to say. */
bool page_cache_is_all(const struct trace *t, char **why);

bool page_cache_has_libpmem(const struct trace *t); /* loaded in some process of the trace */

#endif
