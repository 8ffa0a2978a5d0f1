/* See explore_input.h. */
#include "explore/session/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmend.h"
#include "util/alloc.h"

/* ---- options ---- */

/* Splits "WHAT:LEN" in place; false if there is no length. A colon that no number follows is part of the name. */
static bool len_split(const struct command *c, char *text, size_t *len)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long long n;

	if (!colon || !colon[1])
		return false;
	n = strtoull(colon + 1, &end, 10);
	if (*end)
		return false;
	if (n == 0 || n > 1u << 20)
		die_usage(c, "a symbolic input has 1 to 1048576 bytes, not %s", colon + 1);
	*colon = '\0';
	*len = (size_t)n;
	return true;
}

static struct part *part_add(struct parts *p, const struct command *c, enum part_kind kind, const char *text)
{
	struct part *part = vec_add(&p->list);
	char *copy = xstrdup(text);

	*part = (struct part){ .kind = kind };
	part->has_len = len_split(c, copy, &part->len_bytes);
	part->what = copy;
	return part;
}

static uint64_t number_parse(const struct command *c, const char *text, const char *option, uint64_t max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*end || !*text || n == 0 || n > max)
		die_usage(c, "%s needs a number from 1 to %llu, not '%s'", option, (unsigned long long)max, text);
	return n;
}

static size_t words_count(char **target)
{
	size_t n = 0;

	while (target[n])
		n++;
	return n;
}

/* A part of which there is nothing to say but its length. */
static void bare_add(struct parts *p, const struct command *c, enum part_kind kind, const char *len, const char *option)
{
	struct part *part;

	if (!len)
		return;
	part = part_add(p, c, kind, "");
	part->len_bytes = number_parse(c, len, option, 1u << 20);
	part->has_len = true;
}

static void parts_gather(struct parts *p, const struct command *c, const struct part_options *o, char **target)
{
	for (size_t i = 0; target[i]; i++)
		if (strcmp(target[i], "@@") == 0) {
			part_add(p, c, PART_AT, "@@");
			break;
		}
	for (size_t i = 0; i < o->files.n; i++)
		part_add(p, c, PART_FILE, o->files.item[i]);
	bare_add(p, c, PART_STDIN, o->stdin_len, "--sym-stdin");
	for (size_t i = 0; i < o->args.n; i++) {
		struct part *part = part_add(p, c, PART_ARG, o->args.item[i]);

		part->number = number_parse(c, part->what, "--sym-arg", words_count(target) - 1);
	}
	for (size_t i = 0; i < o->envs.n; i++)
		part_add(p, c, PART_ENV, o->envs.item[i]);
	if (o->socket) {
		struct part *part = part_add(p, c, PART_SOCKET, o->socket);

		part->number = number_parse(c, part->what, "--sym-socket", 65535);
	}
	bare_add(p, c, PART_MEMORY, o->memory_len, "--sym-memory");
	if (!p->list.n)
		die_usage(c, "no input is symbolic: write @@ in place of a file name, or use --sym-file, --sym-stdin, --sym-arg, --sym-env, "
			     "--sym-socket or --sym-memory");
}

static const char *text_of(const struct part *part, char **target)
{
	const char *value = part->kind == PART_ARG ? target[part->number] : part->kind == PART_ENV ? getenv(part->what) : NULL;

	return value ? value : "";
}

/* A text has room to grow; the first other part without a length is as long as the longest seed wants it. */
static void lengths_set(struct parts *p, char **target, size_t longest_seed)
{
	struct part *open = NULL;

	for (size_t i = 0; i < p->list.n; i++) {
		struct part *part = &p->list.at[i];
		bool is_text = part->kind == PART_ARG || part->kind == PART_ENV;

		if (!part->has_len && !is_text && !open)
			open = part;
		if (!part->has_len)
			part->len_bytes = is_text ? strlen(text_of(part, target)) + 8 : EXPLORE_DEFAULT_BYTES;
		p->len_bytes += part->len_bytes;
	}
	if (open && longest_seed) {
		size_t rest = p->len_bytes - open->len_bytes;

		open->len_bytes = longest_seed > rest ? longest_seed - rest : 1;
		p->len_bytes = rest + open->len_bytes;
	}
}

/* A file that the program opens by its own name: the user's is moved aside until we are done. */
static void file_take(struct part *part)
{
	part->path = xstrdup(part->what);
	if (access(part->path, F_OK) < 0)
		return;
	part->kept = xasprintf("%s.pmend-%d", part->path, (int)getpid());
	if (rename(part->path, part->kept) < 0)
		die("cannot move %s aside: %s", part->path, strerror(errno));
}

static void parallel_check(const struct parts *p, const struct command *c)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == PART_FILE)
			die_usage(c, "--jobs does not go with --sym-file, which there is only one of; write @@ for its name");
		else if (p->list.at[i].kind == PART_SOCKET)
			die_usage(c, "--jobs does not go with --sym-socket: two servers cannot have one port");
}

void parts_init(struct parts *p, const struct command *c, const struct part_options *o, char **target, size_t longest_seed, bool is_parallel)
{
	size_t index = 0;

	*p = (struct parts){ 0 };
	parts_gather(p, c, o, target);
	if (is_parallel)
		parallel_check(p, c);
	lengths_set(p, target, longest_seed);
	p->initial = xcalloc(p->len_bytes + 1, 1);
	for (size_t i = 0; i < p->list.n; i++) {
		struct part *part = &p->list.at[i];
		const char *text = text_of(part, target);

		part->index = index;
		memcpy(p->initial + index, text, strlen(text) < part->len_bytes ? strlen(text) : part->len_bytes);
		index += part->len_bytes;
		if (part->kind == PART_FILE)
			file_take(part);
	}
}

void parts_release(struct parts *p)
{
	for (size_t i = 0; i < p->list.n; i++) {
		struct part *part = &p->list.at[i];

		if (part->path)
			unlink(part->path);
		if (part->kept && rename(part->kept, part->path) < 0)
			warn("your %s is now called %s: %s", part->path, part->kept, strerror(errno));
		free(part->path);
		free(part->kept);
		free((char *)(uintptr_t)part->what);
	}
	free(p->initial);
	vec_release(&p->list);
}

/* ---- a run ---- */

static void file_write(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || (n && fwrite(bytes, 1, n, f) != n) || fclose(f) != 0)
		die("cannot write %s: %s", path, strerror(errno));
}

static char *text_copy(const uint8_t *bytes, size_t n)
{
	return xasprintf("%.*s", (int)strnlen((const char *)bytes, n), (const char *)bytes);
}

/* With room for more. */
static char **words_copy(char **words, size_t more)
{
	size_t n = words_count(words);
	char **copy = xcalloc(n + more + 1, sizeof *copy);

	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(words[i]);
	return copy;
}

static void words_free(char **words)
{
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
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

char *part_file(const struct part *p, const char *folder)
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

void parts_run_init(struct parts_run *r, const struct parts *p, const uint8_t *input, char **target, char **env, const char *folder)
{
	*r = (struct parts_run){ .argv = words_copy(target, 0), .env = words_copy(env, p->list.n) };
	for (size_t i = 0; i < p->list.n; i++) {
		const struct part *part = &p->list.at[i];
		const uint8_t *bytes = input + part->index;
		char *file = part_file(part, folder);

		if (file)
			file_write(file, bytes, part->len_bytes);
		switch (part->kind) {
		case PART_AT:
			for (size_t k = 0; r->argv[k]; k++)
				if (strcmp(r->argv[k], "@@") == 0)
					word_set(&r->argv[k], xstrdup(file));
			break;
		case PART_FILE: break;
		case PART_STDIN: r->stdin_path = xstrdup(file); break;
		case PART_MEMORY: env_set(r->env, PMEND_SYMBOLIC_VARIABLE, xstrdup(file)); break;
		case PART_ARG: word_set(&r->argv[part->number], text_copy(bytes, part->len_bytes)); break;
		case PART_ENV: env_set(r->env, part->what, text_copy(bytes, part->len_bytes)); break;
		case PART_SOCKET:
			r->port = (uint16_t)part->number;
			r->bytes = bytes;
			r->len_bytes = part->len_bytes;
			break;
		}
		free(file);
	}
}

void parts_run_release(struct parts_run *r)
{
	words_free(r->argv);
	words_free(r->env);
	free(r->stdin_path);
}

char *part_tracer_option(const struct part *p, const char *folder)
{
	static const char *const names[] = { [PART_ARG] = "arg", [PART_ENV] = "env", [PART_SOCKET] = "socket" };
	char *file = part_file(p, folder), *option;

	option = file ? xasprintf("--sym-file=%zu:%zu:%s", p->index, p->len_bytes, file) :
			xasprintf("--sym-%s=%zu:%zu:%s", names[p->kind], p->index, p->len_bytes, p->what);
	free(file);
	return option;
}

/* ---- for people ---- */

static void quote(FILE *f, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") == strlen(word)) {
		fputs(word, f);
		return;
	}
	fputs("$'", f);
	for (; *word; word++) {
		unsigned char ch = (unsigned char)*word;

		if (ch == '\'' || ch == '\\')
			fprintf(f, "\\%c", ch);
		else if (ch < 32 || ch > 126)
			fprintf(f, "\\x%02x", ch);
		else
			fputc(ch, f);
	}
	fputc('\'', f);
}

/* The bytes of a part, when a file holds them all. */
static void put_bytes_command(FILE *f, const struct parts *p, const struct part *part, const char *file)
{
	if (p->list.n == 1) {
		fputs("cat ", f);
		quote(f, file);
		return;
	}
	fprintf(f, "tail -c +%zu ", part->index + 1);
	quote(f, file);
	fprintf(f, " | head -c %zu", part->len_bytes);
}

char *parts_rerun(const struct parts *p, const uint8_t *input, char **target, const char *file)
{
	const struct part *at = NULL, *in = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < p->list.n; i++) {
		const struct part *part = &p->list.at[i];

		if (part->kind == PART_FILE || ((part->kind == PART_AT || part->kind == PART_MEMORY) && p->list.n > 1)) {
			put_bytes_command(f, p, part, file);
			fputs(" > ", f);
			quote(f, part->kind == PART_AT ? "input" : part->kind == PART_MEMORY ? "memory" : part->path);
			fputs("; ", f);
		}
		if (part->kind == PART_AT)
			at = part;
		if (part->kind == PART_STDIN)
			in = part;
	}
	if (in && p->list.n > 1) {
		put_bytes_command(f, p, in, file);
		fputs(" | ", f);
	}
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == PART_ENV) {
			char *value = text_copy(input + p->list.at[i].index, p->list.at[i].len_bytes);

			fprintf(f, "%s=", p->list.at[i].what);
			quote(f, value);
			fputc(' ', f);
			free(value);
		}
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == PART_MEMORY) {
			fputs(PMEND_SYMBOLIC_VARIABLE "=", f);
			quote(f, p->list.n > 1 ? "memory" : file);
			fputc(' ', f);
		}
	fputs("pmend check --", f);
	for (size_t k = 0; target[k]; k++) {
		char *value = NULL;

		for (size_t i = 0; i < p->list.n; i++)
			if (p->list.at[i].kind == PART_ARG && p->list.at[i].number == k)
				value = text_copy(input + p->list.at[i].index, p->list.at[i].len_bytes);
		fputc(' ', f);
		quote(f, value ? value : at && strcmp(target[k], "@@") == 0 ? (p->list.n > 1 ? "input" : file) : target[k]);
		free(value);
	}
	if (in && p->list.n == 1) {
		fputs(" < ", f);
		quote(f, file);
	}
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == PART_SOCKET) {
			fputs(", and once it listens: ", f);
			put_bytes_command(f, p, &p->list.at[i], file);
			fprintf(f, " | nc -N 127.0.0.1 %llu", (unsigned long long)p->list.at[i].number);
		}
	fclose(f);
	return text;
}
