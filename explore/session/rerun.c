/* Writes the shell command that checks one input again. If the input has several parts, the command
 * first cuts each out of the kept file. */
#include "explore/session/rerun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmend.h"
#include "util/alloc.h"

static void quote(FILE *f, const char *word)
{
	if (*word &&
	    strspn(word,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") ==
		    strlen(word)) {
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

/* Writes the command that prints the bytes of a part, cut from the file of the whole input. */
static void put_bytes_command(FILE *f, const struct parts *p, const struct part *part,
			      const char *file)
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

static const struct part *part_find(const struct parts *p, enum part_kind kind)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == kind)
			return &p->list.at[i];
	return NULL;
}

/* Writes the commands that create the files which a run needs. */
static void put_files(FILE *f, const struct parts *p, const char *file)
{
	for (size_t i = 0; i < p->list.n; i++) {
		const struct part *part = &p->list.at[i];

		if (part->kind == PART_FILE ||
		    ((part->kind == PART_AT || part->kind == PART_MEMORY) && p->list.n > 1)) {
			put_bytes_command(f, p, part, file);
			fputs(" > ", f);
			quote(f, part->kind == PART_AT       ? "input"
				 : part->kind == PART_MEMORY ? "memory"
							     : part->path);
			fputs("; ", f);
		}
	}
}

static void put_variables(FILE *f, const struct parts *p, const uint8_t *input, const char *file)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].kind == PART_ENV) {
			char *value =
				part_text(input + p->list.at[i].index, p->list.at[i].len_bytes);

			fprintf(f, "%s=", p->list.at[i].what);
			quote(f, value);
			fputc(' ', f);
			free(value);
		}
	if (part_find(p, PART_MEMORY)) {
		fputs(PMEND_SYMBOLIC_VARIABLE "=", f);
		quote(f, p->list.n > 1 ? "memory" : file);
		fputc(' ', f);
	}
}

static void put_words(FILE *f, const struct parts *p, const uint8_t *input, char *const *target,
		      const char *file)
{
	const struct part *at = part_find(p, PART_AT);

	for (size_t k = 0; target[k]; k++) {
		char *value = NULL;

		/* if several parts replace one word, the last counts */
		for (size_t i = p->list.n; !value && i-- > 0;)
			if (p->list.at[i].kind == PART_ARG && p->list.at[i].number == k)
				value = part_text(input + p->list.at[i].index,
						  p->list.at[i].len_bytes);
		fputc(' ', f);
		quote(f, value                                ? value
			 : at && strcmp(target[k], "@@") == 0 ? (p->list.n > 1 ? "input" : file)
							      : target[k]);
		free(value);
	}
}

static void put_names(FILE *f, const char *option, const struct word_list *names)
{
	for (size_t i = 0; i < names->n; i++) {
		fprintf(f, " %s ", option);
		quote(f, names->item[i]);
	}
}

static void put_thread_options(FILE *f, const struct rerun_options *o)
{
	if (o->recording->threads)
		fputs(" --threads", f);
	put_names(f, "--lock-call", &o->recording->lock_calls);
	put_names(f, "--unlock-call", &o->recording->unlock_calls);
	if (o->nschedules)
		fprintf(f, " --schedules %" PRIu32, o->nschedules);
	if (o->nschedules && o->seed != 1)
		fprintf(f, " --schedule-seed %" PRIu64, o->seed);
}

char *rerun_command(const struct parts *p, const uint8_t *input, char *const *target,
		    const char *file, const struct rerun_options *o)
{
	const struct part *in = part_find(p, PART_STDIN), *socket = part_find(p, PART_SOCKET);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	put_files(f, p, file);
	if (in && p->list.n > 1) {
		put_bytes_command(f, p, in, file);
		fputs(" | ", f);
	}
	put_variables(f, p, input, file);
	fputs("pmend check", f);
	put_thread_options(f, o);
	fputs(" --", f);
	put_words(f, p, input, target, file);
	if (in && p->list.n == 1) {
		fputs(" < ", f);
		quote(f, file);
	}
	if (socket) {
		fputs(", and once it listens: ", f);
		put_bytes_command(f, p, socket, file);
		fprintf(f, " | nc -N 127.0.0.1 %llu", (unsigned long long)socket->number);
	}
	fclose(f);
	return text;
}
