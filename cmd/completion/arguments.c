/* Says what the arguments of options complete to: by the name of the argument in the option table
 * and, if only a few words are allowed, by the option. */
#include "cmd/completion/completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/files.h"
#include "record/machine.h"
#include "util/alloc.h"

static const struct {
	const char *arg;
	enum completes what;
} args[] = {
	{ "FILE", COMPLETES_FILES },         { "FILE.pmt", COMPLETES_FILES },
	{ "FILE.pmb", COMPLETES_FILES },     { "FILE.so", COMPLETES_FILES },
	{ "FILE.json", COMPLETES_FILES },    { "FILE.patch", COMPLETES_FILES },
	{ "FIX.diff", COMPLETES_FILES },     { "REPORT.json", COMPLETES_FILES },
	{ "PATH[:LEN]", COMPLETES_FILES },   { "GLOB", COMPLETES_FILES },
	{ "FOLDER", COMPLETES_FOLDERS },     { "DIR", COMPLETES_FOLDERS },
	{ "BUILD_DIR", COMPLETES_FOLDERS },  { "CMDLINE", COMPLETES_PROGRAMS },
	{ "[COMMAND]", COMPLETES_PROGRAMS },
};

/* command NULL: for all commands without a row of their own. */
static const struct {
	const char *command, *option, *words;
} choices[] = {
	{ "doctor", "format", "text json" },
	{ NULL, "format", "text json sarif html junit" },
	{ "explore", "strategy", "pm coverage bfs random" },
	{ NULL, "strategy", "lazy representative eager prefix" },
	{ NULL, "severity", "correctness performance porting warning" },
	{ "fix", "fail-on", "correctness performance porting warning" },
	{ NULL, "fail-on", "correctness performance porting warning libraries incomplete" },
	{ NULL, "failure-points", "store" },
};

static bool takes_profile(const struct command *c)
{
	static const char *const names[] = { "check", "crash", "test", "pack" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(c->name, names[i]) == 0)
			return true;
	return false;
}

/* Gives the platforms that the command accepts: `record` only this machine's own, and only `check`
 * and `test` "all". */
static char *platform_words(const struct command *c)
{
	char *words = xstrdup(strcmp(c->name, "check") == 0 || strcmp(c->name, "test") == 0 ? "all"
											    : ""),
	     *longer;

	for (size_t i = 0; platforms[i]; i++) {
		if (strcmp(c->name, "record") == 0 && !machine_has(platforms[i]))
			continue;
		longer = xasprintf("%s%s%s", words, *words ? " " : "", platforms[i]->name);
		free(words);
		words = longer;
	}
	for (enum files_profile p = 0; takes_profile(c) && p < FILES_PROFILES; p++) {
		longer = xasprintf("%s %s", words, files_profile_name(p));
		free(words);
		words = longer;
	}
	return words;
}

struct completion completion_of(const struct command *c, const struct option *o)
{
	if (strcmp(o->name, "platform") == 0)
		return (struct completion){ COMPLETES_WORDS, platform_words(c) };
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		if (strcmp(o->name, choices[i].option) == 0 &&
		    (!choices[i].command || strcmp(c->name, choices[i].command) == 0))
			return (struct completion){ COMPLETES_WORDS, xstrdup(choices[i].words) };
	for (size_t i = 0; o->arg && i < sizeof args / sizeof *args; i++)
		if (strcmp(o->arg, args[i].arg) == 0)
			return (struct completion){ args[i].what, NULL };
	return (struct completion){ COMPLETES_NOTHING, NULL };
}

void completion_quote(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}
