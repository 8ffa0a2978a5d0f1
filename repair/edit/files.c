/* Opens the source files of the bugs, and the translation units that contain them. Each is read
 * once. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "repair/edit/internal.h"

struct codebase *codebase_new(const struct source_api *api, const struct source_database *db)
{
	struct codebase *code = xcalloc(1, sizeof *code);

	code->api = api;
	code->db = db;
	return code;
}

void codebase_free(struct codebase *code)
{
	for (size_t i = 0; i < code->units.n; i++)
		code->api->release(code->units.at[i]);
	for (size_t i = 0; i < code->files.n; i++) {
		vec_release(&code->files.at[i]->edits);
		free(code->files.at[i]->text);
	}
	vec_release(&code->files);
	vec_release(&code->units);
	vec_release(&code->uses);
	arena_release(&code->arena);
	free(code);
}

void codebase_forget_edits(struct codebase *code)
{
	for (size_t i = 0; i < code->files.n; i++) {
		code->files.at[i]->edits.n = 0;
		code->files.at[i]->after = NULL;
	}
}

/* Finds the only file of the database with this name. Used for paths without folders: Valgrind's
 * stacks, and so pmemcheck's logs, have none. */
static const char *file_called(struct codebase *code, const char *name)
{
	const char *found = NULL;
	char real[PATH_MAX];

	for (size_t i = 0; i < code->db->n; i++) {
		const char *slash = strrchr(code->db->files[i], '/');

		if (strcmp(slash ? slash + 1 : code->db->files[i], name) != 0)
			continue;
		if (found && strcmp(found, code->db->files[i]) != 0)
			return NULL;
		found = code->db->files[i];
	}
	return found && realpath(found, real) ? text_copy(code, real, strlen(real)) : NULL;
}

/* Returns the path relative to the folder of an entry of the database; NULL: no such file
 * exists. */
static const char *joined_path(struct codebase *code, size_t entry, const char *path,
			       char real[PATH_MAX])
{
	return realpath(text_format(code, "%s/%s", code->db->directories[entry], path), real);
}

static bool is_entry(const struct codebase *code, size_t entry, const char *path)
{
	char real[PATH_MAX];

	return realpath(code->db->files[entry], real) && strcmp(real, path) == 0;
}

const char *file_resolve(struct codebase *code, const char *path)
{
	char real[PATH_MAX];

	if (path[0] == '/')
		return realpath(path, real) ? text_copy(code, real, strlen(real)) : NULL;
	/* A file of that name may also be in the folder of another file's entry, so the file's own
	 * entry comes first. */
	for (size_t i = 0; i < code->db->n; i++)
		if (joined_path(code, i, path, real) && is_entry(code, i, real))
			return text_copy(code, real, strlen(real));
	for (size_t i = 0; i < code->db->n; i++)
		if (joined_path(code, i, path, real))
			return text_copy(code, real, strlen(real));
	if (realpath(path, real))
		return text_copy(code, real, strlen(real));
	return strchr(path, '/') ? NULL : file_called(code, path);
}

static struct file *file_add(struct codebase *code, const char *path, size_t len_bytes)
{
	struct file *f = arena_alloc(&code->arena, sizeof *f);

	*f = (struct file){ .path = text_copy(code, path, strlen(path)),
			    .text = xcalloc(1, len_bytes + 1) };
	*vec_add(&code->files) = f;
	return f;
}

struct file *file_open(struct codebase *code, const char *path)
{
	struct file *f;
	struct stat st;
	FILE *in;

	for (size_t i = 0; i < code->files.n; i++)
		if (strcmp(code->files.at[i]->path, path) == 0)
			return code->files.at[i];
	for (size_t i = 0; i < code->nchanged; i++)
		if (strcmp(code->changed[i].path, path) == 0) {
			f = file_add(code, path, code->changed[i].len_bytes);
			f->len_bytes = (uint32_t)code->changed[i].len_bytes;
			memcpy(f->text, code->changed[i].text, f->len_bytes);
			return f;
		}
	in = fopen(path, "re");
	if (!in)
		return NULL;
	if (fstat(fileno(in), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > 64 << 20) {
		fclose(in);
		return NULL;
	}
	f = file_add(code, path, (size_t)st.st_size);
	f->len_bytes = (uint32_t)fread(f->text, 1, (size_t)st.st_size, in);
	fclose(in);
	return f;
}

struct source_unit *unit_open(struct codebase *code, const char *file, const char **why)
{
	struct source_unit *u;
	struct error err;

	for (size_t i = 0; i < code->units.n; i++)
		if (strcmp(code->units.at[i]->main_file, file) == 0)
			return code->units.at[i];
	u = code->api->parse(code->db, file, code->changed, code->nchanged, &err);
	if (u)
		*vec_add(&code->units) = u;
	else
		*why = text_copy(code, err.msg, strlen(err.msg));
	return u;
}
