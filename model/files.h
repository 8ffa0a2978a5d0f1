/* What a crash leaves of files: which name leads to which file, the size of each, and the content
 * of each sector of 512 bytes. The weakest promises that file systems make (docs/files.md): until
 * something syncs it, each name, size and sector is durable up to some point of its own. Other
 * profiles leave fewer of these states; the same model knows which (files_profile.c).
 *
 *	struct files *f = files_new(false);
 *	files_step(f, &ev); …
 *	if (files_unsynced(f, file, &change)) …
 *
 * Pure: it neither reads files nor prints. */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"
#include "util/vec.h"

#define FILES_SECTOR_BYTES 512u

/* What a file system promises. */
enum files_profile {
	FILES_WEAKEST,
	FILES_EXT4, /* data=ordered, delayed allocation, auto_da_alloc; no fast_commit */
	FILES_XFS,
	FILES_PROFILES
};
/* Gives the name of the profile, as in --platform. */
const char *files_profile_name(enum files_profile p);
/* Finds a profile by its name. FILES_PROFILES: there is none. */
enum files_profile files_profile_find(const char *name);

struct files;

/* Makes a model of files. has_contents: files_each_state() will be asked, so the model keeps the
 * bytes that each sector may have. Otherwise it keeps only which changes are durable. */
struct files *files_new(bool has_contents);
void files_free(struct files *f);
/* Takes the next event of the trace. Events of files that are not followed change nothing. */
void files_step(struct files *f, const struct trace_event *ev);

/* Something that happened to a file or a name. */
struct files_change {
	const struct trace_site *site;
	uint64_t seq, addr; /* addr: of the first byte; of a size, its file */
	uint32_t stream, thread;
	/* of a sector: zeros, because the file became shorter. They are not there without that */
	bool is_cut;
	/* and a part of its block stays: what is written there later is not in a new block */
	bool is_cut_in_block;
	bool is_appended; /* of a size: a write made it larger */
	/* of a sector: the event of the size of a write that began its block, behind the end of the
	 * file; 0: that is not so */
	uint64_t block_seq;
};

uint32_t files_last(const struct files *f); /* the largest number of a file; 0: there is none */
bool files_is_regular(const struct files *f, uint32_t file);
/* Gives the size of the file as the program sees it now. */
uint64_t files_size(const struct files *f, uint32_t file);
/* Counts the names that lead to the file now, as far as they are known. */
uint32_t files_nnames(const struct files *f, uint32_t file);
/* Gives the newest change of the file's content or size that is not durable. False: all changes are
 * durable. */
bool files_unsynced(const struct files *f, uint32_t file, struct files_change *newest);
/* Calls tell() for the changes of the file's content and size that are not durable: for each sector
 * the newest change, and the newest change of the size. */
void files_each_unsynced(const struct files *f, uint32_t file,
			 void (*tell)(const struct files_change *c, void *arg), void *arg);
/* Asks whether the sector that contains this byte has a change that is not durable. */
bool files_sector_unsynced(const struct files *f, uint64_t addr);
/* Gives the newest event that made the file's content durable: fsync, O_DSYNC… For a folder, the
 * event that made its names durable. NULL: there was none. */
const struct files_change *files_last_sync(const struct files *f, uint32_t file);
/* Asks whether the file has changed since its last sync (files_last_sync()): its content, its size,
 * one of its names or, for a folder, an entry. */
bool files_changed_since(const struct files *f, uint32_t file);

/* A name that is not durable: what it leads to now. */
struct files_name {
	struct files_change change; /* the newest */
	const char *name;
	uint32_t folder, file, before; /* file: 0, it is gone; before: what durably has it, or 0 */
};
void files_each_name(const struct files *f, void (*tell)(const struct files_name *n, void *arg),
		     void *arg);

/* ---- what a crash can leave now; all of it needs has_contents ---- */

/* Something that is durable up to some point of its own. Of its versions, the first is durable, the
 * last is what the program sees. */
enum files_item_kind {
	FILES_NAMES,
	FILES_SIZE,
	FILES_SECTOR,
	FILES_LINE, /* of memory: whoever has a model of memory adds these (`of`: its changes) */
};
struct files_item {
	enum files_item_kind kind;
	uint32_t nversions, version; /* version: the one that a state has, for those who choose */
	/* of a sector or a size, its file's and its own address; of names, a number that tells
	 * them from others */
	uint64_t key;
	const void *of; /* inside */
};
typedef VEC(struct files_item) files_items;

/* Lists the items that have several versions: names, then sizes, then sectors. is_memory: asks
 * whether a file is memory; its content, size and names are then left out. NULL: no file is. The
 * list is valid until the next event or the next call of this function. */
void files_list_items(struct files *f, bool (*is_memory)(uint32_t file, const void *arg),
		      const void *arg, files_items *out);
/* A state of a journaled file system has one more choice: the event up to which the journal is
 * durable. These are the events that allow something. */
struct files_span {
	uint64_t from, to; /* both count; from > to: none */
};
static inline bool files_span_is_empty(const struct files_span *s)
{
	return s->from > s->to;
}
/* Gives the span that allows the names and sizes of the items' present versions. is_seen: asks
 * whether a name leads to the file; other sizes do not matter. NULL: all do. */
struct files_span files_span_of_names(const struct files *f, enum files_profile p,
				      const files_items *items,
				      bool (*is_seen)(uint32_t file, const void *arg),
				      const void *arg);
/* Narrows the span to what allows this version of a sector, if its file has the size that the items
 * say. */
void files_span_narrow(const struct files *f, enum files_profile p, const files_items *items,
		       size_t sector, uint32_t version, struct files_span *s);
/* Does the profile allow the state of the items' present versions? */
bool files_allows(const struct files *f, enum files_profile p, const files_items *items);
/* Gives the bytes of this version of a sector. */
const uint8_t *files_item_bytes(const struct files_item *i, uint32_t version);
/* Is what the event did to names or sizes durable on this profile, whatever is lost? */
bool files_is_journaled(const struct files *f, enum files_profile p, uint64_t seq);

/* Gives the change that made this version of the item. Versions that a change made are numbered
 * from 1. */
const struct files_change *files_item_change(const struct files_item *i, uint32_t version);

/* A name that is there, with its path below the folder of --files that is `root`. */
struct files_path {
	const char *path; /* "d/b" */
	uint32_t file, flags, root;
	uint64_t size_bytes; /* of a file or a symbolic link */
	uint64_t size_seq;   /* of the change that made it so long; 0: it was so */
};
/* Calls tell() for each path that exists in a state. The state has the version that each item of
 * the list says, and the last version of what is not in the list. A folder comes before the files
 * in it. */
void files_each_path(const struct files *f, const files_items *items,
		     void (*tell)(const struct files_path *p, void *arg), void *arg);

struct files_sector {
	uint64_t offset;
	uint32_t item; /* its number plus 1; 0: it is not listed */
	uint32_t nversions;
	uint8_t *const *versions; /* FILES_SECTOR_BYTES each */
	const struct files_change *changes;
};
/* Asks whether a file whose size is the one of event size_seq can have this version of the sector.
 * If the version is the zeros that a truncation left, the size must be of that truncation or
 * later. */
static inline bool files_sector_can_be(const struct files_sector *s, uint32_t version,
				       uint64_t size_seq)
{
	return !s->changes[version].is_cut || s->changes[version].seq <= size_seq;
}
/* Calls tell() for each sector of the file that was written. All other sectors contain zeros. */
void files_each_sector(const struct files *f, uint32_t file,
		       void (*tell)(const struct files_sector *s, void *arg), void *arg);

/* Reads or writes the durable bytes of a file that is used as memory. The bytes lie in one sector.
 * Such a file gets its content only from these calls. */
void files_base_read(const struct files *f, uint64_t addr, uint8_t *bytes, uint32_t len_bytes);
void files_base_write(struct files *f, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes);

/* Calls tell() for each state that a crash can leave, as a text of paths sorted by name.
 * "a=x512.488 d/ d/b=y3 e" means: a contains 512 x and then 488 zeros, b in the folder d contains
 * yyy, and e is empty. A state may come more than once. False: there are more than max states. */
bool files_each_state(struct files *f, enum files_profile p, uint64_t max,
		      void (*tell)(const char *state, void *arg), void *arg);

#endif
