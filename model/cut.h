/* Finds threads that were cut off, and what they had no chance to do. A process that is killed, or
 * whose recording is damaged, ends in the middle of something; so does a thread that runs while
 * another one calls exit. A store that it would have flushed next is no bug. What it stored before
 * its last fence, or before it acknowledged something, had its chance. */
#ifndef MODEL_CUT_H
#define MODEL_CUT_H

#include "model/model.h"
#include "util/map.h"
#include "util/vec.h"

struct cut_process {
	bool is_recorded; /* has a PROCESS event; other traces do not tell how processes end */
	bool is_over;     /* by exit or exec */
	uint64_t chance;  /* seq of the last chance of any of its threads */
};

/* Zero-initialise it, except for the platform. */
struct cut {
	const struct platform *platform;
	VEC(struct cut_process) processes; /* by stream */
	struct map threads;                /* stream and thread → struct cut_thread */
	VEC(struct cut_thread *) list;
	struct cut_thread *recent; /* the thread of the last question */
	uint64_t recent_key;
	bool is_imported; /* from a log that does not tell how processes end */
};

void cut_step(struct cut *c, const struct trace_event *ev);
void cut_release(struct cut *c);

/* How far threads were cut off; ask after the last event. */
enum cut_extent {
	CUT_NONE,
	CUT_THREAD,  /* a thread that stored to PM was still running when its process exited */
	CUT_PROCESS, /* a process was killed, or its recording is damaged */
};
enum cut_extent cut_extent(const struct cut *c);
bool cut_is_process(const struct cut *c, uint32_t stream);
/* Asks whether the thread was cut off after event seq before it had a chance to do what this event
 * calls for, such as flushing what it stored there. */
bool cut_is(const struct cut *c, uint32_t stream, uint32_t thread, uint64_t seq);

#endif
