/* Command lines: split like a shell does, without expansion; {} and {N} stand for PM files. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/run/runner_internal.h"

char **argv_copy(char *const argv[])
{
	size_t n = 0, len = 0;
	char **copy, *at;

	for (; argv[n]; n++)
		len += strlen(argv[n]) + 1;
	copy = xmalloc((n + 1) * sizeof *copy + len);
	at = (char *)(copy + n + 1);
	for (size_t i = 0; i < n; i++) {
		copy[i] = at;
		at = stpcpy(at, argv[i]) + 1;
	}
	copy[n] = NULL;
	return copy;
}

bool argv_equal(char *const a[], char *const b[])
{
	while (*a && *b && strcmp(*a, *b) == 0)
		a++, b++;
	return !*a && !*b;
}

struct runner_command *runner_command_of(char *const argv[])
{
	struct runner_command *c = xcalloc(1, sizeof *c);
	size_t len = 1;
	char *at;

	for (size_t i = 0; argv[i]; i++)
		len += strlen(argv[i]) + 1;
	c->argv = argv_copy(argv);
	c->shown = at = xcalloc(1, len);
	for (size_t i = 0; argv[i]; i++)
		at += sprintf(at, "%s%s", i ? " " : "", argv[i]);
	return c;
}

/* Takes one word from *at into out; false: a quote is not closed. */
static bool split_word(const char **at, char *out)
{
	const char *p = *at;
	char quote = 0;

	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"') {
			quote = quote ? 0 : *p;
		} else if (*p == '\\' && quote != '\'') {
			if (!p[1])
				return false;
			if (quote && !strchr("\\\"$`", p[1]))
				*out++ = '\\';
			*out++ = *++p;
		} else {
			*out++ = *p;
		}
	}
	*out = 0;
	*at = p;
	return !quote;
}

struct runner_command *runner_command_new(const char *line, struct error *err)
{
	struct runner_command *c = NULL;
	VEC(char *) words = { 0 };
	const char *p = line;

	for (;;) {
		char *word;

		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			break;
		word = xmalloc(strlen(p) + 1);
		*vec_add(&words) = word;
		if (!split_word(&p, word)) {
			error_set(err, "'%s': a quote is not closed, or a backslash ends the line", line);
			goto out;
		}
	}
	if (words.n == 0) {
		error_set(err, "an empty command line");
		goto out;
	}
	*vec_add(&words) = NULL;
	words.n--;
	c = runner_command_of(words.at);
	free(c->shown);
	c->shown = xstrdup(line);
out:
	for (size_t i = 0; i < words.n; i++)
		free(words.at[i]);
	vec_release(&words);
	return c;
}

void runner_command_free(struct runner_command *c)
{
	if (!c)
		return;
	free(c->argv);
	free(c->shown);
	free(c);
}

/* Length of a {} or {N} at p, or 0; N in *number, 0 for {}. */
static size_t placeholder(const char *p, uint32_t *number)
{
	const char *q = p;

	*number = 0;
	if (*q++ != '{')
		return 0;
	for (; isdigit((unsigned char)*q) && *number < 100000; q++)
		*number = *number * 10 + (uint32_t)(*q - '0');
	return *q == '}' ? (size_t)(q + 1 - p) : 0;
}

bool runner_command_has_pool(const struct runner_command *c)
{
	uint32_t number;

	for (char **a = c->argv; *a; a++)
		for (const char *p = *a; *p; p++)
			if (placeholder(p, &number))
				return true;
	return false;
}

/* The path that a placeholder stands for wherever the trace is; NULL: it is not known. */
static const char *own_path(const struct pool_paths *paths, uint32_t number)
{
	return number == 0 ? paths->pool : number < paths->n ? paths->numbered[number] : NULL;
}

static const struct image_file *pool_file(const struct image_files *images, uint32_t number, const char *path)
{
	int i = number ? image_files_find(images, number) : 0;

	if (path && (!number || i < 0))
		for (i = (int)images->files.n - 1; i >= 0; i--)
			if (strcmp(images->files.at[i].path, path) == 0)
				break;
	return i >= 0 && (size_t)i < images->files.n ? &images->files.at[i] : NULL;
}

/* The argument with placeholders replaced, in memory of its own; NULL: no such file. */
static char *expand(const char *arg, const struct image_files *images, const struct pool_paths *paths, bool is_image, struct error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool ok = out != NULL;

	while (ok && *arg) {
		const struct image_file *f;
		const char *path;
		uint32_t number;
		size_t n = placeholder(arg, &number);

		if (!n) {
			fputc(*arg++, out);
			continue;
		}
		path = own_path(paths, number);
		f = pool_file(images, number, path);
		ok = f || (path && !is_image);
		if (ok)
			fputs(!f ? path : is_image ? f->image : f->path, out);
		else if (number)
			error_set(err, "{%u}: there is no PM file with this number in the trace", number);
		else
			error_set(err, "{}: %s is not a PM file of the trace", path ? path : "there");
		arg += n;
	}
	if (out)
		fclose(out);
	if (ok)
		return text;
	free(text);
	return NULL;
}

char **command_expand(const struct runner_command *c, const struct image_files *images, const struct pool_paths *paths, bool is_image,
		      struct error *err)
{
	VEC(char *) argv = { 0 };
	char **copy = NULL, *arg;
	bool ok = true;

	for (char **a = c->argv; ok && *a; a++) {
		arg = expand(*a, images, paths, is_image, err);
		ok = arg != NULL;
		*vec_add(&argv) = arg;
	}
	*vec_add(&argv) = NULL;
	if (ok)
		copy = argv_copy(argv.at);
	for (size_t i = 0; i < argv.n; i++)
		free(argv.at[i]);
	vec_release(&argv);
	return copy;
}
