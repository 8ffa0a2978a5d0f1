/* A layout: states of files that have the same names and sizes, which are chosen beforehand. What a
 * sector holds is decided by a run of recovery when it reads the sector. A folder is made from the
 * layout for each run. */
#ifndef CRASH_FILES_LAYOUT_H
#define CRASH_FILES_LAYOUT_H

#include "crash/files/roots.h"
#include "crash/run/runner.h"
#include "crash/states/states.h"
#include "model/files.h"

struct layout_path {
	char *path;
	uint32_t file, flags;
	uint64_t size_bytes, size_seq;
};

/* Beside the lines of the set. */
struct layout_line {
	uint32_t item;     /* of the model */
	size_t versions;   /* index in versions of those of its contents */
	size_t seen_bytes; /* so many are inside the file */
};

/* A line of memory that holds, or may hold, something else than what is durable for good. */
struct memory_line {
	uint64_t addr;
	size_t item; /* its number plus 1; 0: it has one content */
	uint32_t len_bytes, ncontents;
	uint8_t *contents;            /* ncontents × len_bytes; the newest last */
	struct files_change *changes; /* that made each of them; of the first, nothing is known */
};
typedef VEC(struct memory_line) memory_lines;

struct layout {
	VEC(struct layout_path) paths; /* a folder comes before what is in it */
	struct state_set set;          /* sectors with several contents, below the size of a file */
	VEC(struct layout_line) lines;
	VEC(uint32_t) versions;
	VEC(struct runner_folder_file) files; /* with lines */
	struct runner_folder folder;
	uint64_t hash; /* of names and sizes: layouts with the same hash have the same sets */
	uint64_t nregular;
	/* more files have undecided sectors than can be watched, or their paths are too long: runs
	 * on whole images only */
	bool is_too_large;

	/* inside */
	const struct files *model;
	const files_items *items;
	const memory_lines *memory; /* ascending addresses */
	const struct file_roots *roots;
	bool (*is_memory)(uint32_t file, const void *arg);
	const void *arg;
	size_t path_max;
};

/* Makes the layout of the present versions of names and sizes among the items. The caller has set
 * the members below "inside", except l->path_max (which is runner_folder_path_max()); all of them
 * are borrowed. */
void layout_make(struct layout *l, size_t path_max);
void layout_release(struct layout *l);
/* Gives the bit set of the state in which the items have their present versions; free() it. */
uint64_t *layout_state(const struct layout *l);
/* Gives the version of the item to which this content of a line belongs. */
static inline uint32_t layout_version(const struct layout *l, size_t line, uint32_t content)
{
	return l->versions.at[l->lines.at[line].versions + content];
}
/* Gives a hash of the places in which the folder is not what layout_put() made; 0: there is
 * none. */
uint64_t layout_changes(struct layout *l, const char *folder, const uint64_t *left);
/* Makes the files of a state in a folder, which is empty or gets emptied. left: as of
 * runner_begin(). */
int layout_put(struct layout *l, const char *folder, const uint64_t *left, struct error *err);

#endif
