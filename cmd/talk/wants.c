/* Prints "I want to ...", with one command each. The lines use no words of pmend that a new user
 * does not know. The commands work as printed, with the program's name in them. */
#include "cmd/talk/wants.h"

#include <stddef.h>

#include "cmd/talk/wrap.h"

static const struct {
	const char *want, *command;
} wants[] = {
	{ "find missing flushes and fences", "pmend check -- ./app {pool}" },
	{ "see whether my program survives a crash",
	  "pmend crash --recover './app {}' -- ./app {pool}" },
	{ "do both, with one report", "pmend test --recover './app {}' -- ./app {pool}" },
	{ "compare the data after a crash", "pmend crash --dump './print {}' -- ./app {pool}" },
	{ "find inputs that lead to a bug", "pmend explore -- ./app {pool} @@" },
	{ "get a patch for the bugs of a report", "pmend fix -p build report.json" },
	{ "look at a report in a browser", "pmend show --format html -o bugs.html report.json" },
	{ "see only what is new since the last report",
	  "pmend check --baseline report.json -- ./app {pool}" },
	{ "record now and analyse later", "pmend record -o run.pmt -- ./app {pool}" },
	{ "know what works on this machine", "pmend doctor" },
};

void wants_print(FILE *out)
{
	struct wrap w;

	fputs("I want to...\n", out);
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
		fprintf(out, "  %s:\n      %s\n", wants[i].want, wants[i].command);
	wrap_begin(&w, out, 0);
	wrap_text(
		&w,
		"{pool} is the path of a scratch pool that pmend removes afterwards. {} is the pool's path in commands that run after a crash.");
	wrap_end(&w);
}
