/* An index beside a trace, with which a walk begins in the middle: what a first pass over the trace
 * told, where its failure points are and what they cost, and checkpoints, which hold all that a
 * walk has come to.
 *
 *	bytes         what (numbers: little endian, 64 bits)
 *	0             "PMENDIDX", version, where the directory is, its frame's length
 *	32            frames: the length of the content, its hash, then the content, compressed by
 *	              zstd
 *
 * The directory says for which trace and which walk it is, and where the other frames are.
 * docs/format.md has the rest. */
#ifndef CRASH_INDEX_INDEX_H
#define CRASH_INDEX_INDEX_H

#include "crash/states/walk.h"

#define INDEX_ENDING ".pmx" /* after the name of the trace */

/* Which checkpoints are worth their bytes. */
struct index_limits {
	uint64_t events;  /* at least so many from one to the next */
	uint64_t percent; /* of the trace from one to the next: its bytes are at most so many */
};
extern const struct index_limits index_usual;

/* What was made. */
struct index_size {
	uint64_t bytes, points, checkpoints;
};

/* Walks through all of the trace. told: after every checkpoint, up to which event it is; NULL:
 * nobody asks. */
int index_make(struct plan *p, unsigned stops, const struct index_limits *limits, const char *path,
	       void (*told)(uint64_t seq, void *arg), void *arg, struct index_size *size,
	       struct error *err);

struct index;

/* NULL with err: it is not there (then err is empty), or no index of the trace for this platform
 * and trust. */
struct index *index_open(const char *path, const struct trace *t, const struct platform *platform,
			 bool is_distrusting, struct error *err);
void index_close(struct index *ix);
/* Instead of plan_of_trace(). NULL with err: it is damaged; then the trace is closed. */
struct plan *index_plan(const struct index *ix, struct trace *t, const struct platform *platform,
			bool is_distrusting, struct error *err);
/* The failure points are those of a walk with these stops. */
bool index_fits(const struct index *ix, const struct plan *p, unsigned stops);

/* All failure points, in order. -1 with err: it is damaged. */
int index_each_point(const struct index *ix, void (*f)(uint64_t seq, uint64_t cost, void *arg),
		     void *arg, struct error *err);
/* What a failure point costs, roughly. */
uint64_t index_cost(const struct walk *w);

/* Brings a walk nearer to a failure point, or to an event, if a checkpoint is on the way; ix may be
 * NULL. -1 with err: it is damaged, and the walk must not go on. */
int index_seek_point(const struct index *ix, struct walk *w, uint64_t point, struct error *err);
int index_seek_event(const struct index *ix, struct walk *w, uint64_t seq, struct error *err);

#endif
