/* Makes text from programs, debug info and foreign files harmless for a terminal. */
#ifndef REPORT_ESCAPE_H
#define REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Writes text so that it neither moves the cursor nor ends a line: such bytes become \x1b. Returns
 * its width in columns. f may be NULL. */
size_t escape_text(FILE *f, const char *s, size_t n);
/* Like fprintf(), but the output is made harmless, also newlines of the format. */
void escape_printf(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Like escape_text(), but keeps line ends. `between` is written at the beginning of all lines but
 * the first. */
void escape_lines(FILE *f, const char *s, size_t n, const char *between);

#endif
