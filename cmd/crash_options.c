/* Checks the user's options about exploring crashes, and prepares them for session/. */
#include "cmd/crash_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/platform_option.h"

static void set_ok_status(const struct command *c, struct crash_setup *s)
{
	s->recovery.ok_status[0] = true;
	for (size_t i = 0; i < s->ok_status.n; i++) {
		char *end;
		unsigned long n = strtoul(s->ok_status.item[i], &end, 10);

		if (*end || end == s->ok_status.item[i] || n > 255)
			die_usage(c, "--ok-status is a number from 0 to 255, not '%s'",
				  s->ok_status.item[i]);
		s->recovery.ok_status[n] = true;
	}
}

static void set_command(const struct command *c, struct crash_setup *s, enum crash_command which,
			const char *option, const char *line)
{
	struct error err;

	if (crash_setup_command(s, which, line, &err) < 0)
		die_usage(c, "--%s: %s", option, err.msg);
}

/* Dies if options about races contradict each other. */
static void check_races(const struct command *c, const struct crash_setup *s)
{
	if ((s->strict || s->commit_vars.n > 0) && !s->races)
		die_usage(c, "--strict and --commit-var need --races");
	if (s->races && strcmp(s->options.strategy->name, "eager") == 0)
		die_usage(
			c,
			"--races needs --strategy lazy or prefix: other strategies do not see what recovery reads");
	if (s->races && s->options.strategy->is_representative)
		die_usage(
			c,
			"--races needs --strategy lazy or prefix: a race depends on all undecided lines of a failure point");
	if ((s->explain_groups || s->build_dir) && !s->options.strategy->is_representative)
		die_usage(c, "--explain-groups and --build need --strategy representative");
}

/* Dies if a number is too large to be converted to milliseconds or bytes. */
static void check_numbers(const struct command *c, const struct crash_setup *s)
{
	const struct {
		const char *name;
		uint64_t n, max;
	} list[] = { { "max-time", s->max_time.n, 1000000000 },
		     { "timeout", s->timeout.n, 4000000 },
		     { "max-memory", s->max_memory.n, (uint64_t)1 << 40 },
		     { "max-file", s->max_file.n, (uint64_t)1 << 40 },
		     { "max-processes", s->max_processes.n, UINT32_MAX } };

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (list[i].n > list[i].max)
			die_usage(c, "--%s is at most %llu", list[i].name,
				  (unsigned long long)list[i].max);
}

void crash_options_begin(const struct command *c, struct crash_setup *s)
{
	struct error err;

	s->options.strategy = s->strategy ? strategy_find(s->strategy) : strategies[0];
	if (!s->options.strategy)
		die_usage(c, "--strategy is one of lazy, representative, eager, prefix, not '%s'",
			  s->strategy);
	if (s->failure_points && strcmp(s->failure_points, "store") != 0)
		die_usage(c, "--failure-points takes 'store', not '%s'", s->failure_points);
	if (s->buffered && !s->dump)
		die_usage(c, "--buffered needs --dump, which prints the state to compare");
	if (s->ready && !s->recover)
		die_usage(c, "--recover-ready needs --recover, the server to start");
	if (s->jobs.is_set && (s->jobs.n == 0 || s->jobs.n > 256))
		die_usage(c, "--jobs is from 1 to 256");
	if (s->window.is_set && (s->window.n == 0 || s->window.n > 1000000))
		die_usage(c, "--window is from 1 to 1000000");
	if (s->failures.is_set && (s->failures.n == 0 || s->failures.n > 4))
		die_usage(c, "--failures is from 1 to 4");
	check_races(c, s);
	check_numbers(c, s);
	if (s->stdin_path && access(s->stdin_path, R_OK) != 0)
		die("cannot read %s: %s", s->stdin_path, strerror(errno));
	set_ok_status(c, s);
	set_command(c, s, CRASH_RECOVER, "recover", s->recover);
	set_command(c, s, CRASH_THEN, "then", s->then);
	set_command(c, s, CRASH_CHECK, "check", s->check);
	set_command(c, s, CRASH_READY, "recover-ready", s->ready);
	set_command(c, s, CRASH_DUMP, "dump", s->dump);
	s->profile = FILES_PROFILES;
	s->recording.platform = s->platform ? platform_option(c, s->platform, &s->profile) : NULL;
	s->notes = s->recording.notes = &user_notes;
	if (crash_setup_begin(s, &err) < 0)
		die("%s", err.msg);
}
