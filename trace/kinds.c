/* Makes a table of the kinds of events from the list PMT_KINDS of include/pmtrace.h: the name of
 * each kind, and what its events carry. */
#include <string.h>

#include "trace/trace.h"

const struct trace_kind trace_kinds[PMT_NKINDS] = {
#define X(number, NAME, kind_name, kind_carries, kind_nargs) \
	[number] = { .name = kind_name, .carries = kind_carries, .nargs = kind_nargs },
	PMT_KINDS(X)
#undef X
};

bool trace_kind_by_name(const char *name, enum pmt_kind *kind)
{
	for (int k = 0; k < PMT_NKINDS; k++)
		if (trace_kinds[k].name && strcmp(trace_kinds[k].name, name) == 0) {
			*kind = (enum pmt_kind)k;
			return true;
		}
	return false;
}

const char *trace_barrier_option(uint64_t option)
{
	static const char *const names[16] = { "#0",    "oshld", "oshst", "osh",   "#4",    "nshld",
					       "nshst", "nsh",   "#8",    "ishld", "ishst", "ish",
					       "#12",   "ld",    "st",    "sy" };

	return option < 16 ? names[option] : "?";
}
