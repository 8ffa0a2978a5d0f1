/* What was found so far: findings with the same kind, message and places are one, with a count. */
#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "check/oracle.h"
#include "util/vec.h"

struct findings {
	VEC(struct finding) list; /* in the order in which they were found first */
	VEC(uint32_t) buckets;    /* hash → index of finding + 1 */
};

void findings_release(struct findings *f);
/* counts it, if it is there already */
void findings_add(struct findings *f, const struct finding *one);
void findings_clear(struct findings *f);

#endif
