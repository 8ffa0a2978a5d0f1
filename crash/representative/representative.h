/* Does representative testing: chooses which update behaviours of a recorded run are tested, at
 * which failure points, on behalf of which others. docs/representative.md explains it. Tests come
 * in *waves*: each wave depends on what the earlier ones found. */
#ifndef CRASH_REPRESENTATIVE_REPRESENTATIVE_H
#define CRASH_REPRESENTATIVE_REPRESENTATIVE_H

#include "crash/representative/groups.h"
#include "crash/states/walk.h"
#include "source/types.h"

/* A failure point to stop at, and the variants to test there. */
struct rep_stop {
	uint64_t point;
	/* range in representatives.tests; n 0: only the state in which nothing is lost */
	size_t first, n;
	bool is_late; /* only for groups that stand for few others */
};

struct rep_variant {
	uint32_t nleft;    /* stops of the present wave that are not done */
	uint32_t nunbegun; /* of these, stops that had no runs yet */
	bool is_chosen;    /* for this wave or an earlier one */
	bool is_begun, is_tested, has_failed;
};

/* A failure point; the walk's failure point N is at[N - 1]. */
struct rep_point {
	uint64_t seq;
	uint32_t site;
	/* not for stores that become durable, but for a change of a file, an annotation, or the
	 * end */
	bool is_lasting;
};

/* All failure points, in the order of the walk. */
struct rep_points {
	VEC(struct rep_point) list;
};
void rep_points_add(struct rep_points *points, const struct walk *w);
/* Lists all failure points of the plan in one walk. */
void rep_points_list(struct rep_points *points, const struct plan *p, unsigned stops);

struct representatives {
	struct graph graph;
	struct groups groups;
	struct rep_points points;
	VEC(uint64_t) acks;
	VEC(struct rep_variant) variants; /* parallel to groups.variants */
	/* by id: a behaviour with this site was chosen for a test */
	VEC(bool) sites;
	struct symbols *symbols;
	struct types *types;
	uint64_t nstores[TYPE_NMEANS]; /* by the means of typing */
	/* the present wave */
	/* in the order in which they are begun: late ones last, otherwise by failure point */
	VEC(struct rep_stop) stops;
	VEC(uint32_t) tests;
	size_t nwaves; /* so far */
	/* variants that were tested because their representative failed */
	uint64_t nfollowed;
	uint64_t nstops, nstops_done; /* of all waves so far */
};

/* Finds the behaviours and groups. Takes the points. */
struct representatives *representatives_new(const struct plan *p, struct rep_points *points,
					    const struct types_options *o);
void representatives_free(struct representatives *r);

/* Chooses the next wave. First come the representatives, those that stand for most others first.
 * Then come members of groups whose representative failed, from places that no test has reached.
 * False: nothing is left to test. */
bool representatives_next(struct representatives *r);
void representatives_begun(struct representatives *r, size_t stop); /* it had its first runs */
void representatives_done(struct representatives *r, size_t stop);
void representatives_failed(struct representatives *r, uint32_t variant);

/* Numbers for the report of what was tested. */
struct rep_account {
	uint64_t behaviours, kinds, groups;
	/* behaviours: those that were tested; with all others of groups whose representative was
	 * tested */
	uint64_t tested, represented;
	/* begun: the representative had its first runs at all its failure points */
	uint64_t groups_begun, groups_tested, groups_failed;
};
void representatives_account(const struct representatives *r, struct rep_account *a);
/* Gives the variant that is tested on behalf of the group. */
const struct variant *representatives_of(const struct representatives *r, const struct group *g);

#endif
