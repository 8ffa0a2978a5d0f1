/* Lists findings of one cause under it, between report_add() and report_finish(). account/causes/
 * decides which finding causes which. */
#ifndef REPORT_CAUSES_H
#define REPORT_CAUSES_H

#include "report/bug.h"

/* Counts the findings so far. They have numbers in the order in which they were added, which stay
 * the same until report_finish(), except after report_drop(). */
size_t report_ndrafts(const struct report *r);
const struct bug *report_draft(const struct report *r, size_t i);

/* Counts the instructions (ids of sites, with their callers) at which the first location of finding
 * i was seen. */
size_t report_draft_nsites(const struct report *r, size_t i);
uint32_t report_draft_site(const struct report *r, size_t i, size_t k);

/* Lists finding i under `cause`, or under that finding's own cause. It is no longer counted, and is
 * hidden with its cause. False: it is listed there already. */
bool report_explain(struct report *r, size_t i, size_t cause);
/* Gives the cause of finding i; i itself if it has none. */
size_t report_cause(const struct report *r, size_t i);
/* Notes that finding i may have the same cause as finding `cause`. No trial decided that, so both
 * stay and are counted. */
void report_may_share(struct report *r, size_t i, size_t cause);
/* Notes that finding i, listed under its cause, vanishes when all causes are fixed; its cause alone
 * was not shown to be enough. */
void report_takes_all(struct report *r, size_t i);
/* Makes finding i a warning. reason: a sentence that says why. undecided_by: the file on which the
 * verdict depends; NULL: none. */
void report_demote(struct report *r, size_t i, const char *reason, const char *undecided_by);
/* Takes report_demote() back: the finding is as severe as its kind again. */
void report_restore(struct report *r, size_t i);
/* Removes finding i, which turned out to be no bug. The numbers of all later findings shrink by
 * one. */
void report_drop(struct report *r, size_t i);
/* Was a finding like b dropped? */
bool report_is_dropped(const struct report *r, const struct bug *b);
/* Calls each() with every site of the first location until it returns false. Returns true if it
 * never did and there is a site. */
bool report_each_site(const struct report *r, size_t i, bool (*each)(uint32_t site, void *arg),
		      void *arg);
/* Takes finding i out of its cause, together with its own consequences. Findings that borrowed its
 * crash lose it. */
void report_unexplain(struct report *r, size_t i);
/* Shows the crash of the consequence as that of the cause, unless the cause has one. */
void report_lend_crash(struct report *r, size_t cause, size_t consequence);
/* Replaces the locations and the message of finding i. */
void report_set_locations(struct report *r, size_t i, const struct bug_location *locations,
			  size_t n, const char *message);

#endif
