/* Parses the options that say which input is symbolic: WHAT:LEN, or a length alone. */
#include "cmd/explore_parts.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* Splits "WHAT:LEN" in place; false if there is no length. A colon without a number behind it
 * belongs to the name. */
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

static struct part *part_add(struct parts *p, const struct command *c, enum part_kind kind,
			     const char *text)
{
	struct part *part = vec_add(&p->list);
	char *copy = xstrdup(text);

	*part = (struct part){ .kind = kind };
	part->has_len = len_split(c, copy, &part->len_bytes);
	part->what = copy;
	return part;
}

static uint64_t number_parse(const struct command *c, const char *text, const char *option,
			     uint64_t max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*end || !*text || n == 0 || n > max)
		die_usage(c, "%s needs a number from 1 to %llu, not '%s'", option,
			  (unsigned long long)max, text);
	return n;
}

/* Adds a part that is described by its length alone. */
static void bare_add(struct parts *p, const struct command *c, enum part_kind kind, const char *len,
		     const char *option)
{
	struct part *part;

	if (!len)
		return;
	part = part_add(p, c, kind, "");
	part->len_bytes = number_parse(c, len, option, 1u << 20);
	part->has_len = true;
}

static void parts_gather(struct parts *p, const struct command *c, const struct part_options *o,
			 char **target)
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
		die_usage(
			c,
			"no input is symbolic: write @@ in place of a file name, or use --sym-file, --sym-stdin, --sym-arg, --sym-env, "
			"--sym-socket or --sym-memory");
}

static void parallel_check(const struct parts *p, const struct command *c)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == PART_FILE)
			die_usage(
				c,
				"--jobs cannot be combined with --sym-file, because there is only one such file; write @@ for its name");
		else if (p->list.at[i].kind == PART_SOCKET)
			die_usage(
				c,
				"--jobs cannot be combined with --sym-socket: two servers cannot have one port");
}

void explore_parts_read(struct parts *p, const struct command *c, const struct part_options *o,
			char **target, bool is_parallel)
{
	parts_gather(p, c, o, target);
	if (is_parallel)
		parallel_check(p, c);
}

void part_options_release(struct part_options *o)
{
	word_list_release(&o->files);
	word_list_release(&o->args);
	word_list_release(&o->envs);
}
