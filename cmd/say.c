/* Messages to the user: print and continue, or print and exit. Standard output is flushed first, so that lines come in order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "report/escape.h"
#include "util/alloc.h"

/* Names and reasons come from traces, reports, parts and bundles, which may be of strangers. A line that such a text begins is indented: it is not mistaken for one of ours. */
static void say(const char *fmt, va_list ap)
{
	char *text;
	int len = vasprintf(&text, fmt, ap);

	if (len < 0)
		alloc_die();
	fflush(stdout);
	fputs("pmend: ", stderr);
	escape_lines(stderr, text, (size_t)len, "    ");
	free(text);
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
	fprintf(stderr, "%s 'pmend help%s%s'\n", fmt[strlen(fmt) - 1] == '?' ? " See" : "; see",
		c ? " " : "", c ? c->name : "");
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
	escape_lines(stderr, text, len_bytes, "");
}

const struct notes user_notes = { .say = note_say, .quote = note_quote };
