/* Adds to the bugs of a report what the trace shows around them: fills the structs of
 * report/evidence.h by reading the trace twice, however many bugs there are. */
#ifndef ACCOUNT_EVIDENCE_EVIDENCE_H
#define ACCOUNT_EVIDENCE_EVIDENCE_H

#include "model/model.h"
#include "report/bug.h"
#include "report/evidence.h"

struct libraries;

/* Adds evidence after report_finish(). With an unknown platform there is none. libraries: as for
 * locator_new(). -1: the trace cannot be read. */
int evidence_add(struct report *r, const char *trace, const struct libraries *libraries,
		 struct error *err);

/* Makes the events of a part of a trace, in the arena. */
struct arena;
const struct evidence *evidence_of_region(const struct trace *t, const struct platform *p,
					  uint64_t first_seq, uint64_t last_seq, struct arena *a);

#endif
