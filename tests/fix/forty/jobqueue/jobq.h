/*
 * jobq.h - a persistent queue of jobs. Header only.
 *
 * A job is submitted (pending), finished (done) and purged (gone). Whatever
 * happens, submitted = pending + finished and finished = done + purged.
 */
#ifndef JOBQ_H
#define JOBQ_H

#include <libpmemobj.h>
#include <stdio.h>
#include <string.h>

#include "plist.h"
#include "ptally.h"

#define JOB_NAME_MAX 31

POBJ_LAYOUT_BEGIN(jobq);
POBJ_LAYOUT_ROOT(jobq, struct jobq);
POBJ_LAYOUT_TOID(jobq, struct job);
POBJ_LAYOUT_END(jobq);

enum job_state {
	JOB_PENDING = 1,
	JOB_DONE = 2,
};

struct job {
	uint64_t id;
	uint64_t state; /* enum job_state */
	uint64_t cost;
	int64_t result;
	PLIST_ENTRY(struct job) link;
	char name[JOB_NAME_MAX + 1];
};

struct jobq {
	uint64_t next_id;
	PLIST_HEAD(struct job) pending;
	PLIST_HEAD(struct job) done;
	struct ptally submitted;
	struct ptally finished;
	struct ptally purged;
};

/* Returns 0, or -1 if there is no room. */
static inline int jobq_submit(PMEMobjpool *pop, struct jobq *q, const char *name, uint64_t cost)
{
	int ret = -1;

	TX_BEGIN(pop) {
		TOID(struct job) job = TX_ZNEW(struct job);

		TX_ADD_DIRECT(&q->next_id);
		D_RW(job)->id = ++q->next_id;
		D_RW(job)->state = JOB_PENDING;
		D_RW(job)->cost = cost;
		strncpy(D_RW(job)->name, name, JOB_NAME_MAX);
		PLIST_INSERT_TAIL(&q->pending, job, link);
		ptally_add(&q->submitted, cost);
	} TX_ONCOMMIT {
		ret = 0;
	} TX_END
	return ret;
}

/* Finishes the oldest pending job. Returns -1 if there is none. */
static inline int jobq_finish(PMEMobjpool *pop, struct jobq *q, int64_t result)
{
	TOID(struct job) job = PLIST_FIRST(&q->pending);
	int ret = -1;

	if (PLIST_EMPTY(&q->pending))
		return -1;
	TX_BEGIN(pop) {
		TX_ADD(job);
		D_RW(job)->state = JOB_DONE;
		D_RW(job)->result = result;
		PLIST_REMOVE(&q->pending, job, link);
		PLIST_INSERT_TAIL(&q->done, job, link);
		ptally_add(&q->finished, D_RO(job)->cost);
	} TX_ONCOMMIT {
		ret = 0;
	} TX_END
	return ret;
}

/* Forgets the jobs that are done, one after another. */
static inline int jobq_purge(PMEMobjpool *pop, struct jobq *q)
{
	int ret = 0;

	while (!PLIST_EMPTY(&q->done) && ret == 0) {
		TOID(struct job) job = PLIST_FIRST(&q->done);

		TX_BEGIN(pop) {
			PLIST_REMOVE(&q->done, job, link);
			ptally_add(&q->purged, D_RO(job)->cost);
			TX_FREE(job);
		} TX_ONABORT {
			ret = -1;
		} TX_END
	}
	return ret;
}

/* Prints a list, and adds it up. Returns -1 if the list is broken. */
#define JOBQ_CHECK_LIST(head, expected, tally)                                 \
	({                                                                     \
		TOID(struct job) job_, prev_ = TOID_NULL(struct job);          \
		int bad_ = 0;                                                  \
		PLIST_FOREACH(job_, head, link) {                              \
			if (!TOID_EQUALS(D_RO(job_)->link.prev, prev_) ||      \
			    D_RO(job_)->state != (expected))                   \
				bad_ = -1;                                     \
			job_print(D_RO(job_));                                 \
			(tally)->count++;                                      \
			(tally)->sum += D_RO(job_)->cost;                      \
			prev_ = job_;                                          \
		}                                                              \
		if (!TOID_EQUALS((head)->last, prev_) ||                       \
		    PLIST_LEN(head) != (tally)->count)                         \
			bad_ = -1;                                             \
		bad_;                                                          \
	})

static inline void job_print(const struct job *job)
{
	printf("%llu %s (%llu): ", (unsigned long long)job->id, job->name, (unsigned long long)job->cost);
	if (job->state == JOB_DONE)
		printf("%lld\n", (long long)job->result);
	else
		printf("pending\n");
}

static inline int ptally_matches(const struct ptally *a, const struct ptally *b, const struct ptally *sum)
{
	return a->count + b->count == sum->count && a->sum + b->sum == sum->sum;
}

/* Prints the queue. Returns 0 if it is as it should be. */
static inline int jobq_check(const struct jobq *q)
{
	struct ptally pending = { 0, 0 }, done = { 0, 0 };

	if (JOBQ_CHECK_LIST(&q->pending, JOB_PENDING, &pending) != 0 ||
	    JOBQ_CHECK_LIST(&q->done, JOB_DONE, &done) != 0) {
		fprintf(stderr, "jobq: a list is broken\n");
		return -1;
	}
	if (!ptally_matches(&pending, &q->finished, &q->submitted) ||
	    !ptally_matches(&done, &q->purged, &q->finished) || q->next_id != q->submitted.count) {
		fprintf(stderr, "jobq: the tallies do not match\n");
		return -1;
	}
	return 0;
}

#endif
