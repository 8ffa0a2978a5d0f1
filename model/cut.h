/* Which threads were cut off, and what they had no chance to do. A process that is killed, or whose
 * recording is damaged, ends in the middle of something, and so does a thread that still runs when
 * another one calls exit: a store that it would have flushed next is no bug. What its thread stored
 * before its last fence, or before it acknowledged something, had its chance. */
#ifndef MODEL_CUT_H
#define MODEL_CUT_H

#include "model/model.h"
#include "util/map.h"
#include "util/vec.h"

struct cut_process {
	bool is_recorded; /* its first event says so; other traces do not tell how processes end */
	bool is_over;     /* by exit or exec */
	uint64_t chance;  /* the last one of any of its threads */
};

/* Zero-initialised but for the platform. */
struct cut {
	const struct platform *platform;
	VEC(struct cut_process) processes; /* by stream */
	struct map threads;                /* stream and thread → struct cut_thread */
	VEC(struct cut_thread *) list;
	struct cut_thread *recent; /* the one that was asked for last */
	uint64_t recent_key;
	bool is_imported; /* from a log that does not tell how processes end */
};

void cut_step(struct cut *c, const struct trace_event *ev);
void cut_release(struct cut *c);

/* After the last event. */
enum cut_extent {
	CUT_NONE,
	CUT_THREAD,  /* a thread that stored to PM still ran when its process ended by exit */
	CUT_PROCESS, /* a process was killed, or its recording is damaged */
};
enum cut_extent cut_extent(const struct cut *c);
bool cut_is_process(const struct cut *c, uint32_t stream);
/* The thread was cut off before it could do something about what it did in event seq. */
bool cut_is(const struct cut *c, uint32_t stream, uint32_t thread, uint64_t seq);

#endif
