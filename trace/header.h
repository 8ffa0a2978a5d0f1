/* A trace's header page, read without opening the trace: what a recording came to, how many
 * processes it holds. */
#ifndef TRACE_HEADER_H
#define TRACE_HEADER_H

#include "pmtrace.h"
#include "util/error.h"

/* -1 if the file cannot be read or is no trace. */
int header_read(struct pmt_header *h, const char *path, struct error *err);

#endif
