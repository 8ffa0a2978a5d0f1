/* Chooses the failure points at which a behaviour is tested: those at which a crash can lose a
 * store of it, with a limit for stores that stay undecided for long. */
#ifndef CRASH_REPRESENTATIVE_TEST_POINTS_H
#define CRASH_REPRESENTATIVE_TEST_POINTS_H

#include "crash/representative/representative.h"

typedef VEC(uint64_t) point_list;

/* Lists failure points, ascending and distinct; the list may be empty. */
void test_points_of(const struct representatives *r, const struct variant *v, point_list *out);

#endif
