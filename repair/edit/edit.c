/* Edits of a file, and the text that they make. Edits of one place stay in the order in which they
 * were made; line ends stay those of the file. */
#include <stdio.h>
#include <stdlib.h>

#include "repair/edit/internal.h"

void file_edit(struct file *f, uint32_t at, uint32_t removed, const char *insert)
{
	if (!removed && at > 0 && at < f->len_bytes && f->text[at] == '\n' &&
	    f->text[at - 1] == '\r')
		at--; /* lines end with CR LF here, also those that are inserted */
	*vec_add(&f->edits) = (struct edit){ at, removed, insert };
}

static int by_offset(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Sorted by place; edits of one place stay in the order in which they were made. */
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

const char *file_edited(struct codebase *code, struct file *f, uint32_t from, uint32_t to)
{
	bool is_crlf =
		f->len_bytes && text_line_end(f, 0) > 0 && f->text[text_line_end(f, 0) - 1] == '\r';
	char *out = NULL;
	size_t room = 0;
	uint32_t at = from;
	FILE *o = open_memstream(&out, &room);
	const char *copy;

	sort_edits(f);
	for (size_t i = 0; i < f->edits.n; i++) {
		const struct edit *e = &f->edits.at[i];

		if (e->at < at || e->at > to)
			continue; /* inside of what another one replaced: blanks only */
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
