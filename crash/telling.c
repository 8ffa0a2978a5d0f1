/* Sends a worker's messages to its parent. worker.c lists them. */
#include <unistd.h>

#include "crash/worker_internal.h"

void worker_tell(struct worker *w, struct wire *m)
{
	if (wire_send(m, w->fd) < 0)
		_exit(1); /* the parent is gone; the runner's guardian cleans up */
	wire_release(m);
}

void worker_tell_stop(struct worker *w, char what)
{
	struct wire m = { 0 };

	wire_number(&m, (uint64_t)what);
	wire_number(&m, (uint64_t)(w->stop - w->reps->stops.at));
	worker_tell(w, &m);
}
