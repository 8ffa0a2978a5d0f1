/* The call paths of a trace, by number: from the line that the user knows outwards. And what each
 * did to persistent memory. */
#ifndef REPAIR_VERIFY_CALL_PATHS_H
#define REPAIR_VERIFY_CALL_PATHS_H

#include "crash/states/plan.h"
#include "repair/repair.h"
#include "report/bug.h"
#include "source/locate.h"
#include "util/map.h"

struct call_paths {
	struct locator *locator; /* owns names */
	VEC(uint32_t) by_site;   /* 0: not known */
	struct map numbers;      /* by a hash of the path */
	/* paths that end in a line of which several instructions must be told apart */
	VEC(uint64_t) split;
	VEC(struct repair_place) observed; /* by number - 1: see struct repair_cure */
};

/* Before it: both a store that is lost and one that survives are of one line. Mostly a macro makes
 * them. */
void call_paths_split(struct call_paths *p, const struct report *report);
void call_paths_find(struct call_paths *p, const struct plan *plan,
		     const struct libraries *libraries);
void call_paths_release(struct call_paths *p);
/* the store of a bug that the execution alone shows */
bool call_paths_is_unflushed(const struct bug *b, const struct bug_location *l);
bool call_paths_is_split(const struct call_paths *p, const struct bug_location *l);
/* with the same callers */
bool call_paths_is_same_line(const struct bug_location *a, const struct bug_location *b);
/* Of a location in a report; 0: no event came from there. */
uint32_t call_paths_number(const struct call_paths *p, const struct bug_location *l);

#endif
