/* Hides bugs: suppression files, baselines, libraries, severities. Load files before a long
 * analysis, so that a typo shows early; apply them after report_finish(). docs/report.md describes
 * the files. */
#ifndef REPORT_FILTER_H
#define REPORT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/bug.h"
#include "util/error.h"

struct suppressions;

struct suppressions *suppressions_new(void);
void suppressions_free(struct suppressions *s);
/* Adds the blocks of a file. The error begins with FILE:LINE. */
int suppressions_load(struct suppressions *s, const char *path, struct error *err);
bool suppressions_match(const struct suppressions *s, const struct bug *b);

/* Writes a block for each bug of the report, which hides exactly that bug. */
void suppressions_generate(FILE *f, const struct report *r);

/* The findings of an earlier JSON report, by id. */
struct baseline;

struct baseline *baseline_open(const char *path, struct error *err); /* NULL if it cannot be read */
void baseline_close(struct baseline *b);

/* report_suppress() removes the bugs that match a block, report_subtract() those that the baseline
 * has. The text's summary says how many; JSON also says which blocks matched. */
void report_suppress(struct report *r, struct suppressions *s);
void report_subtract(struct report *r, const struct baseline *b);
/* Removes findings inside libraries, and keeps one line for each library. */
void report_fold(struct report *r);
size_t report_nfolded(const struct report *r); /* how many findings report_fold() removed */
/* Keeps findings that are at least this severe. */
void report_limit(struct report *r, enum bug_severity least);

#endif
