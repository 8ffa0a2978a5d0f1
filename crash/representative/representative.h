/* Representative testing: which update behaviours of a recorded run are tested, at which failure
 * points, for which others. docs/representative.md explains it. Tests come in *waves*: each wave
 * depends on what the earlier ones found. */
#ifndef CRASH_REPRESENTATIVE_REPRESENTATIVE_H
#define CRASH_REPRESENTATIVE_REPRESENTATIVE_H

#include "crash/representative/groups.h"
#include "crash/states/walk.h"
#include "source/types.h"

/* A failure point to stop at, and the variants to test there. */
struct rep_stop {
	uint64_t point;
	size_t first, n; /* of representatives.tests; none: only the state where nothing is lost */
	bool is_late;    /* only for groups that stand for few others */
};

struct rep_variant {
	uint32_t nleft;    /* stops of the present wave that are not done */
	uint32_t nunbegun; /* of these, those that had no runs yet */
	bool is_chosen;    /* for this or an earlier wave */
	bool is_begun, is_tested, has_failed;
};

/* A failure point, as the walk numbers them: at[number - 1]. */
struct rep_point {
	uint64_t seq;
	uint32_t site;
	/* not for something that becomes durable: a file changes, an annotation, the end */
	bool is_lasting;
};

/* All of them, in order, as some walk comes by. */
struct rep_points {
	VEC(struct rep_point) list;
};
void rep_points_add(struct rep_points *points, const struct walk *w);
/* by a walk over all */
void rep_points_list(struct rep_points *points, const struct plan *p, unsigned stops);

struct representatives {
	struct graph graph;
	struct groups groups;
	struct rep_points points;
	VEC(uint64_t) acks;
	VEC(struct rep_variant) variants; /* as those of groups */
	VEC(bool) sites;                  /* by id: a behaviour with it was chosen for a test */
	struct symbols *symbols;
	struct types *types;
	uint64_t nstores[TYPE_NMEANS]; /* typed by which means */
	/* the present wave */
	/* in the order in which they are begun: late ones last, else by point */
	VEC(struct rep_stop) stops;
	VEC(uint32_t) tests;
	size_t nwaves; /* so far */
	/* variants that were tested because their representative failed */
	uint64_t nfollowed;
	uint64_t nstops, nstops_done; /* of all waves so far */
};

/* Takes the points over. */
struct representatives *representatives_new(const struct plan *p, struct rep_points *points,
					    const struct types_options *o);
void representatives_free(struct representatives *r);

/* Chooses the next wave: first the representatives, those that stand for most others before the
 * rest; then, of groups whose representative failed, members from places that no test has come by.
 * False: there is nothing left to test. */
bool representatives_next(struct representatives *r);
void representatives_begun(struct representatives *r, size_t stop); /* it had its first runs */
void representatives_done(struct representatives *r, size_t stop);
void representatives_failed(struct representatives *r, uint32_t variant);

/* For the account of what was tested. */
struct rep_account {
	uint64_t behaviours, kinds, groups;
	/* behaviours: themselves; with the others of groups whose representative was */
	uint64_t tested, represented;
	/* begun: the representative had its first runs everywhere */
	uint64_t groups_begun, groups_tested, groups_failed;
};
void representatives_account(const struct representatives *r, struct rep_account *a);
/* the variant that is tested */
const struct variant *representatives_of(const struct representatives *r, const struct group *g);

#endif
