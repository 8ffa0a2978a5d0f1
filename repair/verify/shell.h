/* Runs shell commands: those of the user, and those that pmend makes of words. */
#ifndef REPAIR_VERIFY_SHELL_H
#define REPAIR_VERIFY_SHELL_H

#include <stdio.h>

#include "report/bug.h"
#include "util/error.h"

/* Runs a script with the arguments $1…, which NULL ends. Returns the exit status, 128 or more for a
 * signal; -1: there is no shell. */
int shell_run(struct error *err, const char *script, ...) __attribute__((sentinel));

/* Returns words of the report, quoted for the shell; free() them. */
char *shell_quoted(const struct report *r, size_t n,
		   const char *(*word)(const struct report *r, size_t i));
/* Writes a blank and the quoted word. */
void shell_put_word(FILE *f, const char *word);
/* Returns the text with every `from` replaced by `to`; free() it. */
char *shell_replaced(const char *text, const char *from, const char *to);

#endif
