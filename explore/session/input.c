/* Cuts an input into its parts and gives each to the program: as a file, standard input, an
 * argument, a variable, or bytes sent by a client. A user's file with the name of a part is moved
 * aside, and put back at the end. */
#include "explore/session/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmend.h"
#include "util/values.h"
#include "util/alloc.h"

#define DEFAULT_BYTES 64

static const char *text_of(const struct part *part, char **target)
{
	const char *value = part->kind == PART_ARG   ? target[part->number]
			    : part->kind == PART_ENV ? getenv(part->what)
						     : NULL;

	return value ? value : "";
}

/* Sets the length of parts that have none: texts may grow by 8 bytes; the first other part takes
 * what the longest seed needs. */
static void lengths_set(struct parts *p, char **target, size_t longest_seed)
{
	struct part *open = NULL;

	for (size_t i = 0; i < p->list.n; i++) {
		struct part *part = &p->list.at[i];
		bool is_text = part->kind == PART_ARG || part->kind == PART_ENV;

		if (!part->has_len && !is_text && !open)
			open = part;
		if (!part->has_len)
			part->len_bytes =
				is_text ? strlen(text_of(part, target)) + 8 : DEFAULT_BYTES;
		p->len_bytes += part->len_bytes;
	}
	if (open && longest_seed) {
		size_t rest = p->len_bytes - open->len_bytes;

		open->len_bytes = longest_seed > rest ? longest_seed - rest : 1;
		p->len_bytes = rest + open->len_bytes;
	}
}

/* Moves the user's file that has the name of this part aside. */
static int file_take(struct part *part, struct error *err)
{
	char *kept = access(part->what, F_OK) == 0
			     ? xasprintf("%s.pmend-%d", part->what, (int)getpid())
			     : NULL;

	if (kept && rename(part->what, kept) < 0) {
		error_set(err, "cannot move %s aside: %s", part->what, strerror(errno));
		free(kept);
		return -1;
	}
	part->path = xstrdup(part->what);
	part->kept = kept;
	return 0;
}

int parts_begin(struct parts *p, char **target, size_t longest_seed, struct error *err)
{
	size_t index = 0;

	lengths_set(p, target, longest_seed);
	p->initial = xcalloc(p->len_bytes + 1, 1);
	for (size_t i = 0; i < p->list.n; i++) {
		struct part *part = &p->list.at[i];
		const char *text = text_of(part, target);

		part->index = index;
		memcpy(p->initial + index, text,
		       strlen(text) < part->len_bytes ? strlen(text) : part->len_bytes);
		index += part->len_bytes;
		if (part->kind == PART_FILE && file_take(part, err) < 0)
			return -1;
	}
	return 0;
}

void parts_end(struct parts *p, const struct notes *notes)
{
	for (size_t i = 0; i < p->list.n; i++) {
		struct part *part = &p->list.at[i];

		if (part->path)
			unlink(part->path);
		if (part->kept && rename(part->kept, part->path) < 0)
			notes_say(notes, "your %s is now called %s: %s", part->path, part->kept,
				  strerror(errno));
		free(part->path);
		free(part->kept);
		free(part->what);
	}
	free(p->initial);
	vec_release(&p->list);
}

/* ---- a run ---- */

static int file_write(const char *path, const uint8_t *bytes, size_t n, struct error *err)
{
	FILE *f = fopen(path, "wb");

	if (!f || (n && fwrite(bytes, 1, n, f) != n) || fclose(f) != 0)
		return error_set(err, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

char *part_text(const uint8_t *bytes, size_t n)
{
	return xasprintf("%.*s", (int)strnlen((const char *)bytes, n), (const char *)bytes);
}

static void word_set(char **word, char *value)
{
	free(*word);
	*word = value;
}

static void env_set(char **env, const char *name, char *value)
{
	size_t n = strlen(name), i = 0;

	while (env[i] && (strncmp(env[i], name, n) != 0 || env[i][n] != '='))
		i++;
	word_set(&env[i], xasprintf("%s=%s", name, value));
	free(value);
}

static char *part_file(const struct part *p, const char *folder)
{
	switch (p->kind) {
	case PART_AT: return xasprintf("%s/input", folder);
	case PART_FILE: return xstrdup(p->path);
	case PART_STDIN: return xasprintf("%s/stdin", folder);
	case PART_MEMORY: return xasprintf("%s/memory", folder);
	case PART_ARG:
	case PART_ENV:
	case PART_SOCKET: return NULL;
	}
	BUG("part of kind %d", p->kind);
}

/* Gives a part to the program, in the way that the part demands. file contains its bytes; NULL if
 * the part needs no file. */
static void part_give(struct parts_run *r, const struct part *part, const uint8_t *bytes,
		      const char *file)
{
	switch (part->kind) {
	case PART_AT:
		for (size_t k = 0; r->argv[k]; k++)
			if (strcmp(r->argv[k], "@@") == 0)
				word_set(&r->argv[k], xstrdup(file));
		break;
	case PART_FILE: break;
	case PART_STDIN: r->stdin_path = xstrdup(file); break;
	case PART_MEMORY: env_set(r->env, PMEND_SYMBOLIC_VARIABLE, xstrdup(file)); break;
	case PART_ARG: word_set(&r->argv[part->number], part_text(bytes, part->len_bytes)); break;
	case PART_ENV: env_set(r->env, part->what, part_text(bytes, part->len_bytes)); break;
	case PART_SOCKET:
		r->port = (uint16_t)part->number;
		r->bytes = bytes;
		r->len_bytes = part->len_bytes;
		break;
	}
}

int parts_run_init(struct parts_run *r, const struct parts *p, const uint8_t *input, char **target,
		   char **env, const char *folder, struct error *err)
{
	int result = 0;

	*r = (struct parts_run){ .argv = words_copy(target, 0), .env = words_copy(env, p->list.n) };
	for (size_t i = 0; result == 0 && i < p->list.n; i++) {
		const struct part *part = &p->list.at[i];
		const uint8_t *bytes = input + part->index;
		char *file = part_file(part, folder);

		if (file)
			result = file_write(file, bytes, part->len_bytes, err);
		part_give(r, part, bytes, file);
		free(file);
	}
	return result;
}

void parts_run_release(struct parts_run *r)
{
	words_free(r->argv);
	words_free(r->env);
	free(r->stdin_path);
}

char *part_tracer_option(const struct part *p, const char *folder)
{
	static const char *const names[] = {
		[PART_ARG] = "arg", [PART_ENV] = "env", [PART_SOCKET] = "socket"
	};
	char *file = part_file(p, folder), *option;

	option = file ? xasprintf("--sym-file=%zu:%zu:%s", p->index, p->len_bytes, file)
		      : xasprintf("--sym-%s=%zu:%zu:%s", names[p->kind], p->index, p->len_bytes,
				  p->what);
	free(file);
	return option;
}
