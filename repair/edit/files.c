/* The files that bugs are in, and the translation units that they belong to. Each is read once. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "repair/plan/internal.h"

/* The only file of the database with this name: Valgrind's stacks, and so pmemcheck's logs, have no folders. */
static const char *file_called(struct repair *r, const char *name)
{
	const char *found = NULL;
	char real[PATH_MAX];

	for (size_t i = 0; i < r->db->n; i++) {
		const char *slash = strrchr(r->db->files[i], '/');

		if (strcmp(slash ? slash + 1 : r->db->files[i], name) != 0)
			continue;
		if (found && strcmp(found, r->db->files[i]) != 0)
			return NULL;
		found = r->db->files[i];
	}
	return found && realpath(found, real) ? text_copy(r, real, strlen(real)) : NULL;
}

const char *file_resolve(struct repair *r, const char *path)
{
	char real[PATH_MAX];

	if (path[0] == '/')
		return realpath(path, real) ? text_copy(r, real, strlen(real)) : NULL;
	for (size_t i = 0; i < r->db->n; i++) {
		const char *joined = text_format(r, "%s/%s", r->db->directories[i], path);

		if (realpath(joined, real))
			return text_copy(r, real, strlen(real));
	}
	if (realpath(path, real))
		return text_copy(r, real, strlen(real));
	return strchr(path, '/') ? NULL : file_called(r, path);
}

struct file *file_open(struct repair *r, const char *path)
{
	struct file *f;
	struct stat st;
	FILE *in;

	for (size_t i = 0; i < r->files.n; i++)
		if (strcmp(r->files.at[i]->path, path) == 0)
			return r->files.at[i];
	in = fopen(path, "re");
	if (!in)
		return NULL;
	if (fstat(fileno(in), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > 64 << 20) {
		fclose(in);
		return NULL;
	}
	f = arena_alloc(&r->arena, sizeof *f);
	*f = (struct file){ .path = text_copy(r, path, strlen(path)), .text = xcalloc(1, (size_t)st.st_size + 1) };
	f->len_bytes = (uint32_t)fread(f->text, 1, (size_t)st.st_size, in);
	fclose(in);
	*vec_add(&r->files) = f;
	return f;
}

bool path_is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || (len == 1 && folder[0] == '/'));
}

struct source_unit *unit_open(struct repair *r, const char *file, const char **why)
{
	struct source_unit *u;
	struct error err;

	for (size_t i = 0; i < r->units.n; i++)
		if (strcmp(r->units.at[i]->main_file, file) == 0)
			return r->units.at[i];
	u = r->api->parse(r->options->build_dir, file, &err);
	if (u)
		*vec_add(&r->units) = u;
	else
		*why = text_copy(r, err.msg, strlen(err.msg));
	return u;
}
