/* The listener for messages to the user. cmd/ sets it; nothing below cmd/ prints. */
#ifndef UTIL_NOTES_H
#define UTIL_NOTES_H

#include <stddef.h>

struct notes {
	/* one line, without a newline */
	void (*say)(const char *text, void *arg);
	/* what another program printed, as it is */
	void (*quote)(const char *text, size_t len_bytes, void *arg);
	void *arg;
};

/* NULL: nobody wants to know. */
void notes_say(const struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes_quote(const struct notes *n, const char *text, size_t len_bytes);

#endif
