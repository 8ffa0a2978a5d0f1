/* What the tests of reports share: sources, findings, a report with everything unusual,
 * renderings. */
#ifndef TESTS_REPORT_SAMPLE_H
#define TESTS_REPORT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "report/bug.h"
#include "report/format.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* main() calls update() in lines 3 and 4; update() stores in line 8. */
extern const char sample_source[];
extern const struct report_options sample_options; /* the working folder is /home/u */

/* Group fixtures: make a new folder with a folder "build" in it the current one. */
int sample_folder_make(void **state);
int sample_folder_remove(void **state);

void sample_write_bytes(const char *path, const void *data, size_t len);
void sample_write(const char *path, const char *text);

struct bug_frame sample_frame(const char *function, uint32_t line); /* in app.c */
/* A bug with one location, a store; its message is "lost". */
void sample_add(struct report *r, const char *kind, const struct bug_frame *frames, size_t n);

/* A finished report: several locations, library internals, inlining, a signal, no debug info, hostile strings, a
 * plug-in's kind, no location at all. */
struct report *sample_rich(void);

/* free() it */
char *sample_render(const struct report *r, const char *format, const struct report_options *o);

#endif
