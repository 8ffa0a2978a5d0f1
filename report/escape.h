/* Text that comes from programs, debug info and files of others, made harmless for a terminal. */
#ifndef REPORT_ESCAPE_H
#define REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Nothing that moves a cursor or ends a line: such bytes become \x1b. Returns columns; f may be
 * NULL. */
size_t escape_text(FILE *f, const char *s, size_t n);
/* Like fprintf(), made harmless so; line ends of the format, too. */
void escape_printf(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Like escape_text(), but lines end. between: what stands at the beginning of all lines but the
 * first. */
void escape_lines(FILE *f, const char *s, size_t n, const char *between);

#endif
