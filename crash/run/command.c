/* Splits command lines like a shell, without expansion, and replaces placeholders: {} and {N} by PM
 * files, {dir} and {dirN} by folders whose files are followed, {op} and {rest:FILE} by what the
 * crash left to do. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/run/runner_internal.h"
#include "util/shell_word.h"
#include "util/values.h"

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

/* Changes {pool}, which is for the recorded program's command line, to {}, in place. */
static void pool_shorten(char *word)
{
	static const char name[] = "{pool}";

	while ((word = strstr(word, name))) {
		memmove(word + 1, word + sizeof name - 2, strlen(word + sizeof name - 2) + 1);
		word += 2;
	}
}

struct runner_command *runner_command_new(const char *line, struct error *err)
{
	struct runner_command *c = NULL;
	VEC(char *) words = { 0 };
	const char *p = line, *meant;

	for (;;) {
		char *word, *typo;

		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			break;
		word = xmalloc(strlen(p) + 1);
		*vec_add(&words) = word;
		if (!shell_word_split(&p, word)) {
			error_set(err, "'%s': a quote is not closed, or a backslash ends the line",
				  line);
			goto out;
		}
		typo = word_misspelled(word, &meant);
		if (typo) {
			error_set(err, "%s is no placeholder; did you mean %s?", typo, meant);
			free(typo);
			goto out;
		}
		pool_shorten(word);
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

enum holds { HOLDS_POOL, HOLDS_DIR, HOLDS_OPERATION, HOLDS_REST };

struct placeholder {
	enum holds holds;
	size_t len;               /* length of the placeholder; 0: there is none */
	uint32_t number;          /* number of the pool file, 0 for {}; or of the folder, from 1 */
	size_t name_at, name_len; /* position and length of FILE */
};

/* Parses a number and the closing brace at q, of a placeholder that begins at p. */
static struct placeholder numbered(enum holds holds, const char *p, const char *q)
{
	struct placeholder h = { .holds = holds };

	for (; isdigit((unsigned char)*q) && h.number < 100000; q++)
		h.number = h.number * 10 + (uint32_t)(*q - '0');
	h.len = *q == '}' ? (size_t)(q + 1 - p) : 0;
	return h;
}

/* Parses the placeholder that begins here. */
static struct placeholder placeholder(const char *p)
{
	static const char op[] = "{op}", rest[] = "{rest:", dir[] = "{dir";
	struct placeholder h;
	const char *end;

	if (*p != '{')
		return (struct placeholder){ 0 };
	if (strncmp(p, op, sizeof op - 1) == 0)
		return (struct placeholder){ .holds = HOLDS_OPERATION, .len = sizeof op - 1 };
	if (strncmp(p, dir, sizeof dir - 1) == 0) {
		h = numbered(HOLDS_DIR, p, p + sizeof dir - 1);
		if (!h.number && h.len == sizeof dir)
			h.number = 1;
		return h;
	}
	end = strncmp(p, rest, sizeof rest - 1) == 0 ? strchr(p, '}') : NULL;
	if (end && end > p + sizeof rest - 1)
		return (struct placeholder){ .holds = HOLDS_REST,
					     .len = (size_t)(end + 1 - p),
					     .name_at = sizeof rest - 1,
					     .name_len = (size_t)(end - p) - (sizeof rest - 1) };
	return numbered(HOLDS_POOL, p, p + 1);
}

static bool has_placeholder(const struct runner_command *c, enum holds a_kind,
			    enum holds or_another)
{
	for (char **word = c->argv; *word; word++)
		for (const char *p = *word; *p; p++) {
			const struct placeholder h = placeholder(p);

			if (h.len && (h.holds == a_kind || h.holds == or_another))
				return true;
		}
	return false;
}

bool runner_command_has_pool(const struct runner_command *c)
{
	return has_placeholder(c, HOLDS_POOL, HOLDS_POOL);
}

bool runner_command_has_folder(const struct runner_command *c)
{
	return has_placeholder(c, HOLDS_DIR, HOLDS_DIR);
}

bool runner_command_has_operation(const struct runner_command *c)
{
	return has_placeholder(c, HOLDS_OPERATION, HOLDS_REST);
}

/* Gives a placeholder's path for messages, without an image: the file's own path. NULL if it is
 * unknown. */
static const char *own_path(const struct pool_paths *paths, uint32_t number)
{
	return number == 0 ? paths->pool : number < paths->n ? paths->numbered[number] : NULL;
}

static const struct image_file *pool_file(const struct image_files *images, uint32_t number,
					  const char *path)
{
	int i = number ? image_files_find(images, number) : 0;

	if (path && (!number || i < 0))
		for (i = (int)images->files.n - 1; i >= 0; i--)
			if (strcmp(images->files.at[i].path, path) == 0)
				break;
	return i >= 0 && (size_t)i < images->files.n ? &images->files.at[i] : NULL;
}

/* Gives the path of a PM file's image; NULL if there is no such file. */
static const char *pool_path(uint32_t number, const struct image_files *images,
			     const struct pool_paths *paths, bool is_image, struct error *err)
{
	const char *path = own_path(paths, number);
	const struct image_file *f = pool_file(images, number, path);

	if (f)
		return is_image ? f->image : f->path;
	if (path && !is_image)
		return path;
	if (number)
		error_set(err, "{%u}: there is no PM file with this number in the trace", number);
	else
		error_set(err, "{}: %s is not a PM file of the trace", path ? path : "there");
	return NULL;
}

/* Gives the text for a placeholder; free() it. */
static char *placeholder_text(const char *p, const struct placeholder *h,
			      const struct image_files *images, const struct pool_paths *paths,
			      bool is_image, struct error *err)
{
	const char *path;
	char *name, *text;

	switch (h->holds) {
	case HOLDS_POOL:
		path = pool_path(h->number, images, paths, is_image, err);
		return path ? xstrdup(path) : NULL;
	case HOLDS_DIR:
		if (paths->dir && h->number > 0 && h->number <= paths->nplaces) {
			path = paths->places[h->number - 1];
			return xasprintf("%s%s%s", paths->dir, *path ? "/" : "", path);
		}
		if (paths->dir)
			error_set(
				err,
				"{dir%u}: folders are followed, but not so many; {dir} is the first of them, {dir2} the second",
				h->number);
		else
			error_set(
				err,
				"{dir}: the trace has no folder whose files are followed; record with --files DIR, or with {dir} in the program's command");
		return NULL;
	case HOLDS_OPERATION: return xasprintf("%llu", (unsigned long long)paths->operation);
	case HOLDS_REST:
		name = strndup(p + h->name_at, h->name_len);
		text = rest_make(paths->folder, name, paths->operation, err);
		free(name);
		return text;
	}
	return NULL;
}

/* Gives the argument with placeholders replaced; free() it. NULL if there is no such file. */
static char *expand(const char *arg, const struct image_files *images,
		    const struct pool_paths *paths, bool is_image, struct error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool ok = out != NULL;

	while (ok && *arg) {
		const struct placeholder h = placeholder(arg);
		char *stands;

		if (!h.len) {
			fputc(*arg++, out);
			continue;
		}
		stands = placeholder_text(arg, &h, images, paths, is_image, err);
		ok = stands != NULL;
		if (ok)
			fputs(stands, out);
		free(stands);
		arg += h.len;
	}
	if (out)
		fclose(out);
	if (ok)
		return text;
	free(text);
	return NULL;
}

char **command_expand(const struct runner_command *c, const struct image_files *images,
		      const struct pool_paths *paths, bool is_image, struct error *err)
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
