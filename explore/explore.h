/* An exploration of a program's inputs: which to run next. The caller runs them:
 *
 *	explore_seed(e, bytes);
 *	while (explore_next(e, &in)) {
 *		… run in.bytes, recorded and traced …
 *		explore_done(e, &in, file, &err);
 *	}
 */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "explore/path/flip.h"
#include "explore/search.h"

#define EXPLORE_NO_RUN UINT32_MAX

struct explore_options {
	const struct search_strategy *strategy;
	const struct solver_api *solver;
	unsigned solver_timeout_ms;
	uint64_t random; /* a seed */
	const char *cache;
	size_t len_bytes; /* of an input */
};

struct explore_input {
	uint8_t *bytes;        /* len_bytes of them */
	uint32_t parent, step; /* it flips this step of that run; EXPLORE_NO_RUN: a seed */
	uint64_t key;          /* by which it was claimed; 0: it was not, because nobody shares */
};

struct explore_stats {
	uint64_t runs, steps, diverged, waiting, blocks, pm_known, pm_covered;
	struct flip_stats flips;
};

struct explore;

struct explore *explore_new(const struct explore_options *o);
void explore_free(struct explore *e);
/* copied; one that was there already is left out */
void explore_seed(struct explore *e, const uint8_t *bytes);
/* was run before, by an earlier start: not again */
void explore_known(struct explore *e, const struct explore_input *in);
/* Nothing is known of these bytes: the strategy may begin with texts there (explore/texts.h). */
void explore_allow_text(struct explore *e, size_t index, size_t len_bytes);
/* what comes before and after that byte is to be kept apart */
void explore_bound(struct explore *e, size_t index);
void explore_fix(struct explore *e, uint64_t index, uint8_t value); /* that byte stays */

/* A store there may modify PM, says an analysis of the source. */
void explore_suspect(struct explore *e, const char *file, uint32_t line);

/* The next input, which the caller frees with explore_input_release(). False: nothing is left to
 * try, or is_stopped() said so while looking. */
bool explore_next(struct explore *e, struct explore_input *in, bool (*is_stopped)(void *arg),
		  void *arg);
void explore_input_release(struct explore_input *in);

/* The path that it took. -1 if the file cannot be read; it counts as a run nevertheless. */
int explore_done(struct explore *e, const struct explore_input *in, const char *file,
		 struct error *err);
/* An instruction that modified PM in a run, by its place in the object's file. */
/* true: it is the first time */
bool explore_cover(struct explore *e, const char *object, uint64_t offset);

/* ---- several explorations of one program, in processes that know of each other ---- */

struct explore_sharing {
	/* true: nobody else tries it from now on. Else it is put off */
	bool (*claim)(uint64_t key, void *arg);
	/* no input comes of it; is_unknown: the solver ran out of time */
	void (*failed)(uint64_t key, bool is_unknown, void *arg);
	void *arg;
};
/* from now on; copied */
void explore_share(struct explore *e, const struct explore_sharing *sharing);
/* Another one ran this input (parent and step: as they are called here). -1: the file cannot be
 * read, and nothing is known of the input. */
int explore_take(struct explore *e, const struct explore_input *in, const char *file,
		 struct error *err);
/* a run of which nothing is known any more keeps its number */
void explore_skip(struct explore *e);
void explore_settle(struct explore *e, uint64_t key); /* another one has tried it */
/* the run of this input; EXPLORE_NO_RUN: there is none */
uint32_t explore_find(const struct explore *e, const uint8_t *bytes);
/* what others have claimed, and not tried yet; to be asked after others' news */
size_t explore_nput_off(struct explore *e);
/* nobody does it, it seems: explore_next() gives it from now on */
void explore_claim_all(struct explore *e);

struct explore_stats explore_stats(const struct explore *e);
/* What was lost or taken as concrete, over all runs; ends with an entry without text. */
const struct path_count *explore_counts(const struct explore *e);

#endif
