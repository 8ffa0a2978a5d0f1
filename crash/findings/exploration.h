/* Declares the options of an exploration of crashes, and its result. */
#ifndef CRASH_FINDINGS_EXPLORATION_H
#define CRASH_FINDINGS_EXPLORATION_H

#include "crash/index/index.h"
#include "crash/races/races.h"
#include "crash/representative/representative.h"
#include "crash/search/dump_texts.h"
#include "crash/search/explain.h"
#include "crash/search/explorer.h"
#include "model/files.h"
#include "util/wire.h"

#define SHARDS_MAX 65536u

/* One of several parts of an exploration; of is 0 for the whole. workers/share.h divides the
 * failure points. */
struct shard {
	uint32_t index, of; /* index counts from 1 */
};

/* A state whose recovery writes: a second crash, during that recovery, may be worth exploring. */
struct first_crash {
	uint64_t signature; /* hash of the places that recovery writes */
	/* what recovery did not read has its oldest content; otherwise the newest */
	bool is_oldest;
	uint64_t point, seq;   /* seq: the event before which the crash comes */
	uint64_t operation;    /* the operation that the crash interrupted; 0: not needed */
	char *state;           /* as for --replay */
	VEC(uint64_t) allowed; /* what a dump may print after this crash */
};

/* A state of followed files on which recovery fails. A part of an exploration notes such states:
 * which bug explains one depends on the bugs of earlier failure points, so it is asked when all
 * parts are together. */
struct failing_state {
	uint64_t point, number; /* number: of those at the failure point, in the order of runs */
	/* as for --replay; by profile, a state that it allows; NULL: there is none */
	char *states[FILES_PROFILES];
	/* how recovery failed, as in struct verdict */
	uint32_t kind;
	int32_t code;
	uint64_t site;
};

struct crash_result;

typedef VEC(uint64_t) crash_events; /* the events before which the crashes come */

struct crash_options {
	const char *trace;
	const struct platform *platform;
	/* of followed files: the states to explore. If all are explored, findings say which
	 * profiles have them, too */
	enum files_profile profile;
	const struct strategy *strategy;
	const struct recovery *recovery;
	struct runner_options runner;
	struct explorer_limits limits;
	unsigned stops; /* enum walk_stops */
	uint32_t jobs;
	/* number of failure points that share their runs; 0 or 1: no sharing */
	uint64_t window;
	/* by window: its last event; NULL: crash_explore() computes them */
	const crash_events *window_ends;
	struct shard shard; /* explore only this part of the failure points */
	/* lets a walk begin in the middle of the trace; NULL: none */
	const struct index *index;
	/* the result of an earlier run of this shard, which is continued; NULL: none */
	struct crash_result *done;
	/* the combined results of all shards: only conclusions that need all of them are left;
	 * NULL: none */
	struct crash_result *sum;
	/* Called when more failure points are done. The result, as part_pass() sends it, can be
	 * continued later. NULL: not called. */
	void (*keep)(struct crash_result *r, void *arg);
	void *keep_arg;
	bool wants_first_crashes;
	bool watches_output; /* compare what recovery prints on states that lost something */
	bool may_lack_news;  /* a recording that stored nothing new is accepted */
	struct race_options races;
	struct types_options types; /* for representative: how stores are typed */
	/* texts of the allowed dumps, from an earlier exploration; or NULL */
	const struct dump_texts *texts;
	/* the dumps that are allowed at every failure point, instead of the trace's operations; or
	 * NULL */
	const struct allowed *allowed;
	/* Called a few times per second while workers work. npoints: number of all failure
	 * points. */
	void (*progress)(const struct crash_counters *c, uint64_t npoints, void *arg);
	/* Called while trials find out which findings have one cause, with the number of their
	 * runs; NULL: nobody wants to know. */
	void (*diagnosing)(uint64_t nruns, void *arg);
	/* Called with findings while workers work, if wants_found() says so; NULL: not called.
	 * Several workers may find the same one. Those left at the end are told then. */
	bool (*wants_found)(void *arg);
	void (*found)(const struct crash_bug *b, void *found_arg);
	void *found_arg;
	/* Asked as often as progress is told; true ends the exploration, and its results so far
	 * count. */
	bool (*is_interrupted)(void *arg);
	void *arg;
};

typedef VEC(char *) crash_reasons;

/* Recovery fails from one failure point on, whatever is lost, and copes from another one on if
 * nothing is. crash/creation.h proves it. */
struct creation {
	uint64_t first, end; /* end: where it copes; 0: there is no such thing */
	uint64_t end_seq;    /* the event before which that crash comes */
};

struct crash_result {
	/* one per signature, in the order of failure points */
	VEC(struct first_crash) first_crashes;
	VEC(struct crash_bug) bugs; /* in the order of failure points */
	struct creation creation;   /* explains several of the bugs */
	/* in the order of failure points; includes races that are intended */
	VEC(struct race) races;
	struct outputs outputs;  /* if watches_output is set */
	struct run_reads reads;  /* of all lazy runs */
	struct dump_texts texts; /* what dumps printed with nothing lost */
	struct crash_counters counters;
	uint64_t npoints;
	uint64_t walk_ns; /* time of a walk to all failure points */
	bool has_roi;     /* recovery marks regions of interest */
	/* nshare: failure points of this shard, or all (with representative: stops of the first
	 * wave); ndone: those that are completely done */
	uint64_t nshare, ndone;
	/* with representative: about the first wave */
	VEC(uint64_t) stops_begun, stops_done, variants_failed;
	/* of a shard: the conclusions about races, and on what they depended */
	race_turns race_turns;
	struct representatives *representatives; /* what was tested; NULL: another strategy */
	/* the states for which the runs stand; all states */
	struct big states_seen, states_all;
	/* recovery does not accept a missing pool, so crashes before the pool was made were not
	 * run */
	bool needs_pool;
	bool is_of_files; /* files_explore(): a pool is a file below --files */
	/* of a part of files_explore(), and of the sum of parts: to be explained */
	VEC(struct failing_state) failing;
	/* of files_explore(): a line of memory has more contents than could be listed */
	bool has_partial_lines;
	/* all states were explored, with today's files beside the pool */
	bool is_exhausted;
	bool is_complete;
	/* such a file that recovery uses, if all states were explored; NULL: none was found */
	char *beside;
	bool is_own; /* explored here, and not in parts; perhaps not everything */
	/* everything was explored here, lazily, so counters_have_read() covers all runs */
	bool knows_reads;
	bool is_watched; /* `reads` covers all runs: none was on a whole image */
	/* the trace is damaged or the user interrupted; more than a budget is missing */
	bool is_broken_off;
	crash_reasons why_incomplete; /* empty if complete */
	/* why some states were run as whole images; NULL: none were */
	char *why_fallback;
	/* PM files that recovery does not read when nothing is lost, although it reads another one;
	 * NULL: there are none */
	char *unread;
	char *why_impossible; /* why recovery could not be run on some states; NULL: it could */
	/* why there are fewer workers than asked for; NULL: there are not */
	char *why_slower;
	/* why --dump was not compared; NULL: it was compared, or not asked for */
	const char *why_no_dump;
	uint32_t timeout_ms;                      /* the time limit that was used */
	VEC(struct trace_object) objects[PART_N]; /* by command, for stacks; paths are owned */
};
void crash_result_release(struct crash_result *r);

#endif
