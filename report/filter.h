/* What hides bugs: suppression files and baselines. Load them before a long analysis, so that a
 * typo shows early; apply them after report_finish(). docs/report.md describes the files. */
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

/* A block for each bug of the report, which hides exactly that one. */
void suppressions_generate(FILE *f, const struct report *r);

/* The ids of an earlier JSON report. */
struct baseline;

struct baseline *baseline_open(const char *path, struct error *err); /* NULL if it cannot be read */
void baseline_close(struct baseline *b);

/* Take matching bugs out of the report; the text's summary tells how many, JSON also by which
 * blocks. */
void report_suppress(struct report *r, struct suppressions *s);
void report_subtract(struct report *r, const struct baseline *b);
/* What a library did on its own becomes one line for each library. */
void report_fold(struct report *r);
size_t report_nfolded(const struct report *r); /* bugs that this took out */
/* Leaves this severity and those that are worse. */
void report_limit(struct report *r, enum bug_severity least);

#endif
