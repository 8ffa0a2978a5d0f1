/* Collects the findings of a check. Findings with the same kind, message and places are one, with a
 * count. */
#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "check/oracle.h"
#include "util/vec.h"

struct findings {
	VEC(struct finding) list; /* in the order of their first occurrence */
	VEC(uint32_t) buckets;    /* hash → index of a finding + 1 */
};

void findings_release(struct findings *f);
/* adds a finding, or counts it if it is there already */
void findings_add(struct findings *f, const struct finding *one);
void findings_clear(struct findings *f);

#endif
