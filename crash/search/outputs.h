/* Keeps what recovery prints where nothing is lost, at all moments of the trace, and outputs that
 * occur only elsewhere: those are candidates for the finding recovery-output. */
#ifndef CRASH_SEARCH_OUTPUTS_H
#define CRASH_SEARCH_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"
#include "util/vec.h"

/* largest number of candidates; with more, what recovery prints depends on everything */
#define OUTPUTS_MAX 256u

/* A candidate: nobody has seen this output where nothing is lost. */
struct output_doubt {
	uint64_t hash, point;
	char *state; /* in the form of --replay */
};

struct outputs {
	struct map clean;                /* hashes of outputs where nothing is lost */
	struct map shapes;               /* hashes of the shapes of their lines */
	VEC(struct output_doubt) doubts; /* one per hash */
};

void outputs_release(struct outputs *o);
bool outputs_has(const struct outputs *o, uint64_t hash);
/* Adds the output of a clean run. True if it is new. */
bool outputs_add(struct outputs *o, uint64_t hash);
void outputs_add_shape(struct outputs *o, uint64_t shape);
/* Is the output a candidate? It must not be a clean one, no earlier failure point may have had it,
 * and there must be room. */
bool outputs_wants(const struct outputs *o, uint64_t hash, uint64_t point);
/* Adds a candidate. Takes the state. A later candidate with the same hash replaces it. */
void outputs_doubt(struct outputs *o, uint64_t hash, uint64_t point, char *state);
/* Removes candidates that turned out to be clean outputs. */
void outputs_clear(struct outputs *o);

/* Calls f with the shape of each line. */
void output_shapes(const char *text, size_t len, void (*f)(uint64_t shape, void *arg), void *arg);
/* Does each line have the shape of a line that was printed where nothing is lost? If one does not,
 * recovery may say in its own words that something is wrong. */
bool outputs_know_shapes(const struct outputs *o, const char *text, size_t len);

#endif
