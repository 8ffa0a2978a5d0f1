/* Declares the state of a check, which is shared by the files that run the oracles (check.c,
 * oracles.c) and the file that answers their questions (context.c). */
#ifndef CHECK_CHECK_INTERNAL_H
#define CHECK_CHECK_INTERNAL_H

#include "check/check.h"
#include "check/findings.h"
#include "model/cut.h"
#include "trace/followed.h"

struct oracle_run {
	const struct oracle *oracle;
	void *state;
	bool is_asleep;
};

/* From this event on, moments are looked at, or not. */
struct watch {
	uint64_t seq;
	bool is_on;
};

struct check {
	const struct platform *platform;
	struct model *model;
	bool is_distrusting;
	uint64_t ntrusted;
	VEC(struct oracle_run) oracles;
	/* by class of events: the oracles that get such events */
	VEC(uint32_t) told[EVENT_OTHER + 1];
	uint64_t use_seq; /* the flush that `use` is about; 0: none yet */
	enum model_use use;
	struct findings findings;
	bool (*is_same_line)(const struct trace_site *a, const struct trace_site *b, void *arg);
	void *line_arg;
	void (*on_finding)(const struct finding *f, void *arg);
	void *arg;
	struct ranges ignored; /* PMEND_IGNORE */
	/* pmemcheck's REMOVE_PMEM_MAPPING: stores there do not count while it is in effect */
	struct ranges not_pm;
	/* pmemcheck's SET_CLEAN, until the bytes are stored to again */
	struct ranges clean;
	struct ranges unread; /* not read by recovery */
	VEC(bool) exited;     /* by stream */
	/* which threads were killed, and their last chance to flush */
	struct cut cut;
	const followed_files *followed; /* NULL: no file is followed */
	VEC(uint64_t) executions;       /* of flushes and fences, by site */
	VEC(struct check_served) served;
	VEC(struct watch) watches;
	VEC(struct check_candidate) candidates;
	uint32_t skip_depth; /* nesting depth of PMEND_SKIP_CHECK */
	bool has_roi, in_roi;
	bool is_again; /* second pass over the events */
};

/* context.c: notes what an event says about moments and bytes that do not count. */
void context_note(struct check *c, const struct trace_event *ev);

/* oracles.c: starts the oracles that the options select. */
void oracles_begin(struct check *c, const struct check_options *o);
/* Lets oracles fall asleep or wake up; called at the beginning, and when the model has taken an
 * EVENT_OTHER. */
void oracles_wake(struct check *c);

#endif
