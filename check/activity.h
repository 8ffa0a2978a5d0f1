/* Follows what each thread is doing: which locks it holds, which operation the program has marked,
 * which request it handles. Says which stores belong to one operation with a load before them. */
#ifndef CHECK_ACTIVITY_H
#define CHECK_ACTIVITY_H

#include "trace/trace.h"
#include "util/map.h"
#include "util/vec.h"

struct held_lock {
	uint64_t lock;  /* the object, and the process if it is in ordinary memory */
	uint64_t seq;   /* since this event */
	uint32_t depth; /* how often the thread has taken it */
	bool is_shared;
};

struct activity {
	uint32_t stream, thread;
	VEC(struct held_lock) held;
	uint32_t op_depth, op; /* op: counts the outermost operations that it began */
	uint32_t request;      /* counts its requests; 0: it has had none */
	uint64_t fd;           /* of the requests */
	bool is_answered;
};

/* Who gave a lock back last. */
struct unlock {
	uint64_t seq;
	const struct trace_site *site;
	uint32_t who;
};

struct activities {
	VEC(struct activity) list; /* their indices are the numbers of the threads */
	struct map by_thread;      /* index + 1 */
	struct map unlocks;        /* lock → struct unlock */
	VEC(struct unlock *) all_unlocks;
	uint64_t last_key;
	uint32_t last;
};

void activities_release(struct activities *a);
/* Gives the number of the event's thread. */
uint32_t activities_who(struct activities *a, const struct trace_event *ev);
/* Gives the number that stands for the object of a LOCK, UNLOCK, ACQUIRE or RELEASE. Objects of
 * different processes have different numbers, except for one that is in PM. */
uint64_t activity_lock(const struct trace_event *ev);
/* Does this UNLOCK give the lock back for good, also if it is recursive? */
bool activity_is_given_back(const struct activity *t, const struct trace_event *ev);
/* Follows an event; to be called for each event but stores, loads, flushes and fences. */
void activities_step(struct activities *a, uint32_t who, const struct trace_event *ev);

/* Does this output go to where the thread's requests come from? */
bool activity_is_answer(const struct activity *t, const struct trace_event *output);

/* What a thread was at when it loaded something. */
struct activity_moment {
	uint64_t seq;
	const struct trace_site *site;
	uint32_t op, request; /* 0: none */
	bool has_returned;    /* the function that loads; it may be called again from there */
};
struct activity_moment activity_now(const struct activity *t, const struct trace_event *load);
/* Does a later event of the thread belong to the same operation as the moment `then`? The program's
 * marks say so. Without marks it does if it is of the same request, if the thread has held a lock
 * ever since, or if it is in the function of that moment or in one that this function calls. */
bool activity_is_same(const struct activity *t, const struct activity_moment *then,
		      const struct trace_event *ev);
/* Is the function of the first place still running at the second one, as far as stacks tell? */
bool activity_is_function_active(const struct trace_site *then, const struct trace_site *now);
/* Finds the lock that the thread holds now and that thread `who` gave back after event seq; NULL:
 * none. */
const struct unlock *activity_got_from(const struct activities *a, const struct activity *t,
				       uint32_t who, uint64_t seq);

#endif
