/* What a program was linked of. */
#ifndef REPAIR_VERIFY_LINKED_H
#define REPAIR_VERIFY_LINKED_H

#include <stdbool.h>

#include "util/error.h"
#include "util/vec.h"

struct linked {
	VEC(char *) sources;   /* absolute; those that are there */
	VEC(char *) libraries; /* shared: "libpmem.so.1" */
	char *runpath;         /* NULL: none */
};

/* -1 if it is no such program. */
int linked_open(struct linked *l, const char *path, struct error *err);
void linked_close(struct linked *l);
bool linked_has(const struct linked *l, const char *source); /* absolute */

#endif
