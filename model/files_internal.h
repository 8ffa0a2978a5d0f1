/* Describes what a crash can leave of files. Three kinds of things are each durable up to some
 * point: the names of a folder that renames tie together (a cell), the size of a file, a sector. */
#ifndef MODEL_FILES_INTERNAL_H
#define MODEL_FILES_INTERNAL_H

#include "model/files.h"
#include "util/map.h"
#include "util/vec.h"

struct inode;

struct sector {
	uint64_t addr; /* PM address of its first byte */
	bool is_unsynced;
	struct files_change newest;
	uint64_t call; /* of the newest: what one call writes to a sector is one change */
	/* With contents: what it holds after each change that is not durable. The first one is
	 * durable, the last one is what the program sees. */
	VEC(uint8_t *) versions;
	VEC(struct files_change) changes; /* that made them; of the first one, nothing is known */
	uint32_t item;                    /* files_list_items(): its number plus 1; 0: it is none */
};

struct size {
	uint64_t bytes;
	struct files_change change;
};

struct inode {
	uint32_t number, flags, nnames;
	bool is_size_unsynced, has_changed, has_sync;
	struct files_change size_change, sync;
	VEC(struct size) sizes; /* like the versions of a sector */
	uint32_t item;          /* of the size */
	VEC(struct sector *) sectors, unsynced;
};

struct entry {
	uint32_t folder;
	char *name;
	uint32_t durable, now; /* the files that it leads to; 0: none */
	struct files_change newest;
	struct cell *cell; /* NULL: all that happened to it is durable */
};

/* Entries, one or both of a rename. */
struct name_op {
	struct files_change change;
	struct entry *entry[2];
	uint32_t file[2];
	uint32_t n;
};

/* Of the operations on these entries, which are of one folder, some prefix is durable. */
struct cell {
	VEC(struct entry *) entries;
	VEC(struct name_op) ops;
	uint32_t item;
};

struct files {
	bool has_contents;
	uint64_t ncalls; /* that have written */
	VEC(struct inode *) inodes;
	struct map sectors; /* address → struct sector */
	VEC(struct entry *) entries;
	VEC(struct cell *) cells;
};

struct inode *files_inode(const struct files *f, uint64_t number); /* NULL: not followed */

#endif
