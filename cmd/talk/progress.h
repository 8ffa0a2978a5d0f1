/* A line on standard error that says how far something long is. */
#ifndef CMD_TALK_PROGRESS_H
#define CMD_TALK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool is_terminal; /* the line is written over, and goes at the end */
	bool is_wanted, is_shown;
	uint64_t start_ms, last_ms;
};

/* Shown on a terminal, after a second. is_asked: elsewhere, too, from the beginning, and as lines
 * that stay. */
void progress_begin(struct progress *p, bool is_asked);
/* Says it if it is time; progress_step() says it at once: a new part begins. */
void progress_tell(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void progress_step(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The line goes; what comes next shows it again. */
void progress_clear(struct progress *p);

/* A row of an option table. */
#define PROGRESS_OPTION(is_asked) \
	{ \
		"progress", 0, NULL, "show progress even if standard error is not a terminal", \
			OPTION_FLAG, is_asked \
	}

#endif
