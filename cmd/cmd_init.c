/* pmend init: writes a project file to start from. An existing file stays as it is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/project/file.h"

static const char template[] =
	"# Options of pmend, and tests: 'pmend test' runs them all, 'pmend test NAME' one.\n"
	"# KEY = VALUE: any long option of the command, without its dashes ('pmend help test').\n"
	"# Paths and commands are meant from this folder. {pool} is a scratch pool that pmend makes\n"
	"# and removes, {} is the pool after a crash.\n"
	"\n"
	"# Options of all tests.\n"
	"[test]\n"
	"# baseline = pmend-baseline.json\n"
	"# max-time = 300\n"
	"\n"
	"# A test: the program, and how it recovers.\n"
	"[test first]\n"
	"command = ./app {pool}\n"
	"recover = ./app {}\n"
	"# dump = ./app {} print\n"
	"\n"
	"# [test second]\n"
	"# command = ./app {pool} other words\n";

static int init_run(const struct command *c, int argc, char **argv)
{
	const struct option table[] = { { 0 } };
	const ssize_t len = (ssize_t)strlen(template);
	int fd;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 0)
		die_usage(c, "it takes no arguments");
	fd = open(PROJECT_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST)
		die("%s is there already; edit it, or remove it first", PROJECT_FILE);
	if (fd < 0)
		die("cannot write %s: %s", PROJECT_FILE, strerror(errno));
	/* others must not be able to write it, whatever the umask is */
	if (write(fd, template, (size_t)len) != len || fchmod(fd, 0644) < 0 || close(fd) < 0) {
		unlink(PROJECT_FILE);
		die("cannot write %s: %s", PROJECT_FILE, strerror(errno));
	}
	puts("wrote " PROJECT_FILE ": change the command of its test, then run 'pmend test'");
	return fflush(stdout) ? CMD_FAILED : CMD_CLEAN;
}

const struct command cmd_init = {
	.name = "init",
	.help = "write a project file, for options and named tests",
	.operands = "",
	.run = init_run,
};
