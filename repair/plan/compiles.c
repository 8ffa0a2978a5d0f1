/* Reads the units that a changed file is part of once more, as they will be. */
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

const char *compile_error(struct repair *r)
{
	VEC(struct source_text) texts = { 0 };
	/* calls that the user gave may be declared later */
	const bool is_strict = !r->options->flush_call && !r->options->fence_call;
	const char *why = NULL;
	struct error err, as_it_was;

	for (size_t i = 0; i < r->changed.n; i++)
		*vec_add(&texts) = (struct source_text){ r->changed.at[i]->path, r->changed.at[i]->after, strlen(r->changed.at[i]->after) };
	for (size_t i = 0; i < r->code->units.n && !why; i++) {
		const char *file = r->code->units.at[i]->main_file;
		bool is_changed = false;

		for (size_t k = 0; k < texts.n && !is_changed; k++)
			is_changed = is_part(r->code->units.at[i], texts.at[k].path);
		if (is_changed && r->code->api->compiles(r->code->build_dir, file, texts.at, texts.n, is_strict, &err) < 0)
			why = r->code->api->compiles(r->code->build_dir, file, NULL, 0, is_strict, &as_it_was) == 0 ? text_format(r->code, "%s", err.msg) : NULL;
	}
	vec_release(&texts);
	return why;
}
