/* The listener for the messages of a session. cmd/ sets it; nothing in session/ prints. */
#ifndef SESSION_NOTES_H
#define SESSION_NOTES_H

#include <stddef.h>

struct notes {
	void (*say)(const char *text, void *arg); /* one line, without a newline */
	void (*quote)(const char *text, size_t len_bytes,
		      void *arg); /* what another program printed, as it is */
	void *arg;
};

/* NULL: nobody wants to know. */
void notes_say(const struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes_quote(const struct notes *n, const char *text, size_t len_bytes);

#endif
