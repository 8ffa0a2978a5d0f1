/* What an oracle is, what it may ask, and what it reports. A file that defines an oracle includes
 * this, not check.h: it does not know who runs it. */
#ifndef CHECK_ORACLE_H
#define CHECK_ORACLE_H

#include "check/ranges.h"
#include "model/model.h"
#include "trace/trace.h"

/* ---- findings ---- */

#define FINDING_MAX_PLACES 3

#define FLUSH_CLEAN "flush-clean" /* shown where a helper is called, see check_nserved() */

struct finding_place {
	const char *role; /* store | flush | fence | tx | assert | lost | survived | declared */
	const struct trace_site *site;
};

enum finding_severity { FINDING_AS_KIND, FINDING_CORRECTNESS, FINDING_PERFORMANCE };

/* One source situation. Findings with the same kind, message and sites are one, however often they
 * happen. */
struct finding {
	const char *kind;
	const char *message; /* one sentence; this and kind are constants, compared by address */
	const char *advice;  /* NULL: that of the kind */
	/* why it is only a warning, a constant; NULL: it is what its kind is */
	const char *reason;
	enum finding_severity severity; /* set for the kinds of plug-ins, which nobody else knows */
	struct finding_place places[FINDING_MAX_PLACES];
	size_t nplaces;
	uint64_t first_seq, count;
	uint64_t addr;       /* of the first time; 0: not said */
	bool is_cut;         /* no bug: its thread was cut off before it could do what is missing */
	uint64_t executions; /* of the first place, if it is a flush or fence; filled at the end */
};

/* ---- oracles ---- */

struct check;

/* Classes of events. Nearly all events are stores, flushes and fences; an oracle that wants none of
 * them costs nothing. */
enum event_class {
	EVENT_STORE = 1, /* trace_is_store() */
	EVENT_FLUSH = 2, /* trace_is_flush() */
	EVENT_FENCE = 4, /* barriers, and instructions that order without a store to PM */
	EVENT_LOAD = 8,
	EVENT_OTHER = 16, /* all the rest; each oracle is told of these */
};

struct oracle {
	const char *name;
	const char *help;
	bool is_optional; /* only when asked for by name */
	/* looks at files that are synced by calls (--files). Others do not see what happens to
	 * them, and this one does not see what happens to memory. */
	bool is_for_files;
	/* enum event_class: what it is told of besides EVENT_OTHER */
	unsigned classes;
	/* Does it want nothing but EVENT_OTHER now? Asked at the beginning, and after each
	 * EVENT_OTHER, when the model has taken it. NULL: it is always awake. */
	bool (*is_asleep)(const void *state, const struct check *c);
	void *(*begin)(void);
	/* Called before the model takes the event: it answers for the moment before. */
	void (*step)(void *state, struct check *c, const struct trace_event *ev);
	void (*finish)(void *state, struct check *c); /* after the last event */
	void (*end)(void *state);
	/* For one that knows only at the end what to look for: does it want the same events once
	 * more? Both or none. */
	bool (*wants_again)(const void *state);
	void (*step_again)(void *state, struct check *c, const struct trace_event *ev);
	/* after the last of them; may be NULL */
	void (*finish_again)(void *state, struct check *c);
};

/* ---- what an oracle asks (context.c) ---- */

const struct model *check_model(const struct check *c);
const struct platform *check_platform(const struct check *c);
bool check_follows_files(const struct check *c); /* any, of --files */
/* model_flush_use(), computed once for all oracles. */
enum model_use check_flush_use(struct check *c, const struct trace_event *flush);
/* count is ignored: each call is one */
void check_report(struct check *c, const struct finding *f);
/* Two instructions with the same caller are of one line of the source; not known: no. */
bool check_is_same_line(const struct check *c, const struct trace_site *a,
			const struct trace_site *b);
/* This flush wrote back what that store left. Both are sites of the trace. */
void check_note_served(struct check *c, const struct trace_site *flush,
		       const struct trace_site *store);
/* Bytes that the program declared to be volatile by intent, or clean, since they were last stored;
 * or that recovery never reads. */
bool check_is_ignored(const struct check *c, uint64_t addr, uint64_t len_bytes);
/* Code of libc, ld.so and the like: its fences and locked instructions are not the program's. */
bool check_is_runtime_code(const struct trace_site *site);
bool check_is_pmdk_code(const struct trace_site *site);   /* libpmem, libpmemobj… */
const struct ranges *check_unread(const struct check *c); /* see check_options */
/* What a flush, msync, fsync or fdatasync writes back to where data is durable: a line, whole
 * pages, a file, or all of PM. Nothing: an empty range. */
struct range check_written_back(const struct check *c, const struct trace_event *ev);
/* At the end: the thread was cut off (its process was killed, or the trace is damaged) before it
 * could do anything about event seq of its own. */
bool check_is_cut(const struct check *c, uint32_t stream, uint32_t thread, uint64_t seq);
bool check_is_cut_process(const struct check *c, uint32_t stream);
/* exit handlers and destructors are running, or it is gone */
bool check_has_exited(const struct check *c, uint32_t stream);

#endif
