/* The root that the paths of a patch are relative to: the one that the user gave, else the current folder, or the nearest one above that
 * holds all that changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fixing.h"

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || (len == 1 && folder[0] == '/'));
}

const char *fixing_below(const struct fixing *f, const char *path)
{
	return path + strlen(f->real_root) + (f->real_root[1] != 0);
}

int fixing_root_read(struct fixing *f, struct error *err)
{
	f->real_root = realpath(f->root ? f->root : ".", NULL);
	if (!f->real_root)
		return error_set(err, "%s: %s", f->root ? f->root : "the current folder", strerror(errno));
	f->options.root = f->root ? f->real_root : NULL;
	return 0;
}

void fixing_root_find(struct fixing *f)
{
	for (size_t i = 0; !f->root && i < repair_nfiles(f->repair); i++)
		while (!is_below(repair_file(f->repair, i).path, f->real_root) && strrchr(f->real_root, '/') != f->real_root)
			*strrchr(f->real_root, '/') = 0;
	for (size_t i = 0; !f->root && i < repair_nfiles(f->repair); i++)
		if (!is_below(repair_file(f->repair, i).path, f->real_root))
			f->real_root[1] = 0;
}
