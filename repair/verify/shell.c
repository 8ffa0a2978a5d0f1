/* Runs shell scripts with /bin/sh, and quotes words for the shell. Arguments of a script need no
 * quotes. */
#include "repair/verify/shell.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/proc.h"
#include "util/vec.h"

int shell_run(struct error *err, const char *script, ...)
{
	VEC(char *) argv = { 0 };
	va_list arguments;
	char *word;
	int status, result;

	*vec_add(&argv) = "/bin/sh";
	*vec_add(&argv) = "-c";
	*vec_add(&argv) = (char *)script;
	*vec_add(&argv) = "sh";
	va_start(arguments, script);
	while ((word = va_arg(arguments, char *)))
		*vec_add(&argv) = word;
	va_end(arguments);
	*vec_add(&argv) = NULL;
	result = proc_run(argv.at, environ, &status, err);
	vec_release(&argv);
	if (result < 0)
		return -1;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		return error_set(err, "interrupted");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char *shell_replaced(const char *text, const char *from, const char *to)
{
	char *out = NULL;
	size_t room = 0, len = strlen(from);
	FILE *f = open_memstream(&out, &room);

	while (*text) {
		if (strncmp(text, from, len) == 0) {
			fputs(to, f);
			text += len;
		} else {
			fputc(*text++, f);
		}
	}
	fclose(f);
	return out;
}

void shell_put_word(FILE *f, const char *word)
{
	fputs(" '", f);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, f);
	putc('\'', f);
}

char *shell_quoted(const struct report *r, size_t n,
		   const char *(*word)(const struct report *r, size_t i))
{
	char *out = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);

	for (size_t i = 0; i < n; i++)
		shell_put_word(f, word(r, i));
	fclose(f);
	return out;
}
