/* Shows on standard error, in one line, how far a long task is. */
#ifndef CMD_TALK_PROGRESS_H
#define CMD_TALK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool is_terminal; /* the line is overwritten, and removed at the end */
	bool is_wanted, is_shown;
	uint64_t start_ms, last_ms;
};

/* Begins showing progress on a terminal, after a second. is_asked: also elsewhere, at once, as
 * lines that stay. */
void progress_begin(struct progress *p, bool is_asked);
/* Shows progress if it is time; progress_step() shows it at once, for a new part. */
void progress_tell(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void progress_step(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes the line; the next progress shows it again. */
void progress_clear(struct progress *p);

/* A row of an option table. */
#define PROGRESS_OPTION(is_asked) \
	{ \
		"progress", 0, NULL, "show progress even if standard error is not a terminal", \
			OPTION_FLAG, is_asked \
	}

#endif
