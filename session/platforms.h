/* Judging on every platform: which trace serves which, recording once more where none does, and one
 * report about all. */
#ifndef SESSION_PLATFORMS_H
#define SESSION_PLATFORMS_H

#include "account/check_report.h"
#include "record/recording.h"
#include "util/vec.h"

struct platform_trace {
	char *path;
	const struct platform *platform; /* that it was recorded for; NULL: not asked yet */
	struct trace *trace;             /* open once somebody needed it; NULL before */
};

struct platform_traces {
	VEC(struct platform_trace) list;
	VEC(char *) failures; /* by platform: why it was not recorded, or NULL */
};

/* The open trace. NULL if it cannot be read. */
const struct trace *platform_trace_open(struct platform_trace *t, struct error *err);

/* A trace that exists. -1 if it cannot be read or does not say what it was recorded for. */
int platform_traces_add(struct platform_traces *t, const char *path, struct error *err);

/* Records the program into the folder: for the platform that `how` names and, if all are wanted,
 * again for each that no trace serves. Between two runs the pool files are put back as they were.
 * Returns how the first run ended, as recording_run(); what fails later is kept for the report,
 * unless nothing can be recorded any more. */
enum recorded platform_traces_record(struct platform_traces *t, const struct recording *how,
				     bool is_all, char **target, const char *folder,
				     struct error *err);

/* Lists findings of one trace under their causes: causes_fold(), which stands above. */
typedef void platform_fold(struct report *r, const char *trace, const struct libraries *libraries);

/* One report, not filtered yet; fold is called for each platform, before they become one.
 * is_complete is false if a trace is damaged or a platform could not be judged; the report says
 * why. NULL as check_report_make(). */
struct report *platform_traces_judge(const struct platform_traces *t, const struct check_options *o,
				     const struct libraries *libraries, platform_fold *fold,
				     bool *is_complete, struct error *err);

void platform_traces_release(struct platform_traces *t);

#endif
