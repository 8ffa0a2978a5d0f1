/* Reads the header of a trace without opening the trace: how many events and processes it has. */
#ifndef TRACE_HEADER_H
#define TRACE_HEADER_H

#include "pmtrace.h"
#include "util/error.h"

/* Fills h. -1 with err if the file cannot be read or is no trace. */
int header_read(struct pmt_header *h, const char *path, struct error *err);

#endif
