/* What is asked of an exploration of crashes, and what it finds. */
#ifndef CRASH_FINDINGS_EXPLORATION_H
#define CRASH_FINDINGS_EXPLORATION_H

#include "crash/index/index.h"
#include "crash/races/races.h"
#include "crash/representative/representative.h"
#include "crash/search/dump_texts.h"
#include "crash/search/explain.h"
#include "crash/search/explorer.h"
#include "util/wire.h"

#define SHARDS_MAX 65536u

/* Which of how many; of is 0: all of it. workers/share.h deals out failure points. */
struct shard {
	uint32_t index, of; /* index: from 1 */
};

/* A state whose recovery writes: a second crash, during it, is worth a look. */
struct first_crash {
	uint64_t signature;    /* of what recovery writes */
	bool is_oldest;        /* what it did not read has its oldest content, not the newest */
	uint64_t point, seq;   /* the event before which it comes */
	uint64_t operation;    /* that it interrupted; 0: nobody asks */
	char *state;           /* as for --replay */
	VEC(uint64_t) allowed; /* what a dump may print after it */
};

struct crash_result;

typedef VEC(uint64_t) crash_events; /* before which crashes come */

struct crash_options {
	const char *trace;
	const struct platform *platform;
	const struct strategy *strategy;
	const struct recovery *recovery;
	struct runner_options runner;
	struct explorer_limits limits;
	unsigned stops; /* enum walk_stops */
	uint32_t jobs;
	/* so many failure points share their runs; 0 or 1: none do */
	uint64_t window;
	const crash_events *window_ends; /* by window; NULL: crash_explore() finds them */
	struct shard shard;              /* only this part of the failure points */
	const struct index *index;       /* with which a walk begins in the middle; NULL: none */
	/* what an earlier run of this shard found, which is taken; NULL: none */
	struct crash_result *done;
	/* what all shards found together, which is taken: only what depends on all of it is left;
	 * NULL: none */
	struct crash_result *sum;
	/* More of the failure points are done: the result, as part_pass() sends it, can be gone on
	 * with. NULL: nobody wants to know. */
	void (*keep)(struct crash_result *r, void *arg);
	void *keep_arg;
	bool wants_first_crashes;
	bool watches_output; /* what recovery prints on states that lost something is compared */
	bool may_lack_news;  /* a recording that stored nothing new is fine */
	struct race_options races;
	struct types_options types;     /* representative: how stores are typed */
	const struct dump_texts *texts; /* of what is allowed, from an earlier exploration; NULL */
	/* for every failure point, instead of the operations of the trace; NULL */
	const struct allowed *allowed;
	/* Called a few times a second while workers work. npoints: how many failure points there
	 * are in all. */
	void (*progress)(const struct crash_counters *c, uint64_t npoints, void *arg);
	/* Asked as often: true ends the exploration; what was found so far counts. */
	bool (*is_interrupted)(void *arg);
	void *arg;
};

typedef VEC(char *) crash_reasons;

struct crash_result {
	/* one of each signature, in the order of failure points */
	VEC(struct first_crash) first_crashes;
	VEC(struct crash_bug) bugs; /* in the order of failure points */
	/* in the order of failure points; also those that are meant so */
	VEC(struct race) races;
	struct outputs outputs;  /* with watches_output */
	struct run_reads reads;  /* of all lazy runs */
	struct dump_texts texts; /* what dumps printed with nothing lost */
	struct crash_counters counters;
	uint64_t npoints;
	uint64_t walk_ns; /* that it took to walk to all of them */
	bool has_roi;     /* recovery names what of it counts */
	/* failure points (representative: stops of the first wave) of this shard, or all; of these,
	 * those that are done for good */
	uint64_t nshare, ndone;
	/* representative: of the first wave */
	VEC(uint64_t) stops_begun, stops_done, variants_failed;
	/* of a shard: what was concluded about races, and how that came about */
	race_turns race_turns;
	struct representatives *representatives; /* what was tested; NULL: another strategy */
	struct big states_seen, states_all;      /* represented by the runs; that there are */
	/* recovery does not accept that there is no pool yet: crashes before it was made were not
	 * run */
	bool needs_pool;
	bool is_of_files; /* files_explore(): a pool is a file below --files */
	/* all states were explored, with files beside the pool as they are now */
	bool is_exhausted;
	bool is_complete;
	/* such a file that recovery uses, if all states were explored; NULL: none was found */
	char *beside;
	/* all of it was explored here, lazily: counters_have_read() speaks of all runs */
	bool knows_reads;
	bool is_watched; /* of every run, `reads` knows what it read: none was on a whole image */
	/* the trace is damaged, or the user interrupted: more than a budget is missing */
	bool is_broken_off;
	crash_reasons why_incomplete; /* none if complete */
	char *why_fallback;           /* why some states were run as whole images; NULL: none */
	char *why_impossible; /* why recovery could not be run on some states; NULL: it could */
	/* why there are fewer workers than was asked for; NULL: there are not */
	char *why_slower;
	/* why --dump could not be compared; NULL: it was, or was not asked for */
	const char *why_no_dump;
	uint32_t timeout_ms;                      /* that was used */
	VEC(struct trace_object) objects[PART_N]; /* of each command, for stacks; paths are owned */
};
void crash_result_release(struct crash_result *r);

#endif
