/* Declares what an oracle is, what it may ask, and what it reports. The file of an oracle includes
 * this, not check.h: it does not know who runs it. */
#ifndef CHECK_ORACLE_H
#define CHECK_ORACLE_H

#include "check/ranges.h"
#include "model/model.h"
#include "trace/trace.h"

/* ---- findings ---- */

#define FINDING_MAX_PLACES 4

#define FLUSH_CLEAN "flush-clean" /* reported where a helper is called, see check_nserved() */

struct finding_place {
	/* store, flush, fence, load, persisted, acknowledged, unlock, tx, assert, lost, survived or
	 * declared */
	const char *role;
	const struct trace_site *site;
};

enum finding_severity { FINDING_AS_KIND, FINDING_CORRECTNESS, FINDING_PERFORMANCE };

/* One source situation. Findings with the same kind, message and sites are one, however often they
 * occur. */
struct finding {
	const char *kind;
	const char *message; /* one sentence; message and kind are constants, compared by address */
	const char *advice;  /* NULL: the advice of the kind */
	/* why it is only a warning, a constant; NULL: its kind decides */
	const char *reason;
	enum finding_severity severity; /* set for kinds of plug-ins, which are unknown elsewhere */
	struct finding_place places[FINDING_MAX_PLACES];
	size_t nplaces;
	uint64_t first_seq, count;
	uint64_t addr; /* of the first occurrence; 0: unknown */
	/* of files: a bit for each profile that has it; 0: it is not about files */
	unsigned profiles;
	bool is_cut; /* no bug: its thread was cut off before it could do what is missing */
	/* how often the first place was executed, if it is a flush or fence; filled at the end */
	uint64_t executions;
};

/* ---- oracles ---- */

struct check;

/* Classes of events. Nearly all events are stores, flushes and fences; an oracle that wants none of
 * these costs nothing. */
enum event_class {
	EVENT_STORE = 1, /* trace_is_store() */
	EVENT_FLUSH = 2, /* trace_is_flush() */
	EVENT_FENCE = 4, /* barriers, and other instructions that order but do not store to PM */
	EVENT_LOAD = 8,
	EVENT_OTHER = 16, /* all other events; every oracle gets these */
};

struct oracle {
	const char *name;
	const char *help;
	bool is_optional; /* runs only if its name is given */
	/* It looks at files that are synced by calls (--files). Other oracles do not see such
	 * files, and this one does not see memory. */
	bool is_for_files;
	/* enum event_class: the events it gets besides EVENT_OTHER */
	unsigned classes;
	/* Does it want nothing but EVENT_OTHER now? Asked at the beginning, and after each
	 * EVENT_OTHER, when the model has taken it. NULL: it is always awake. */
	bool (*is_asleep)(const void *state, const struct check *c);
	void *(*begin)(void);
	/* Called before the model takes the event, so the model answers for the moment before. */
	void (*step)(void *state, struct check *c, const struct trace_event *ev);
	void (*finish)(void *state, struct check *c); /* after the last event */
	void (*end)(void *state);
	/* Does it want the same events once more? For an oracle that knows only at the end what to
	 * look for. Set both functions, or none. */
	bool (*wants_again)(const void *state);
	void (*step_again)(void *state, struct check *c, const struct trace_event *ev);
	/* after the last event of the second pass; may be NULL */
	void (*finish_again)(void *state, struct check *c);
};

/* ---- what an oracle can ask (context.c) ---- */

const struct model *check_model(const struct check *c);
const struct platform *check_platform(const struct check *c);
bool check_follows_files(const struct check *c); /* are any files followed because of --files? */
/* Gives the model_flush_use() of a flush, which is computed once for all oracles. */
enum model_use check_flush_use(struct check *c, const struct trace_event *flush);
/* Reports one occurrence of a finding; `count` is ignored. */
void check_report(struct check *c, const struct finding *f);
/* Are two instructions with the same caller in the same line of the source? False if unknown. */
bool check_is_same_line(const struct check *c, const struct trace_site *a,
			const struct trace_site *b);
/* Notes that this flush wrote back what this store wrote. Such pairs show which functions only
 * flush for their callers: struct check_served. Both are sites of the trace. */
void check_note_served(struct check *c, const struct trace_site *flush,
		       const struct trace_site *store);
/* To be called at the end: notes a pair of a store and another thread's load that can meet before
 * the store is durable, but did not. */
void check_note_candidate(struct check *c, const struct trace_site *store,
			  const struct trace_site *load);
/* Do the bytes not matter? The program declared them volatile, or clean since they were last
 * stored; or recovery never reads them. */
bool check_is_ignored(const struct check *c, uint64_t addr, uint64_t len_bytes);
/* Is the site code of libc, ld.so or the like? Their fences and locked instructions do not count as
 * the program's. */
bool check_is_runtime_code(const struct trace_site *site);
bool check_is_pmdk_code(const struct trace_site *site);   /* libpmem, libpmemobj and the like */
const struct ranges *check_unread(const struct check *c); /* see check_options */
/* Gives the range that a flush, msync, fsync or fdatasync writes back to where data is durable: a
 * line, whole pages, a file, or all of PM. Empty if it writes nothing back. */
struct range check_written_back(const struct check *c, const struct trace_event *ev);
/* Was the thread cut off before it could do anything after its event seq? Its process was killed,
 * or the trace is damaged. To be asked at the end. */
bool check_is_cut(const struct check *c, uint32_t stream, uint32_t thread, uint64_t seq);
bool check_is_cut_process(const struct check *c, uint32_t stream);
/* Has the process begun its exit handlers and destructors, or ended? */
bool check_has_exited(const struct check *c, uint32_t stream);

#endif
