/* Shared by the files that make bundles:
 *
 *	tree.c      turns paths into entries, with links that lead to them; notes what is missing
 *	objects.c   finds what a program needs: interpreter, loader, libraries
 *	debug.c     finds separate debug files, and sources that debug information names
 *	opened.c    finds what recovery opens, by running it
 *	packing.c   command lines, and the whole bundle
 */
#ifndef DISTRIBUTE_PACKING_INTERNAL_H
#define DISTRIBUTE_PACKING_INTERNAL_H

#include "distribute/packing/packing.h"
#include "util/map.h"

struct packing {
	struct bundle *b;
	struct map known; /* hash of a path → it has an entry, or was looked at */
	struct map said;  /* hashes of sentences in b->lacks */
	/* absolute paths of the regular files that are packed, in the order in which they were
	 * found */
	VEC(char *) files;
	size_t nlooked_at;    /* how many of these were searched for needs */
	VEC(char *) left_out; /* paths of PM files */
	char *loader;         /* of the first program; NULL if unknown */
};

/* Packs what an absolute path leads to; nothing if it leads nowhere. True if the bundle then
 * contains what the path leads to. */
bool tree_add(struct packing *p, const char *path);
/* Packs a folder, which may no longer exist. */
void tree_add_folder(struct packing *p, const char *path);
/* Notes once, as a sentence for the user, that something is not packed. */
void tree_lack(struct packing *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Packs what a program or script needs to run. */
void objects_add_needs(struct packing *p, const char *file);
/* Packs the debug information of an ELF file, and its sources if it is the user's. */
void debug_add(struct packing *p, const char *file);

/* Packs what recovery opens, found by running it. */
int opened_add(struct packing *p, struct crash_setup *s, const struct plan *plan,
	       struct error *err);

#endif
