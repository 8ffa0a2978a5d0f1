/* Records a program again and again, each time under another order of its threads (a schedule), and
 * adds up what is found. */
#ifndef SESSION_SCHEDULES_H
#define SESSION_SCHEDULES_H

#include "record/recording.h"
#include "report/bug.h"

#define SCHEDULES_MAX 10000u

struct schedules;

/* n: how many schedules there are to be. */
struct schedules *schedules_new(uint32_t n, uint64_t seed);
void schedules_free(struct schedules *s);

/* Records the next schedule to `path`. The program's PM files are restored before, unless they are
 * set aside for each recording (r->fresh). r->platform and so on are the user's. Returns the result
 * of the recording; RECORDED_NOTHING with err also if the files cannot be restored. */
enum recorded schedules_record(struct schedules *s, const struct recording *r, char **target,
			       const char *path, struct error *err);
/* Is there another schedule to record? */
bool schedules_has_next(const struct schedules *s);
uint32_t schedules_number(const struct schedules *s); /* of the last one recorded, from 1 */
/* Does the last schedule repeat the order of an earlier one, whose number is *of? Then nothing new
 * can be found in it. */
bool schedules_is_repeat(const struct schedules *s, uint32_t *of);
/* Does the report about the last schedule have something that the earlier ones have not? */
bool schedules_is_new(const struct schedules *s, const struct report *r);
/* Adds the finished report about the last schedule; frees it. trace: where its trace is kept; NULL:
 * nowhere. */
void schedules_add(struct schedules *s, struct report *r, const char *trace);
/* Gives the report of all, which is not finished. To be called once. */
struct report *schedules_report(struct schedules *s);

#endif
