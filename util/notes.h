/* Passes messages for the user to a listener. cmd/ provides the listener and prints; code below
 * cmd/ does not print. */
#ifndef UTIL_NOTES_H
#define UTIL_NOTES_H

#include <stddef.h>

struct notes {
	/* one line, without a newline */
	void (*say)(const char *text, void *arg);
	/* text that another program printed, unchanged */
	void (*quote)(const char *text, size_t len_bytes, void *arg);
	void *arg;
};

/* notes_say() passes a formatted line, notes_quote() the output of another program. Both do nothing
 * if there is no listener (n is NULL). */
void notes_say(const struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes_quote(const struct notes *n, const char *text, size_t len_bytes);

#endif
