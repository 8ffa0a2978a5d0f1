/* Findings of one cause become one: between report_add() and report_finish(). Who knows what
 * explains what is account/causes/. */
#ifndef REPORT_CAUSES_H
#define REPORT_CAUSES_H

#include "report/bug.h"

/* What was added so far, in that order. Nothing is moved until report_finish(). */
size_t report_ndrafts(const struct report *r);
const struct bug *report_draft(const struct report *r, size_t i);

/* The instructions that its first place was seen at, with their callers: ids of sites. */
size_t report_draft_nsites(const struct report *r, size_t i);
uint32_t report_draft_site(const struct report *r, size_t i, size_t k);

/* Lists finding i under the cause, or under that one's own cause; false if it is the same already.
 * Not counted any more, and hidden with its cause. */
bool report_explain(struct report *r, size_t i, size_t cause);
size_t report_cause(const struct report *r, size_t i); /* i itself if it has none */
/* Finding i may have the cause of the other one. No trial showed it, so both stay and are
 * counted. */
void report_may_share(struct report *r, size_t i, size_t cause);
/* Listed under its cause, it is gone when all causes are mended; not shown for that one alone. */
void report_takes_all(struct report *r, size_t i);
/* The finding is only a warning, and this sentence says why. undecided_by: the file on which it
 * depends; NULL: none. */
void report_demote(struct report *r, size_t i, const char *reason, const char *undecided_by);
/* It is as severe as its kind, after all. */
void report_restore(struct report *r, size_t i);
/* It turned out to be none. The numbers of those behind it become smaller by one. */
void report_drop(struct report *r, size_t i);
bool report_is_dropped(const struct report *r, const struct bug *b); /* one like it was */
/* Calls back with each site of its first place, until that gives false. False: so it did, or no
 * site is known. */
bool report_each_site(const struct report *r, size_t i, bool (*each)(uint32_t site, void *arg),
		      void *arg);
/* It is a finding of its own, after all, with what is listed under it. Who borrowed its crash has
 * none any more. */
void report_unexplain(struct report *r, size_t i);
/* The cause shows by the crash of its consequence, unless it has one. */
void report_lend_crash(struct report *r, size_t cause, size_t consequence);
/* It is about these places instead. */
void report_set_locations(struct report *r, size_t i, const struct bug_location *locations,
			  size_t n, const char *message);

#endif
