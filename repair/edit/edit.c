/* Keeps the edits of a file, and makes the text that results. Edits at the same offset keep the
 * order in which they were made. Line ends stay as in the file. */
#include <stdio.h>
#include <stdlib.h>

#include "repair/edit/internal.h"

void file_edit(struct file *f, uint32_t at, uint32_t removed, const char *insert)
{
	if (!removed && at > 0 && at < f->len_bytes && f->text[at] == '\n' &&
	    f->text[at - 1] == '\r')
		at--; /* in a file with CR LF, insert before both */
	*vec_add(&f->edits) = (struct edit){ at, removed, insert };
}

static int by_offset(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Sorts edits by offset; those at the same offset keep their order. */
static void sort_edits(struct file *f)
{
	for (size_t i = 1; i < f->edits.n; i++)
		for (size_t k = i; k > 0 && by_offset(&f->edits.at[k], &f->edits.at[k - 1]) < 0;
		     k--) {
			struct edit e = f->edits.at[k];

			f->edits.at[k] = f->edits.at[k - 1];
			f->edits.at[k - 1] = e;
		}
}

static void insert(FILE *o, const char *text, bool is_crlf)
{
	for (char last = 0; *text; last = *text++) {
		if (*text == '\n' && is_crlf && last != '\r')
			fputc('\r', o);
		fputc(*text, o);
	}
}

static bool has_crlf(const struct file *f)
{
	return f->len_bytes && text_line_end(f, 0) > 0 && f->text[text_line_end(f, 0) - 1] == '\r';
}

const char *file_edited(struct codebase *code, struct file *f, uint32_t from, uint32_t to)
{
	bool is_crlf = has_crlf(f);
	char *out = NULL;
	size_t room = 0;
	uint32_t at = from;
	FILE *o = open_memstream(&out, &room);
	const char *copy;

	sort_edits(f);
	for (size_t i = 0; i < f->edits.n; i++) {
		const struct edit *e = &f->edits.at[i];

		if (e->at < at || e->at > to)
			continue; /* inside a range that another edit replaced: blanks only */
		fwrite(f->text + at, 1, e->at - at, o);
		insert(o, e->insert, is_crlf);
		at = e->at + e->removed;
	}
	fwrite(f->text + at, 1, to - at, o);
	fclose(o);
	copy = text_copy(code, out, room);
	free(out);
	return copy;
}

/* ---- which bytes are in both versions ---- */

static uint32_t inserted_bytes(const char *text, bool is_crlf)
{
	uint32_t n = 0;

	for (char last = 0; *text; last = *text++)
		n += 1 + (*text == '\n' && is_crlf && last != '\r');
	return n;
}

/* A part of the file that no edit changes. */
struct kept {
	uint32_t before, after, len;
};

/* Finds the first unchanged part of the file that ends behind `at`: an offset in the edited file
 * (is_after) or in the original. */
static struct kept kept_at(const struct file *f, uint32_t at, bool is_after)
{
	const bool is_crlf = has_crlf(f);
	struct kept k = { 0 };

	for (size_t i = 0; i <= f->edits.n; i++) {
		const struct edit *e = i < f->edits.n ? &f->edits.at[i] : NULL;

		if (e && e->at < k.before)
			continue;
		k.len = (e ? e->at : f->len_bytes) - k.before;
		if (!e || (is_after ? k.after : k.before) + k.len > at)
			return k;
		k.before = e->at + e->removed;
		k.after += k.len + inserted_bytes(e->insert, is_crlf);
	}
	return k;
}

uint32_t file_origin(const struct file *f, uint32_t after)
{
	struct kept k = kept_at(f, after, true);

	return after >= k.after ? k.before + after - k.after : UINT32_MAX;
}

bool file_is_inserted(const struct file *f, uint32_t from, uint32_t to)
{
	return kept_at(f, from, true).after >= to;
}

bool file_is_removed(const struct file *f, uint32_t from, uint32_t to)
{
	return kept_at(f, from, false).before >= to;
}
