/* Lists the contents of a bundle: how it is explored, what is in it by kind, and what is missing.
 * With --verbose it lists every file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "cmd/show/show.h"
#include "report/escape.h"

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

static void line_end(FILE *out)
{
	fputc('\n', out);
}

static void entry_print(FILE *out, const struct bundle_entry *e)
{
	switch (e->kind) {
	case BUNDLE_FILE:
		escape_printf(out, "  %s  %" PRIu64 " bytes", e->path, e->len_bytes);
		break;
	case BUNDLE_FOLDER: escape_printf(out, "  %s/", e->path); break;
	case BUNDLE_LINK: escape_printf(out, "  %s -> %s", e->path, e->target); break;
	}
	line_end(out);
}

/* Prints a word, quoted if a shell needs that. */
static void word_print(FILE *out, const char *word)
{
	if (*word &&
	    strspn(word,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-{}") ==
		    strlen(word)) {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (size_t n; *word; word += n) {
		n = strcspn(word, "'");
		escape_text(out, word, n);
		if (word[n]) {
			fputs("'\\''", out);
			n++;
		}
	}
	fputc('\'', out);
}

void show_bundle(FILE *out, const struct bundle *b, bool is_verbose)
{
	escape_printf(out, "a bundle of pmend %s for %s", b->version, b->arch);
	line_end(out);
	escape_printf(out, "trace: %s", b->trace);
	line_end(out);
	escape_printf(out, "folder: /%s", b->cwd);
	fputs("\noptions:", out);
	for (size_t i = 0; i < b->options.n; i++)
		word_print(out, b->options.at[i]);
	fputc('\n', out);
	sums_print(out, b);
	for (size_t i = 0; is_verbose && i < b->entries.n; i++)
		entry_print(out, &b->entries.at[i]);
	for (size_t i = 0; is_verbose && i < b->libraries.n; i++) {
		escape_printf(out, "library %s: %s", b->libraries.at[i].name,
			      b->libraries.at[i].path);
		line_end(out);
	}
	for (size_t i = 0; i < b->lacks.n; i++) {
		escape_printf(out, "not packed: %s", b->lacks.at[i]);
		line_end(out);
	}
}
