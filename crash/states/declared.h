/* Collects the stores that the program declares unimportant: losing them does not matter. */
#ifndef CRASH_STATES_DECLARED_H
#define CRASH_STATES_DECLARED_H

#include "model/model.h"
#include "util/vec.h"

struct declared_range {
	uint64_t from, to;
};

/* Some bytes of a store. */
struct declared_bytes {
	uint64_t seq, from, to;
};
typedef VEC(struct declared_bytes) declared_list;

struct declared {
	VEC(struct declared_range) volatiles; /* PMEND_IGNORE: includes later stores to the range */
	declared_list bytes;                  /* the bytes that were declared */
	declared_list all; /* the bytes of the same stores that could be lost at that time */
};

/* Notes a declaration. m: the model before the event. */
void declared_step(struct declared *d, const struct model *m, const struct trace_event *ev);
/* Ends the collection: the declared bytes are sorted, and adjacent ones joined. */
void declared_end(struct declared *d);
/* Were all of these bytes of a store declared? declared_end() must have sorted the list. */
bool declared_has(const declared_list *list, uint64_t seq, uint64_t from, uint64_t to);
/* Calls f in order for each store whose undurable bytes were all declared. To be called after
 * declared_end(). */
void declared_each_whole(const struct declared *d, void (*f)(uint64_t seq, void *arg), void *arg);
void declared_release(struct declared *d);

#endif
