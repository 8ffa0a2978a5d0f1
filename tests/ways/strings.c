/* The word as a string that the kernel reads: a path, a name, an argument or a variable of another program. */
#include "ways.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

static uint64_t ends_well(pid_t child)
{
	int status;

	need(waitpid(child, &status, 0) == child && WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT)
		_exit(CANNOT);
	return word_if(WEXITSTATUS(status) == 0);
}

static char *shell_arguments[] = { "sh", "-c", "test \"$1\" = " WORD_TEXT, "x", NULL, NULL };
static char *shell_variable[] = { "sh", "-c", "test \"$NAME\" = " WORD_TEXT, NULL };

static uint64_t argument(void)
{
	const pid_t child = fork();

	if (child == 0) {
		shell_arguments[4] = WORD;
		execv("/bin/sh", shell_arguments);
		_exit(CANNOT);
	}
	return ends_well(child);
}

static uint64_t argument_in_its_place(void)
{
	shell_arguments[4] = WORD;
	execv("/bin/sh", shell_arguments);
	_exit(CANNOT);
}

/* The list of arguments lies in the pool, too, and what it names besides. */
static uint64_t arguments_in_pool(void)
{
	char **const list = (char **)(g_pool + ROOM_AT), *const text = g_pool + ROOM_AT + PAGE_AT;
	const pid_t child = fork();

	if (child == 0) {
		memcpy(list, shell_arguments, sizeof shell_arguments);
		strcpy(text, shell_arguments[2]);
		list[2] = text;
		list[4] = WORD;
		execve("/bin/sh", list, environ);
		_exit(CANNOT);
	}
	return ends_well(child);
}

static uint64_t variable(void)
{
	char *variables[] = { "OTHER=1", WORD - 5, NULL };
	const pid_t child = fork();

	if (child == 0) {
		memcpy(WORD - 5, "NAME=", 5);
		execve("/bin/sh", shell_variable, variables);
		_exit(CANNOT);
	}
	return ends_well(child);
}

static uint64_t argument_of_spawned(void)
{
	pid_t child;

	shell_arguments[4] = WORD;
	need(posix_spawn(&child, "/bin/sh", NULL, NULL, shell_arguments, environ) == 0);
	return ends_well(child);
}

/* Another program in the way of a path that is not there. */
static uint64_t executed(void)
{
	char folder[] = "/tmp/waysXXXXXX";
	uint64_t w;
	pid_t child;

	need(mkdtemp(folder) && chdir(folder) == 0 && symlink("/bin/true", WORD_TEXT) == 0);
	child = fork();
	if (child == 0) {
		execl(WORD, "true", NULL);
		_exit(1);
	}
	w = ends_well(child);
	unlink(WORD_TEXT);
	rmdir(folder);
	return w;
}

static uint64_t in_new_folder(int (*is_kept)(void))
{
	char folder[] = "/tmp/waysXXXXXX";
	int r;

	need(mkdtemp(folder) && chdir(folder) == 0);
	r = is_kept();
	unlink(WORD_TEXT);
	unlink("link");
	rmdir(WORD_TEXT);
	rmdir(folder);
	return word_if(r);
}

static int opens(void)
{
	return open(WORD, O_WRONLY | O_CREAT, 0600) >= 0;
}

static int makes_folder(void)
{
	return mkdir(WORD, 0700) == 0;
}

static int makes_node(void)
{
	return mkfifo(WORD, 0600) == 0;
}

static int links(void)
{
	char target[16] = { 0 };

	return symlink(WORD, "link") == 0 && readlink("link", target, 15) == 7 && strcmp(target, WORD_TEXT) == 0;
}

static int looks(void)
{
	struct stat st;

	need(mkdir(WORD_TEXT, 0700) == 0);
	return stat(WORD, &st) == 0 && access(WORD, R_OK) == 0;
}

static uint64_t path_opened(void)
{
	return in_new_folder(opens);
}

static uint64_t path_of_folder(void)
{
	return in_new_folder(makes_folder);
}

static uint64_t path_of_node(void)
{
	return in_new_folder(makes_node);
}

static uint64_t path_of_link(void)
{
	return in_new_folder(links);
}

static uint64_t path_looked_up(void)
{
	return in_new_folder(looks);
}

static uint64_t name_of_process(void)
{
	char name[17] = { 0 };

	need(prctl(PR_SET_NAME, WORD) == 0 && prctl(PR_GET_NAME, name) == 0);
	return word_if(strcmp(name, WORD_TEXT) == 0);
}

static uint64_t name_of_memory(void)
{
	char path[64], name[64] = { 0 };

	snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create(WORD, 0));
	need(readlink(path, name, 63) > 0);
	return word_if(strncmp(name, "/memfd:" WORD_TEXT, 14) == 0);
}

const struct way ways_strings[] = {
	{ "string.argument", argument, 0 },
	{ "string.argument_exec", argument_in_its_place, 0 },
	{ "string.arguments_in_pool", arguments_in_pool, 0 },
	{ "string.variable", variable, 0 },
	{ "string.spawn", argument_of_spawned, 0 },
	{ "string.program", executed, 0 },
	{ "string.open", path_opened, 0 },
	{ "string.mkdir", path_of_folder, 0 },
	{ "string.mkfifo", path_of_node, 0 },
	{ "string.symlink", path_of_link, 0 },
	{ "string.stat", path_looked_up, 0 },
	{ "string.process_name", name_of_process, 0 },
	{ "string.memfd_name", name_of_memory, 0 },
	{ 0 },
};
