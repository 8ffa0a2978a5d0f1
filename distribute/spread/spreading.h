/* Runs an exploration on other machines, part by part, until all parts are over. */
#ifndef DISTRIBUTE_SPREAD_SPREADING_H
#define DISTRIBUTE_SPREAD_SPREADING_H

#include "util/notes.h"
#include "distribute/spread/engine.h"

struct spread_watch {
	bool (*is_interrupted)(void *arg);
	void (*progress)(const struct spread_parts *p, const struct queue *q, void *arg);
	void *arg;
	const struct notes *notes;
};

enum spread_end {
	SPREAD_FAILED = -1, /* with err */
	SPREAD_OVER,
	SPREAD_INTERRUPTED, /* the job was cancelled */
};

/* Submits the parts that are not over, waits, and submits parts again that were ended from outside:
 * at most s->nretries times, and only while they make progress. If a job of an earlier call is
 * still running, waits for it instead. */
enum spread_end spreading_run(const struct spread *s, const struct engine *e,
			      struct spread_parts *p, const struct spread_watch *w,
			      struct error *err);
/* Removes the files of the parts and of the job. */
void spreading_remove(const struct spread_parts *p);

#endif
