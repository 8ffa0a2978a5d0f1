/* Bundles (.pmb): a trace with everything that its recovery needs on another machine, in one file.
 *
 *	offset  bytes
 *	0       8     "PMBUNDLE"
 *	8       4     version, 1
 *	12      4     0
 *	16      8     where the index begins: after the contents
 *	24      8     length of the index as it is stored
 *	32      8     length of the index
 *	40      32    SHA-256 of the index as it is stored
 *	72            contents of the files, one zstd frame each, in the order of the index; then
 *	              the index, one zstd frame, to the end of the file
 *
 * Numbers are little-endian. The index is JSON: who packed what, and the path, length, stored
 * length and SHA-256 of each file. Nothing in a bundle is trusted: it is refused as a whole if a
 * path leaves the folder, a length is wrong, or a byte has changed. */
#ifndef BUNDLE_BUNDLE_H
#define BUNDLE_BUNDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"
#include "util/sha256.h"
#include "util/vec.h"

#define BUNDLE_MAGIC "PMBUNDLE"
#define BUNDLE_VERSION 1u
#define BUNDLE_HEADER_BYTES 72u

enum bundle_kind { BUNDLE_FILE, BUNDLE_FOLDER, BUNDLE_LINK };

struct bundle_entry {
	/* its original path without the leading slash; no part is empty, "." or "..", and there are
	 * no control characters */
	char *path;
	enum bundle_kind kind;
	/* of a file */
	uint32_t mode;
	int64_t mtime_s;
	uint64_t len_bytes, stored_bytes;
	uint8_t hash[SHA256_BYTES];
	char *target; /* of a link: another path in the bundle */
};

/* A library by the name under which the loader looks for it. */
struct bundle_library {
	char *name, *path;
};

struct bundle {
	char *version, *arch;    /* of the pmend that packed it */
	char *cwd, *trace;       /* paths like those of entries; cwd may be "" */
	VEC(char *) options;     /* for pmend crash, as words */
	VEC(char *) environment; /* NAME=value */
	VEC(char *) lacks;       /* sentences about what could not be packed */
	VEC(struct bundle_library) libraries;
	VEC(struct bundle_entry) entries; /* sorted by path */
	/* of a bundle that was opened */
	char *file;
	int fd;
	char identity[2 * SHA256_BYTES + 1]; /* hash of its index, and thus of all its content */
};

bool is_bundle_name(const char *name); /* whether the name ends with .pmb */
void bundle_hash_text(const uint8_t hash[SHA256_BYTES], char text[2 * SHA256_BYTES + 1]);
void bundle_init(struct bundle *b);
void bundle_release(struct bundle *b); /* also closes it */
/* Finds the entry of a path by binary search; NULL if there is none. */
const struct bundle_entry *bundle_find(const struct bundle *b, const char *path);
/* Asks whether the path obeys the rules of struct bundle_entry. */
bool bundle_path_is_good(const char *path);
/* May this variable (NAME=value) go into a bundle? Only those that recovery may depend on and that
 * hold no secret do; others are also not taken from a bundle. */
bool bundle_takes_variable(const char *entry);

/* Writes the bundle under another name and renames it, so it is complete or missing. The content of
 * files comes from ROOT/PATH; root is "" for this machine. Fills in lengths and hashes. */
int bundle_write(struct bundle *b, const char *root, const char *file, struct error *err);

/* Opens a bundle and reads its index, not the contents. */
int bundle_open(struct bundle *b, const char *file, struct error *err);
/* Unpacks everything into FOLDER/root/PATH, and links to libraries into FOLDER/lib. Checks all
 * lengths and hashes. The folder must be empty; after an error the caller removes what is in it. */
int bundle_unpack(const struct bundle *b, const char *folder, struct error *err);

/* Makes unpacked programs find their loader, and scripts their interpreter, in the folder. */
int bundle_adapt(const struct bundle *b, const char *folder, struct error *err);

/* ---- manifest.c ---- */

char *bundle_index_text(const struct bundle *b); /* free() it; NULL if a name is not UTF-8 */
int bundle_index_read(struct bundle *b, const char *text, size_t len_bytes, struct error *err);

#endif
