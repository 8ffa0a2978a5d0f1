/* Records a program again and again, each time under another order of its threads (a schedule), and
 * adds up what is found. */
#ifndef SESSION_SCHEDULES_H
#define SESSION_SCHEDULES_H

#include "record/recording.h"
#include "report/bug.h"
#include "util/map.h"

#define SCHEDULES_MAX 10000u

struct schedules;

/* n: how many schedules there are to be. */
struct schedules *schedules_new(uint32_t n, uint64_t seed);
void schedules_free(struct schedules *s);

/* For callers that run the recorder themselves: chooses the order of the next schedule, which
 * borrows from s until the next call; */
struct schedule schedules_next(struct schedules *s);
/* how long it may take, if nobody says it, and the first took so long; */
uint32_t schedules_seconds(uint32_t first_seconds);
/* and reads the trace that it gave. is_cut: it took too long, and was ended. */
void schedules_look(struct schedules *s, const char *path, bool is_cut);

/* Records the next schedule to `path`. The program's PM files are restored before, unless they are
 * set aside for each recording (r->fresh), and so are folders that are followed. r->platform and so
 * on are the user's. Returns the result of the recording; RECORDED_NOTHING with err also if the
 * files cannot be restored. */
enum recorded schedules_record(struct schedules *s, const struct recording *r, char **target,
			       const char *path, struct error *err);
/* To be called after the last one: what it left in the folders stays. Without any, they get back
 * what they held. */
void schedules_leave(struct schedules *s, const struct notes *notes);
/* Is there another schedule to record? */
bool schedules_has_next(const struct schedules *s);
uint32_t schedules_number(const struct schedules *s); /* of the last one recorded, from 1 */
/* Does the last schedule repeat the order of an earlier one, whose number is *of? Then nothing new
 * can be found in it. */
bool schedules_is_repeat(const struct schedules *s, uint32_t *of);
/* Notes the pairs of a store and another thread's load that the schedules showed, as met or as
 * possible, in `known`. True: one of them was not there. */
bool schedules_note_pairs(const struct schedules *s, struct map *known);
/* Does the report about a schedule have something that the earlier ones have not? */
bool schedules_is_new(const struct schedules *s, const struct report *r);
/* Adds the finished report about a schedule; frees it. trace: where its trace is kept; NULL:
 * nowhere. */
void schedules_add(struct schedules *s, uint32_t number, struct report *r, const char *trace);
/* Gives the report of all, which is not finished. To be called once. */
struct report *schedules_report(struct schedules *s);

/* Adds up the schedules of several programs, or of one on several inputs. */
struct schedules_sum {
	struct report_schedules counts;
	char *departure; /* why the first that departed from its seed did; NULL: none did */
	bool has_processes;
};
void schedules_sum_add(struct schedules_sum *sum, const struct schedules *s);
/* Says in the report, whose coverage is known, how many schedules there were. */
void schedules_sum_tell(const struct schedules_sum *sum, struct report *r);
void schedules_sum_release(struct schedules_sum *sum);

#endif
