/* Keeps the result of reading an object's machine code in a file named after the build-id. The file
 * has a magic number with a version, then the arrays of struct code: for each its length and its
 * elements. */
#include "explore/graph/code_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_MAGIC "PMCODE7\n"

char *code_cache_name(Elf *elf, const char *folder)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (folder && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *d;
		GElf_Nhdr note;
		size_t name, desc, at = 0;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE ||
		    !(d = elf_getdata(scn, NULL)))
			continue;
		while ((at = gelf_getnote(d, at, &note, &name, &desc)) > 0) {
			char id[65] = "", *to = id;

			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    note.n_descsz > 32)
				continue;
			for (size_t i = 0; i < note.n_descsz; i++)
				to += sprintf(to, "%02x", ((const uint8_t *)d->d_buf)[desc + i]);
			return xasprintf("%s/%s.code", folder, id);
		}
	}
	return NULL;
}

#define ARRAYS(c) \
	{ (void **)&(c)->functions.at, &(c)->functions.n, sizeof(c)->functions.at[0] }, \
		{ (void **)&(c)->starts.at, &(c)->starts.n, sizeof(c)->starts.at[0] }, \
		{ (void **)&(c)->edges.at, &(c)->edges.n, sizeof(c)->edges.at[0] }, \
		{ (void **)&(c)->calls.at, &(c)->calls.n, sizeof(c)->calls.at[0] }, \
		{ (void **)&(c)->pm.at, &(c)->pm.n, sizeof(c)->pm.at[0] }, \
		{ (void **)&(c)->stores.at, &(c)->stores.n, sizeof(c)->stores.at[0] }, \
		{ (void **)&(c)->exports.at, &(c)->exports.n, sizeof(c)->exports.at[0] }, \
	{ \
		(void **)&(c)->names.at, &(c)->names.n, 1 \
	}

struct array {
	void **at;
	size_t *n, width;
};

bool code_cache_read(struct code *c, const char *name)
{
	const struct array arrays[] = { ARRAYS(c) };
	FILE *f = name ? fopen(name, "rb") : NULL;
	char magic[8];
	uint64_t n;
	bool ok;

	if (!f)
		return false;
	ok = fread(magic, sizeof magic, 1, f) == 1 && memcmp(magic, CACHE_MAGIC, sizeof magic) == 0;
	for (size_t i = 0; ok && i < sizeof arrays / sizeof arrays[0]; i++) {
		ok = fread(&n, sizeof n, 1, f) == 1 && n < 1u << 28;
		if (!ok)
			break;
		*arrays[i].at = xmalloc((n + 1) * arrays[i].width);
		*arrays[i].n = n;
		ok = n == 0 || fread(*arrays[i].at, arrays[i].width, n, f) == n;
	}
	ok = ok && fgetc(f) == EOF && c->names.n && c->names.at[c->names.n - 1] == '\0';
	for (size_t i = 0; ok && i < c->edges.n; i++)
		ok = c->edges.at[i].from < c->starts.n && c->edges.at[i].name < c->names.n;
	for (size_t i = 0; ok && i < c->calls.n; i++)
		ok = c->calls.at[i].block < c->starts.n && c->calls.at[i].name < c->names.n;
	for (size_t i = 0; ok && i < c->exports.n; i++)
		ok = c->exports.at[i].name < c->names.n;
	fclose(f);
	if (!ok)
		code_release(c);
	return ok;
}

/* Writes under another name first, because another process may be reading. A failure only means
 * that nothing is cached. */
void code_cache_write(struct code *c, const char *name)
{
	const struct array arrays[] = { ARRAYS(c) };
	char *fresh = xasprintf("%s.%d", name, (int)getpid());
	FILE *f = fopen(fresh, "wb");
	bool ok;

	if (f) {
		ok = fwrite(CACHE_MAGIC, 8, 1, f) == 1;
		for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
			uint64_t n = *arrays[i].n;

			ok = ok && fwrite(&n, sizeof n, 1, f) == 1 &&
			     fwrite(*arrays[i].at, arrays[i].width, n, f) == n;
		}
		if (fclose(f) != 0 || !ok || rename(fresh, name) < 0)
			unlink(fresh);
	}
	free(fresh);
}
