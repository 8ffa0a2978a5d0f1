/* Numbers the call paths of a trace, from the line that the user knows out to main, and says what
 * each did to persistent memory. */
#ifndef REPAIR_VERIFY_CALL_PATHS_H
#define REPAIR_VERIFY_CALL_PATHS_H

#include "crash/states/plan.h"
#include "repair/repair.h"
#include "report/bug.h"
#include "source/locate.h"
#include "util/map.h"

struct call_paths {
	struct locator *locator; /* owns the names */
	VEC(uint32_t) by_site;   /* number of the path, per site; 0: unknown */
	struct map numbers;      /* hash of a path → number */
	/* paths to lines with several instructions that must be told apart */
	VEC(uint64_t) split;
	VEC(struct repair_place) observed; /* by number - 1; roles as in struct repair_cure */
};

/* Finds lines that have both a lost and a surviving store, mostly by a macro. Call it before
 * call_paths_find(). */
void call_paths_split(struct call_paths *p, const struct report *report);
void call_paths_find(struct call_paths *p, const struct plan *plan,
		     const struct libraries *libraries);
void call_paths_release(struct call_paths *p);
/* Asks whether the location is the store of a bug that the execution alone shows, without a
 * crash. */
bool call_paths_is_unflushed(const struct bug *b, const struct bug_location *l);
bool call_paths_is_split(const struct call_paths *p, const struct bug_location *l);
/* Asks whether the two locations have the same line and callers. */
bool call_paths_is_same_line(const struct bug_location *a, const struct bug_location *b);
/* Returns the number of a location in a report; 0: no event has this path. */
uint32_t call_paths_number(const struct call_paths *p, const struct bug_location *l);

#endif
