/* Commands for the shell: the user's own, and those that pmend makes of words. */
#ifndef REPAIR_VERIFY_SHELL_H
#define REPAIR_VERIFY_SHELL_H

#include <stdio.h>

#include "report/bug.h"
#include "util/error.h"

/* Runs a script; $1… are the arguments, which end with NULL. Returns the exit status, 128 or more
 * for a signal; -1 if there is no shell. */
int shell_run(struct error *err, const char *script, ...) __attribute__((sentinel));

/* Words of the report as the shell reads them; free() it. */
char *shell_quoted(const struct report *r, size_t n,
		   const char *(*word)(const struct report *r, size_t i));
/* A blank and the word, so that the shell reads it as it is. */
void shell_put_word(FILE *f, const char *word);
/* The text with every `from` replaced; free() it. */
char *shell_replaced(const char *text, const char *from, const char *to);

#endif
