/* An index beside a trace, with which a walk can begin in the middle. It has the plan, where the
 * failure points are and what they cost, and checkpoints with the complete state of a walk.
 *
 *	bytes         what (numbers: little endian, 64 bits)
 *	0             "PMENDIDX", version, where the directory is, its frame's length
 *	32            frames: the length of the content, its hash, then the content, compressed by
 *	              zstd
 *
 * The directory says for which trace and which walk the index is, and where the other frames are.
 * docs/format.md has the rest. */
#ifndef CRASH_INDEX_INDEX_H
#define CRASH_INDEX_INDEX_H

#include "crash/states/walk.h"

#define INDEX_ENDING ".pmx" /* added to the name of the trace */

/* Which checkpoints are worth their size. */
struct index_limits {
	uint64_t events; /* smallest number of events between two checkpoints */
	/* largest size of a checkpoint, in percent of the bytes of trace since the one before */
	uint64_t percent;
};
extern const struct index_limits index_usual;

/* What an index contains. */
struct index_size {
	uint64_t bytes, points, checkpoints;
};

/* Makes an index in one walk through the whole trace. told: called after each checkpoint with its
 * event; NULL: not called. */
int index_make(struct plan *p, unsigned stops, const struct index_limits *limits, const char *path,
	       void (*told)(uint64_t seq, void *arg), void *arg, struct index_size *size,
	       struct error *err);

struct index;

/* Opens an index. NULL: it does not exist (err is empty), or it is not of this trace, platform and
 * trust (err says so). */
struct index *index_open(const char *path, const struct trace *t, const struct platform *platform,
			 bool is_distrusting, struct error *err);
void index_close(struct index *ix);
/* Gives the plan, like plan_of_trace(). NULL with err: the index is damaged; then the trace is
 * closed. */
struct plan *index_plan(const struct index *ix, struct trace *t, const struct platform *platform,
			bool is_distrusting, struct error *err);
/* Are the failure points those of a walk with these stops? */
bool index_fits(const struct index *ix, const struct plan *p, unsigned stops);

/* Calls f for each failure point in order. -1 with err: the index is damaged. */
int index_each_point(const struct index *ix, void (*f)(uint64_t seq, uint64_t cost, void *arg),
		     void *arg, struct error *err);
/* Gives the approximate cost of exploring the failure point where the walk stands. */
uint64_t index_cost(const struct walk *w);

/* Moves a walk closer to a failure point or event if a checkpoint is on the way; ix may be NULL. -1
 * with err: the index is damaged, and the walk must not continue. */
int index_seek_point(const struct index *ix, struct walk *w, uint64_t point, struct error *err);
int index_seek_event(const struct index *ix, struct walk *w, uint64_t seq, struct error *err);

#endif
