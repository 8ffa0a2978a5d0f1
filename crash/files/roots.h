/* The folders whose files were followed (--files, {dir}), and where recovery finds each of them. */
#ifndef CRASH_FILES_ROOTS_H
#define CRASH_FILES_ROOTS_H

#include "crash/states/plan.h"
#include "util/error.h"
#include "util/vec.h"

struct file_root {
	const char *recorded; /* its path, as the program knew it */
	uint32_t file;        /* its number; 0: it is in another one, or nothing ever was in it */
	/* where it is in the folder of a crash state: "" if it is the only one, otherwise dir,
	 * dir2…, or what another one has */
	char *place;
};
struct file_roots {
	VEC(struct file_root) list; /* {dir}, {dir2}… */
	VEC(const char *) places;
};

/* Finds the folders of a trace: first the scratch folder, then those of --files in their order.
 * -1: the program changed no file in any. */
int file_roots_find(struct file_roots *r, const struct plan *p, struct error *err);
void file_roots_release(struct file_roots *r);
/* Gives the root with this number of a file; NULL: there is none. */
const struct file_root *file_roots_of(const struct file_roots *r, uint32_t file);
/* Gives the path of a root in the folder of a crash state; free() it. */
char *file_roots_path(const struct file_root *root, const char *folder);
/* Copies the words of a command, and replaces {dir}, {dir2}… by paths in the folder of a crash
 * state. */
char **file_roots_words(const struct file_roots *r, char *const *words, const char *folder);

#endif
