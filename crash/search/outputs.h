/* What recovery prints where nothing is lost, at all moments of the trace, and what it prints
 * otherwise: candidates for recovery-output. */
#ifndef CRASH_SEARCH_OUTPUTS_H
#define CRASH_SEARCH_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"
#include "util/vec.h"

#define OUTPUTS_MAX 256u /* candidates: with more, what recovery prints depends on everything */

/* An output that nobody has seen yet where nothing is lost. */
struct output_doubt {
	uint64_t hash, point;
	char *state; /* as for --replay */
};

struct outputs {
	struct map clean;                /* hashes of outputs where nothing is lost */
	struct map shapes;               /* hashes of their lines, with all numbers alike */
	VEC(struct output_doubt) doubts; /* one of each hash */
};

void outputs_release(struct outputs *o);
bool outputs_has(const struct outputs *o, uint64_t hash);
/* True if it is new. */
bool outputs_add(struct outputs *o, uint64_t hash);
void outputs_add_shape(struct outputs *o, uint64_t shape);
/* Whether it is worth a look: it is no clean one so far, no earlier failure point had it, and there
 * is room. */
bool outputs_wants(const struct outputs *o, uint64_t hash, uint64_t point);
/* Takes the state. Of one hash, the last one that was wanted stays. */
void outputs_doubt(struct outputs *o, uint64_t hash, uint64_t point, char *state);
/* Forgets doubts that turned out to be clean. */
void outputs_clear(struct outputs *o);

/* Calls f with the shape of each line. */
void output_shapes(const char *text, size_t len, void (*f)(uint64_t shape, void *arg), void *arg);
/* Each line of it has the shape of one that was printed where nothing is lost: recovery does not
 * say in words of its own that something is wrong. */
bool outputs_know_shapes(const struct outputs *o, const char *text, size_t len);

#endif
