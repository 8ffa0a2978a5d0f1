/* Judges one execution: replays a trace through a persistency model and lets the oracles look at
 * each event. An oracle is one file and one row in the table (oracles.c); it asks the model and
 * reports findings (oracle.h). */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "check/oracle.h"
#include "model/cut.h"
#include "trace/followed.h"

extern const struct oracle *const oracles[]; /* ends with NULL */

struct plugin;

struct check_options {
	const struct platform *platform;
	bool is_platform_chosen; /* by what the program does; nobody asked for it */
	/* names of oracles to run, ends with NULL; NULL: all but the optional ones */
	const char *const *only;
	const char *const *with;       /* optional ones to add */
	struct plugin *const *plugins; /* more oracles (plugin.h), ends with NULL; NULL: none */
	/* PMDK's libraries are judged like other code: on arm64 their dmb is no dsb */
	bool is_distrusting;
	/* Bytes that no recovery run reads, if recovery was run: then nothing there can be lost.
	 * NULL: not known. */
	const struct ranges *unread;
	/* Files that are synced by calls, and are no memory to the program; NULL: there are
	 * none. */
	const followed_files *followed;
	/* Two instructions with the same caller are of one line of the source; NULL: nobody
	 * knows. */
	bool (*is_same_line)(const struct trace_site *a, const struct trace_site *b, void *arg);
	void *line_arg;
	/* Told of each finding as often as it is made, with the event of that one time; NULL:
	 * nobody. */
	void (*on_finding)(const struct finding *f, void *arg);
	void *arg;
};

/* -1: an oracle's name is wrong */
int check_options_verify(const struct check_options *o, struct error *err);
struct check *check_new(const struct check_options *o, struct error *err); /* NULL: the same */
void check_free(struct check *c);
void check_event(struct check *c, const struct trace_event *ev);
void check_finish(struct check *c);
/* After check_finish(): if an oracle wants the events once more, check_again() and check_event()
 * for each of them, from a reader of its own, which stays open as long as the findings are in
 * use. */
bool check_wants_again(const struct check *c);
void check_again(struct check *c);
void check_finish_again(struct check *c); /* after the last event of that */

enum cut_extent check_cut(const struct check *c); /* who was cut off while recorded */
/* After check_finish(): how often a dmb of PMDK's libraries was taken for a dsb. */
uint64_t check_ntrusted(const struct check *c);
/* Flushes and stores that they wrote back, a few for each place of the program: functions between
 * the two only flush, for others. */
struct check_served {
	const struct trace_site *flush, *store;
};
size_t check_nserved(const struct check *c);
const struct check_served *check_served(const struct check *c, size_t i);
size_t check_nfindings(const struct check *c);
const struct finding *check_finding(const struct check *c, size_t i); /* in order of first_seq */

/* Has some oracles look at a trace, and tells of each finding as often as it is made. Tells nothing
 * if the trace does not say its platform. */
void check_listen(const struct trace *t, const char *const *names,
		  void (*on_finding)(const struct finding *f, void *arg), void *arg);

#endif
