/* Bundles (.pmb): a trace with all that running its recovery elsewhere takes, as one file.
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
 * Numbers are little-endian. The index is JSON: who packed what, and of each file its path, length,
 * stored length and SHA-256. Nothing in a bundle is trusted: a path that leaves the folder, a
 * length that is not so, a byte that changed, and the whole is refused. */
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
	/* the one that it had, without the slash at the beginning; no part of it is empty, "." or
	 * "..", and it has no control characters */
	char *path;
	enum bundle_kind kind;
	/* a file */
	uint32_t mode;
	int64_t mtime_s;
	uint64_t len_bytes, stored_bytes;
	uint8_t hash[SHA256_BYTES];
	char *target; /* of a link: another path of the bundle */
};

/* What the loader finds under this name. */
struct bundle_library {
	char *name, *path;
};

struct bundle {
	char *version, *arch;    /* of the pmend that packed */
	char *cwd, *trace;       /* paths, as those of entries; cwd may be "" */
	VEC(char *) options;     /* of pmend crash, as words */
	VEC(char *) environment; /* NAME=value */
	VEC(char *) lacks;       /* sentences: what could not be packed */
	VEC(struct bundle_library) libraries;
	VEC(struct bundle_entry) entries; /* sorted by path */
	/* of one that was opened */
	char *file;
	int fd;
	char identity[2 * SHA256_BYTES + 1]; /* of its index, and so of all that is in it */
};

bool is_bundle_name(const char *name); /* ends with .pmb */
void bundle_hash_text(const uint8_t hash[SHA256_BYTES], char text[2 * SHA256_BYTES + 1]);
void bundle_init(struct bundle *b);
void bundle_release(struct bundle *b); /* closes it, too */
/* NULL: it is not there */
const struct bundle_entry *bundle_find(const struct bundle *b, const char *path);
bool bundle_path_is_good(const char *path);
/* A variable, NAME=value, that recovery may depend on and that holds no secret: only such go into a
 * bundle, and are taken from one. */
bool bundle_takes_variable(const char *entry);

/* Writes the bundle beside its place and renames it: there is a whole one, or none. Entries of
 * files get their contents from ROOT/PATH, where the root is "" for this machine itself; lengths
 * and hashes are filled in. */
int bundle_write(struct bundle *b, const char *root, const char *file, struct error *err);

/* Opens one and reads its index. Contents are not looked at yet. */
int bundle_open(struct bundle *b, const char *file, struct error *err);
/* Puts all of it into FOLDER/root/PATH, and the libraries as links into FOLDER/lib. Checks every
 * length and hash. The folder must be empty. What lies there after an error is the caller's to
 * remove. */
int bundle_unpack(const struct bundle *b, const char *folder, struct error *err);

/* Tells programs that were unpacked there where their loader is now, and scripts where their
 * interpreter is. */
int bundle_adapt(const struct bundle *b, const char *folder, struct error *err);

/* ---- manifest.c ---- */

char *bundle_index_text(const struct bundle *b); /* free() it; NULL: a name is not UTF-8 */
int bundle_index_read(struct bundle *b, const char *text, size_t len_bytes, struct error *err);

#endif
