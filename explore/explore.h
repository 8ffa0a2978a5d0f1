/* Explores the inputs of a program: chooses which input to run next. The caller runs them:
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
	uint64_t random; /* seeds the random numbers */
	const char *cache;
	size_t len_bytes; /* of every input */
};

struct explore_input {
	uint8_t *bytes; /* has len_bytes of the options */
	/* the run and its step that this input flips; parent is EXPLORE_NO_RUN for a seed */
	uint32_t parent, step;
	uint64_t key; /* the key by which it was claimed; 0 without sharing */
};

struct explore_stats {
	uint64_t runs, steps, diverged, waiting, blocks, pm_known, pm_covered;
	struct flip_stats flips;
};

struct explore;

struct explore *explore_new(const struct explore_options *o);
void explore_free(struct explore *e);
/* Adds an input to begin with (copied), unless it is known. */
void explore_seed(struct explore *e, const uint8_t *bytes);
/* Notes an input that an earlier start has run, so that it is not run again. */
void explore_known(struct explore *e, const struct explore_input *in);
/* Says that nothing is known about these bytes: the strategy may fill them with texts
 * (explore/start_texts.h). */
void explore_allow_text(struct explore *e, size_t index, size_t len_bytes);
/* Says that a part of the input begins at this byte: what is moved stays within its part. */
void explore_bound(struct explore *e, size_t index);
/* Says that this byte must have this value in every input. */
void explore_fix(struct explore *e, uint64_t index, uint8_t value);

/* Says that, by an analysis of the source, stores in this line may modify PM. */
void explore_suspect(struct explore *e, const char *file, uint32_t line);

/* Gives the next input; free it with explore_input_release(). False if nothing is left to try, or
 * if is_stopped() says so meanwhile. */
bool explore_next(struct explore *e, struct explore_input *in, bool (*is_stopped)(void *arg),
		  void *arg);
void explore_input_release(struct explore_input *in);

/* Adds the path that the input's run took. -1 if the file cannot be read; the run counts anyway. */
int explore_done(struct explore *e, const struct explore_input *in, const char *file,
		 struct error *err);
/* Notes that an instruction, by its offset in the object's file, modified PM. */
/* Gives true if the instruction was not noted before. */
bool explore_cover(struct explore *e, const char *object, uint64_t offset);
bool explore_is_covered(struct explore *e, const char *object, uint64_t offset);

/* ---- several explorations of one program, in processes that share a folder ---- */

struct explore_sharing {
	/* true: no other exploration tries it from now on; false: another one has claimed it */
	bool (*claim)(uint64_t key, void *arg);
	/* no input comes of it; is_unknown: the solver ran out of time */
	void (*failed)(uint64_t key, bool is_unknown, void *arg);
	void *arg;
};
/* Shares the exploration from now on: calls the functions of the struct, which is copied. */
void explore_share(struct explore *e, const struct explore_sharing *sharing);
/* Adds a run of another exploration; parent and step are the numbers used here. -1 if the file
 * cannot be read; then nothing changes. */
int explore_take(struct explore *e, const struct explore_input *in, const char *file,
		 struct error *err);
/* Adds a run about which nothing is known any more, so that later runs keep their numbers. */
void explore_skip(struct explore *e);
void explore_settle(struct explore *e, uint64_t key); /* another exploration has tried it */
/* Gives the number of the run that had this input; EXPLORE_NO_RUN if there is none. */
uint32_t explore_find(const struct explore *e, const uint8_t *bytes);
/* Counts the flips and seeds that other explorations have claimed and not tried yet. Read their
 * news before you ask. */
size_t explore_nput_off(struct explore *e);
/* Takes over the flips and seeds that others have claimed and do not seem to try: explore_next()
 * gives them from now on. */
void explore_claim_all(struct explore *e);

struct explore_stats explore_stats(const struct explore *e);
/* Counts, over all runs, what could not be followed as an expression: it was lost or became a plain
 * number. The list ends with an entry whose `what` is NULL. */
const struct path_count *explore_counts(const struct explore *e);

#endif
