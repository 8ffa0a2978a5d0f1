/* Judges a program on every platform: finds a trace that is valid for each platform, records again
 * where there is none, and makes one report. */
#ifndef SESSION_PLATFORMS_H
#define SESSION_PLATFORMS_H

#include "account/check_report.h"
#include "record/recording.h"
#include "util/vec.h"

struct platform_trace {
	char *path;
	const struct platform *platform; /* for which it was recorded; NULL: not looked up yet */
	struct trace *trace;             /* opened when it is first needed; NULL before */
};

struct platform_traces {
	VEC(struct platform_trace) list;
	VEC(char *) failures; /* by platform: why it was not recorded, or NULL */
};

/* Opens the trace if necessary. NULL if it cannot be read. */
const struct trace *platform_trace_open(struct platform_trace *t, struct error *err);

/* Adds an existing trace. -1 if it cannot be read, or does not say for which platform it was
 * recorded. */
int platform_traces_add(struct platform_traces *t, const char *path, struct error *err);

/* Records the program into the folder: for the platform that `how` names and, if all are wanted,
 * again for each platform for which no trace is valid. Between two runs the pool files are
 * restored. Returns the result of the first run, as recording_run() does; later failures are kept
 * for the report, unless nothing can be recorded any more. */
enum recorded platform_traces_record(struct platform_traces *t, const struct recording *how,
				     bool is_all, char **target, const char *folder,
				     struct error *err);

/* Groups the findings of one trace by cause: causes_fold(), which is in a higher folder. */
typedef void platform_fold(struct report *r, const char *trace, const struct libraries *libraries);

/* Makes one unfiltered report; fold is called for each platform before the reports are joined.
 * is_complete is false if a trace is damaged or a platform could not be judged; the report says
 * why. NULL as for check_report_make(). */
struct report *platform_traces_judge(const struct platform_traces *t, const struct check_options *o,
				     const struct libraries *libraries, platform_fold *fold,
				     bool *is_complete, struct error *err);

void platform_traces_release(struct platform_traces *t);

#endif
