/* Finds what a program was linked from: sources and shared libraries. */
#ifndef REPAIR_VERIFY_LINKED_H
#define REPAIR_VERIFY_LINKED_H

#include <stdbool.h>

#include "util/error.h"
#include "util/vec.h"

struct linked {
	VEC(char *) sources;   /* absolute paths of existing sources */
	VEC(char *) libraries; /* shared libraries: "libpmem.so.1" */
	char *runpath;         /* NULL: none */
};

/* Reads the program at this path. -1: it is no program with debug information. */
int linked_open(struct linked *l, const char *path, struct error *err);
void linked_close(struct linked *l);
bool linked_has(const struct linked *l, const char *source); /* source: an absolute path */

#endif
