/* Judges one execution: replays a trace through a persistency model and lets the oracles look at
 * each event. An oracle is one file and one row of the table (oracles.c); it asks the model and
 * reports findings (oracle.h). */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "check/oracle.h"
#include "model/cut.h"
#include "model/files.h"
#include "trace/followed.h"

extern const struct oracle *const oracles[]; /* ends with NULL */

struct plugin;

struct check_options {
	const struct platform *platform;
	bool is_platform_chosen; /* by what the program does, not by an option */
	bool is_for_all;         /* the report is one of several, for all platforms */
	/* of followed files: findings that this profile does not have are left out */
	enum files_profile profile;
	/* names of the oracles to run, ends with NULL; NULL: all except the optional ones */
	const char *const *only;
	const char *const *with; /* optional oracles to add */
	/* additional oracles (plugin.h), ends with NULL; NULL: none */
	struct plugin *const *plugins;
	/* The recording is one of several under other orders of threads: which pairs of a store and
	 * a load did not meet is counted for all of them, not here. */
	bool is_schedule;
	/* PMDK's libraries are judged like other code: on arm64, their dmb does not count as dsb */
	bool is_distrusting;
	/* Bytes that no recovery run reads, if recovery was run: a crash can lose nothing of value
	 * there. NULL: unknown. */
	const struct ranges *unread;
	/* Files that are synced by calls and are no memory to the program; NULL: there are none. */
	const followed_files *followed;
	/* Are two instructions with the same caller in the same line of the source? NULL:
	 * unknown. */
	bool (*is_same_line)(const struct trace_site *a, const struct trace_site *b, void *arg);
	void *line_arg;
	/* Called for each occurrence of a finding, with its event; NULL: not called. */
	void (*on_finding)(const struct finding *f, void *arg);
	void *arg;
};

/* Checks the names of oracles in the options. -1: there is no oracle with one of these names. */
int check_options_verify(const struct check_options *o, struct error *err);
/* Makes a check with these options. NULL: a name of an oracle is wrong. */
struct check *check_new(const struct check_options *o, struct error *err);
void check_free(struct check *c);
void check_event(struct check *c, const struct trace_event *ev);
void check_finish(struct check *c);
/* Does an oracle want the events once more? To be asked after check_finish(). Then call
 * check_again(), and check_event() for each event, from another reader, which stays open as long as
 * the findings are in use. */
bool check_wants_again(const struct check *c);
void check_again(struct check *c);
void check_finish_again(struct check *c); /* after the last event of the second pass */

/* Says what was cut off while the program was recorded. */
enum cut_extent check_cut(const struct check *c);
/* To be called after check_finish(): says how often a dmb of PMDK's libraries counted as a dsb. */
uint64_t check_ntrusted(const struct check *c);
/* Pairs of a store and another thread's load that can meet before the store is durable, but did
 * not. To be called after check_finish(). */
struct check_candidate {
	const struct trace_site *store, *load;
};
size_t check_ncandidates(const struct check *c);
const struct check_candidate *check_candidate(const struct check *c, size_t i);
/* A flush and a store that it wrote back; a few per place of the program. They show which functions
 * between the two only flush for others. */
struct check_served {
	const struct trace_site *flush, *store;
};
size_t check_nserved(const struct check *c);
const struct check_served *check_served(const struct check *c, size_t i);
size_t check_nfindings(const struct check *c);
const struct finding *check_finding(const struct check *c, size_t i); /* in order of first_seq */

/* Runs some oracles on a trace, and calls a function for each occurrence of a finding. Calls
 * nothing if the trace does not say its platform. */
void check_listen(const struct trace *t, const char *const *names,
		  void (*on_finding)(const struct finding *f, void *arg), void *arg);

#endif
