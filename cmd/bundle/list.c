/* Lists what a bundle holds: how it is explored, what is in it by kind, and what is not. With --verbose every file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bundle/bundled.h"
#include "cmd/cmd.h"

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

/* As a shell would need it. */
static void word_print(FILE *out, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-{}") == strlen(word)) {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, out);
	fputc('\'', out);
}

void bundled_list(FILE *out, const char *file, bool is_verbose)
{
	struct bundle b;
	struct error err;

	if (bundle_open(&b, file, &err) < 0)
		die("%s", err.msg);
	fprintf(out, "a bundle of pmend %s for %s\n", b.version, b.arch);
	fprintf(out, "trace: %s\nfolder: /%s\noptions:", b.trace, b.cwd);
	for (size_t i = 0; i < b.options.n; i++)
		word_print(out, b.options.at[i]);
	fputc('\n', out);
	sums_print(out, &b);
	for (size_t i = 0; is_verbose && i < b.entries.n; i++)
		entry_print(out, &b.entries.at[i]);
	for (size_t i = 0; is_verbose && i < b.libraries.n; i++)
		fprintf(out, "library %s: %s\n", b.libraries.at[i].name, b.libraries.at[i].path);
	for (size_t i = 0; i < b.lacks.n; i++)
		fprintf(out, "not packed: %s\n", b.lacks.at[i]);
	bundle_release(&b);
}
