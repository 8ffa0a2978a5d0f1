/* Messages to the user: print and continue, or print and exit. Standard output is flushed first, so that lines come in order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static void say(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("pmend: ", stderr);
	vfprintf(stderr, fmt, ap);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(CMD_FAILED);
}

void die_usage(const struct command *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s 'pmend help%s%s'\n", fmt[strlen(fmt) - 1] == '?' ? " See" : "; see", c ? " " : "", c ? c->name : "");
	exit(CMD_USAGE);
}

static void note_say(const char *text, void *arg)
{
	(void)arg;
	warn("%s", text);
}

static void note_quote(const char *text, size_t len_bytes, void *arg)
{
	(void)arg;
	fwrite(text, 1, len_bytes, stderr);
}

const struct notes user_notes = { .say = note_say, .quote = note_quote };
