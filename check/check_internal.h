/* The state of a check, shared by those who run the oracles (check.c, oracles.c) and those who
 * answer them (context.c). */
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

/* From this event on, things are looked at or not. */
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
	/* which of them are told of an event, by its class */
	VEC(uint32_t) told[EVENT_OTHER + 1];
	uint64_t use_seq; /* of the flush that `use` is about; 0: none yet */
	enum model_use use;
	struct findings findings;
	bool (*is_same_line)(const struct trace_site *a, const struct trace_site *b, void *arg);
	void *line_arg;
	void (*on_finding)(const struct finding *f, void *arg);
	void *arg;
	struct ranges ignored; /* PMEND_IGNORE */
	/* pmemcheck's REMOVE_PMEM_MAPPING: stores there are none to us, while that holds */
	struct ranges not_pm;
	struct ranges clean;            /* pmemcheck's SET_CLEAN, until stored to again */
	struct ranges unread;           /* by recovery */
	VEC(bool) exited;               /* by stream */
	struct cut cut;                 /* who was killed, and when they last had a chance */
	const followed_files *followed; /* NULL: no file is */
	VEC(uint64_t) executions;       /* of flushes and fences, by site */
	VEC(struct check_served) served;
	VEC(struct watch) watches;
	uint32_t skip_depth; /* PMEND_SKIP_CHECK */
	bool has_roi, in_roi;
	bool is_again; /* the events come for the second time */
};

/* context.c: remembers what the event says about where to look. */
void context_note(struct check *c, const struct trace_event *ev);

/* oracles.c: starts the oracles that the options ask for. */
void oracles_begin(struct check *c, const struct check_options *o);
/* At the beginning, and when the model has taken an EVENT_OTHER: some fall asleep or wake up. */
void oracles_wake(struct check *c);

#endif
