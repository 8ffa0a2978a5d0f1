/* Checks a change in a header: every file that includes the header must declare the called function
 * before the include. Not checked are files that include it through another header and are on no
 * bug's call stack. */
#include <string.h>

#include "repair/durability/internal.h"

static bool has_function(const struct source_unit *u, const struct source_function *f,
			 size_t *index)
{
	for (*index = 0; *index < u->nfunctions; ++*index)
		if (u->functions[*index].body && function_is_same(&u->functions[*index], f))
			return true;
	return false;
}

/* Asks whether the function is declared before the changed one; `before` is how many functions of
 * the unit are. A macro may be anywhere but in the including file itself. */
static bool is_known(const struct source_unit *u, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(u->functions[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < u->nmacros; i++)
		if (strcmp(u->macros[i].name, name) == 0 &&
		    strcmp(u->macros[i].file, u->main_file) != 0)
			return true;
	return false;
}

static void read_users(struct repair *r, const char *header)
{
	const char *slash = strrchr(header, '/'), *name = slash ? slash + 1 : header, *why;

	for (size_t i = 0; i < r->code->db->n; i++) {
		const struct file *f = file_open(r->code, r->code->db->files[i]);

		if (f && strstr(f->text, name))
			unit_open(r->code, r->code->db->files[i], &why);
	}
}

int header_check(struct repair *r, const struct fix *x, const struct idiom_line *lines,
		 const char **why)
{
	if (strcmp(x->file->path, x->unit->main_file) == 0)
		return 0;
	read_users(r, x->file->path);
	for (size_t i = 0; i < r->code->units.n; i++) {
		const struct source_unit *u = r->code->units.at[i];
		size_t before;

		for (size_t k = 0; lines[k].text && has_function(u, x->function, &before); k++) {
			const char *name =
				text_copy(r->code, lines[k].text, strcspn(lines[k].text, "("));

			if (!text_is_identifier(name) || is_known(u, before, name))
				continue;
			*why = text_format(
				r->code,
				"%s is not known where %s includes this header; say how to flush with --flush-call and --fence-call",
				name, u->main_file);
			return -1;
		}
	}
	return 0;
}
