/* Shows progress. On a terminal it is one line, which is overwritten and removed at the end.
 * Elsewhere it is shown only with --progress, because logs would keep it. */
#include "cmd/talk/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	FIRST_MS = 1000, /* a shorter task needs no progress line */
	EVERY_MS = 400,
	EVERY_LOGGED_MS = 1000,
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void progress_begin(struct progress *p, bool is_asked)
{
	bool is_terminal = isatty(STDERR_FILENO);

	*p = (struct progress){ .is_terminal = is_terminal,
				.is_wanted = is_terminal || is_asked,
				.start_ms = now_ms() };
}

static bool is_due(const struct progress *p, uint64_t now)
{
	if (!p->is_wanted)
		return false;
	if (p->is_terminal)
		return now - p->start_ms >= FIRST_MS && now - p->last_ms >= EVERY_MS;
	return !p->last_ms || now - p->last_ms >= EVERY_LOGGED_MS;
}

static void say(struct progress *p, uint64_t now, const char *fmt, va_list ap)
{
	p->last_ms = now;
	p->is_shown = true;
	fputs(p->is_terminal ? "\r\33[K" : "pmend: ", stderr);
	vfprintf(stderr, fmt, ap);
	if (!p->is_terminal)
		fputc('\n', stderr);
}

void progress_tell(struct progress *p, const char *fmt, ...)
{
	uint64_t now = now_ms();
	va_list ap;

	va_start(ap, fmt);
	if (is_due(p, now))
		say(p, now, fmt, ap);
	va_end(ap);
}

void progress_step(struct progress *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (p->is_wanted)
		say(p, now_ms(), fmt, ap);
	va_end(ap);
}

void progress_clear(struct progress *p)
{
	if (p->is_shown && p->is_terminal)
		fputs("\r\33[K", stderr);
	p->is_shown = false;
}
