/* From a trace to a report: runs the oracles of check/ over it and names the places they found. The trace is open; each reads it by a cursor of its own. */
#ifndef SESSION_JUDGE_H
#define SESSION_JUDGE_H

#include "check/check.h"
#include "report/bug.h"
#include "session/notes.h"
#include "trace/owner.h"

/* The platform that a trace was recorded for; NULL if it does not say. */
const struct platform *judge_platform(const struct trace *t, struct error *err);

/* Whose instructions a trace has, as far as it was read: "amd64" or "arm64". */
const char *judge_isa(const struct trace *t);
/* Does it make sense to judge the trace's instructions on this platform without being asked for it by name? */
bool judge_is_own(const struct trace *t, const struct platform *p);

/* Would the program have done the same on this platform? It is the recorded one's own answer; x86-adr, arm64 and eadr serve each
 * other; between those and msync, libpmem decides by the file and by PMEM_IS_PMEM_FORCE what it does. A recording of amd64 is judged on arm64 as
 * its port would be; not the other way round. -1 if not, with the reason in err. */
int judge_serves(const struct trace *t, const struct platform *recorded,
		 const struct platform *asked, struct error *err);

/* How a platform was chosen that nobody asked for, neither now nor when the trace was recorded. */
struct platform_choice {
	bool is_chosen; /* by what the program does: msync, because it syncs its files and flushes nothing */
	char *words; /* one line for the user, malloc'd: that it was, or why msync was not; NULL: nothing to say */
};
void platform_choice_tell(struct platform_choice *c,
			  const struct notes *notes); /* and frees the words; notes may be NULL */

/* The platform to judge a trace on: the asked one if the trace serves it. If asked is NULL, the recorded one, or the one that the program itself shows. NULL if none will do. how may be
 * NULL. */
const struct platform *judge_choose(const struct trace *t, const struct platform *asked,
				    struct platform_choice *how, struct error *err);

/* Tells the report what was recorded, and where. A scratch pool is {pool} there: its path means nothing any more. */
void judge_add_command(struct report *r, const struct trace *t);

/* What is said of a report in which a dmb of PMDK's libraries was taken for a dsb (model_ntrusted()). */
extern const char judge_trusted[];
extern const char judge_sandbox[];
char *judge_old_bytes(
	const struct trace *t,
	uint64_t
		nbytes); /* of --old-bytes: what it did, in words; NULL: it was not used. free() it */
char *judge_uncompared(
	const struct
	trace *t); /* a file that was not compared with the trace, in words; NULL: none. free() it */

/* A report that is not finished (report_finish(), or report_merge() with others). NULL if an oracle's name is wrong. A damaged trace is judged as far as it
 * goes; then is_complete is false, and the report's coverage says why. libraries may be NULL. */
struct report *judge_trace(const struct trace *t, const struct check_options *o,
			   const struct libraries *libraries, bool *is_complete, struct error *err);

/* Has some oracles look at a trace, and tells of each finding as often as it is made. Tells nothing if the trace does not say its platform. */
void judge_listen(const struct trace *t, const char *const *names,
		  void (*on_finding)(const struct finding *f, void *arg), void *arg);

/* Adds what an oracle found, at the places of its source. */
struct locator;
void judge_add(struct report *r, struct locator *l, const struct finding *f);

#endif
