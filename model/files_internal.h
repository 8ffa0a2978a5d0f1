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
	bool is_partial; /* of a write that comes to the disk page by page: not all of it yet */
	struct files_change change;
};

struct inode {
	uint32_t number, flags, nnames;
	bool is_size_unsynced, has_changed, has_sync;
	struct files_change size_change, sync;
	/* With a journal: the last event that changed the inode, and the last that changed its size
	 * or blocks: what fsync and fdatasync wait for. */
	uint64_t changed_seq, blocks_seq;
	uint64_t grown_from; /* the size before the last event that changed it */
	/* blocks were allocated behind its end, so what is appended there needs no new ones */
	bool has_spare;
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

/* A file replaced another one by rename: a journal that has the rename has its size, too. */
struct replacement {
	uint32_t file;
	uint64_t seq, size_seq;
};

struct files {
	bool has_contents;
	uint64_t journaled; /* a journal is durable up to this event */
	VEC(struct replacement) replacements;
	uint64_t ncalls; /* that have written */
	VEC(struct inode *) inodes;
	struct map sectors; /* address → struct sector */
	VEC(struct entry *) entries;
	VEC(struct cell *) cells;
};

/* NULL: not followed */
static inline struct inode *files_inode(const struct files *f, uint64_t number)
{
	return number < f->inodes.n ? f->inodes.at[number] : NULL;
}

/* Gives the size that the file has in the state of the items' versions. */
static inline const struct size *files_inode_size(const files_items *items, const struct inode *i)
{
	return &i->sizes.at[i->item ? items->at[i->item - 1].version : i->sizes.n - 1];
}

/* ---- files_journal.c: notes what journals need, as events come ---- */

#define FILES_BLOCK_BYTES 4096u
/* The event changed the inode; has_blocks: its size or blocks, too. i may be NULL. */
void files_inode_changed(struct inode *i, const struct trace_event *ev, bool has_blocks);
/* The file replaces another one by rename. */
void files_replaces(struct files *f, const struct inode *i, const struct trace_event *ev);
/* A write has ended. To be called before f->ncalls grows. */
void files_written(struct files *f, const struct trace_event *ev);
/* Some pages of the file were written back, but not all: what is appended may show zeros. */
void files_written_in_part(struct inode *i);

#endif
