/* Finds the uses of a function: calls that the report shows, other uses in parsed files, and its
 * name in files that were not parsed. */
#include <string.h>

#include "repair/durability/internal.h"

static bool is_seen(const struct repair *r, const struct use *u)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct repair_place *p = r->fixes.at[i].place;

		for (size_t k = r->fixes.at[i].frame + 1; p && k < p->nframes; k++)
			if (p->frames[k].function &&
			    strcmp(p->frames[k].function, u->in->name) == 0 &&
			    p->frames[k].line == u->node->line)
				return true;
	}
	return false;
}

/* The function is defined in a header that this unit includes. */
static bool is_in_header(const struct source_unit *u, const struct source_function *f)
{
	return strcmp(u->main_file, f->file) != 0 && function_at(u, f->file, f->line);
}

/* Returns the next use from i on that means this function; n at the end. A use in a header, which
 * several units have, counts once. */
size_t uses_next(const struct use *uses, size_t n, size_t i, const struct source_function *of)
{
	for (; i < n; i++) {
		bool is_again = i > 0 && uses[i - 1].node && uses[i - 1].at == uses[i].at &&
				strcmp(uses[i - 1].in->file, uses[i].in->file) == 0;

		if (uses[i].node && !is_again &&
		    (!of->is_static || strcmp(uses[i].unit->main_file, of->file) == 0 ||
		     is_in_header(uses[i].unit, of)))
			return i;
	}
	return n;
}

unsigned uses_count(struct repair *r, const struct source_function *f)
{
	unsigned count = 0;
	size_t n;
	const struct use *uses = names_find(r->code, f->name, &n);

	for (size_t i = uses_next(uses, n, 0, f); i < n; i = uses_next(uses, n, i + 1, f))
		count++;
	return count;
}

/* The function's name is in a file that was not parsed. */
bool uses_are_elsewhere(struct repair *r, const struct source_function *f)
{
	for (size_t i = 0; !f->is_static && i < r->code->db->n; i++) {
		const struct file *file;
		bool is_read = false;

		for (size_t k = 0; k < r->code->units.n; k++)
			is_read |=
				strcmp(r->code->units.at[k]->main_file, r->code->db->files[i]) == 0;
		file = is_read ? NULL : file_open(r->code, r->code->db->files[i]);
		if (file && text_has_word(file->text, f->name))
			return true;
	}
	return false;
}

bool uses_has_unseen(struct repair *r, const struct source_function *f)
{
	size_t n;
	const struct use *uses = names_find(r->code, f->name, &n);

	for (size_t i = uses_next(uses, n, 0, f); i < n; i = uses_next(uses, n, i + 1, f))
		if (!is_seen(r, &uses[i]))
			return true;
	return uses_are_elsewhere(r, f);
}
