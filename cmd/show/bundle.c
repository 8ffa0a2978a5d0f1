/* Lists what a bundle holds: how it is explored, what is in it by kind, and what is not. With --verbose every file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "cmd/show/show.h"

static void sums_print(FILE *out, const struct bundle *b)
{
	uint64_t bytes = 0, stored = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->entries.n; i++)
		if (b->entries.at[i].kind == BUNDLE_FILE) {
			n++;
			bytes += b->entries.at[i].len_bytes;
			stored += b->entries.at[i].stored_bytes;
		}
	fprintf(out, "files: %zu, %" PRIu64 " bytes, %" PRIu64 " stored\n", n, bytes, stored);
}

static void entry_print(FILE *out, const struct bundle_entry *e)
{
	switch (e->kind) {
	case BUNDLE_FILE: fprintf(out, "  %s  %" PRIu64 " bytes\n", e->path, e->len_bytes); return;
	case BUNDLE_FOLDER: fprintf(out, "  %s/\n", e->path); return;
	case BUNDLE_LINK: fprintf(out, "  %s -> %s\n", e->path, e->target); return;
	}
}

/* Nothing that a terminal would take for more than text. */
static void text_print(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

/* As a shell would need it. */
static void word_print(FILE *out, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-{}") == strlen(word)) {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (; *word; word++)
		text_print(out, *word == '\'' ? "'\\''" : (char[]){ *word, 0 });
	fputc('\'', out);
}

void show_bundle(FILE *out, const struct bundle *b, bool is_verbose)
{
	fputs("a bundle of pmend ", out);
	text_print(out, b->version);
	fputs(" for ", out);
	text_print(out, b->arch);
	fprintf(out, "\ntrace: %s\nfolder: /%s\noptions:", b->trace, b->cwd);
	for (size_t i = 0; i < b->options.n; i++)
		word_print(out, b->options.at[i]);
	fputc('\n', out);
	sums_print(out, b);
	for (size_t i = 0; is_verbose && i < b->entries.n; i++)
		entry_print(out, &b->entries.at[i]);
	for (size_t i = 0; is_verbose && i < b->libraries.n; i++)
		fprintf(out, "library %s: %s\n", b->libraries.at[i].name, b->libraries.at[i].path);
	for (size_t i = 0; i < b->lacks.n; i++)
		fputs("not packed: ", out), text_print(out, b->lacks.at[i]), fputc('\n', out);
}
