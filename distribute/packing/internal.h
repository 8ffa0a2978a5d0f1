/* Inside packing.
 *
 *   tree.c      paths become entries, with the links that lead to them; what cannot be packed
 *   objects.c   what a program needs: its interpreter, its loader, its libraries
 *   debug.c     separate debug files, and the sources that debug information names
 *   opened.c    what recovery opens: runs it, and reads the notes
 *   packing.c   command lines, and the whole */
#ifndef DISTRIBUTE_PACKING_INTERNAL_H
#define DISTRIBUTE_PACKING_INTERNAL_H

#include "distribute/packing/packing.h"
#include "util/map.h"

struct packing {
	struct bundle *b;
	struct map known; /* hash of a path → an entry was made for it, or it was looked at */
	struct map said;  /* of a sentence */
	/* regular files that are packed, in the order in which they were found; paths are
	 * absolute */
	VEC(char *) files;
	size_t nlooked_at;    /* of them, those whose needs are known */
	VEC(char *) left_out; /* paths of PM files */
	char *loader;         /* of the first program; NULL: none is known */
};

/* Packs what an absolute path leads to; nothing if it leads nowhere. True: something is packed now,
 * or was already. */
bool tree_add(struct packing *p, const char *path);
/* A folder, which may be gone. */
void tree_add_folder(struct packing *p, const char *path);
/* Something is not packed: a sentence for the user, once. */
void tree_lack(struct packing *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a file needs to run: more files. */
void objects_add_needs(struct packing *p, const char *file);
/* Debug information of an ELF file, and its sources if it is the user's. */
void debug_add(struct packing *p, const char *file);

int opened_add(struct packing *p, struct crash_setup *s, const struct plan *plan,
	       struct error *err);

#endif
