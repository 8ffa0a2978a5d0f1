/* Test-compiles each source file that a changed file is part of, with the change. If the user
 * interrupts that, the number of unchecked files is reported. If the user had interrupted planning
 * before, all files are compiled. */
#include <stdlib.h>
#include <string.h>

#include "repair/plan/internal.h"

static bool is_part(const struct source_unit *u, const char *path)
{
	if (strcmp(u->main_file, path) == 0)
		return true;
	for (size_t i = 0; i < u->nfunctions; i++)
		if (u->functions[i].file && strcmp(u->functions[i].file, path) == 0)
			return true;
	for (size_t i = 0; i < u->nmacros; i++)
		if (u->macros[i].file && strcmp(u->macros[i].file, path) == 0)
			return true;
	return false;
}

static bool is_changed(const struct repair *r, const struct source_unit *u)
{
	for (size_t i = 0; i < r->changed.n; i++)
		if (is_part(u, r->changed.at[i]->path))
			return true;
	return false;
}

const char *compile_error(struct repair *r)
{
	VEC(struct source_text) texts = { 0 };
	VEC(const char *) files = { 0 };
	const bool was_interrupted = watch_is_interrupted(r->options->watch);
	/* a call that the user gave may be declared elsewhere */
	const bool is_strict = !r->options->flush_call && !r->options->fence_call;
	const char *why = NULL;
	struct error err, as_it_was;

	for (size_t i = 0; i < r->changed.n; i++)
		*vec_add(&texts) =
			(struct source_text){ r->changed.at[i]->path, r->changed.at[i]->after,
					      strlen(r->changed.at[i]->after) };
	for (size_t i = 0; i < r->code->units.n; i++)
		if (is_changed(r, r->code->units.at[i]))
			*vec_add(&files) = r->code->units.at[i]->main_file;
	r->nunchecked = 0;
	for (size_t i = 0; i < files.n && !why && !r->nunchecked; i++) {
		watch_tell(r->options->watch, "files compiled with the change", i, files.n);
		if (!was_interrupted && watch_is_interrupted(r->options->watch))
			r->nunchecked = files.n - i;
		else if (r->code->api->compiles(r->code->db, files.at[i], texts.at, texts.n,
						is_strict, &err) < 0)
			why = r->code->api->compiles(r->code->db, files.at[i], NULL, 0, is_strict,
						     &as_it_was) == 0
				      ? text_format(r->code, "%s", err.msg)
				      : NULL;
	}
	vec_release(&files);
	vec_release(&texts);
	return why;
}
