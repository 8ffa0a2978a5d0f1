/* Messages to the user: print and continue, or print and exit. Standard output is flushed first, so
 * that lines come in order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "report/escape.h"
#include "util/alloc.h"

/* A function that must run when pmend fails. */
static struct {
	void (*tell)(const char *text, void *arg);
	void *arg;
} g_last;

void die_tell(void (*tell)(const char *text, void *arg), void *arg)
{
	g_last.tell = tell;
	g_last.arg = arg;
}

static void last_words(const char *fmt, va_list ap)
{
	void (*tell)(const char *text, void *arg) = g_last.tell;
	char *text;

	g_last.tell = NULL; /* because it may call die() itself */
	if (!tell)
		return;
	if (vasprintf(&text, fmt, ap) < 0)
		alloc_die();
	tell(text, g_last.arg);
	free(text);
}

/* Prints a text. Names and reasons may come from other people's traces, reports, parts and bundles.
 * So lines inside such a text are indented, and cannot be mistaken for messages of pmend. */
static void say_text(const char *text)
{
	fflush(stdout);
	fputs("pmend: ", stderr);
	escape_lines(stderr, text, strlen(text), "    ");
}

static void say(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		alloc_die();
	say_text(text);
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
	va_start(ap, fmt);
	last_words(fmt, ap);
	va_end(ap);
	exit(CMD_FAILED);
}

void die_usage(const struct command *c, const char *fmt, ...)
{
	char *text, *place, *whole;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		alloc_die();
	va_end(ap);
	place = c && c->place_of ? c->place_of(c, text) : NULL;
	whole = place ? xasprintf("%s: %s", place, text) : text;
	say_text(whole);
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
