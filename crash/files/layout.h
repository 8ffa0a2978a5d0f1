/* A state of files: which names there are, and the size of each file, chosen beforehand; and for
 * each sector what it may hold, which a run of recovery decides as it reads. Made into a folder for
 * each run. */
#ifndef CRASH_FILES_LAYOUT_H
#define CRASH_FILES_LAYOUT_H

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
	uint32_t item;   /* of the model */
	size_t versions; /* index in versions of those of its contents */
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
	const char *recorded;       /* the path of the folder of --files */
	bool (*is_memory)(uint32_t file, const void *arg);
	const void *arg;
	uint32_t root;
	size_t path_max;
};

/* By the versions of items that are names and sizes. The caller has set what is inside, except
 * l->path_max, which is runner_folder_path_max(); all of it is borrowed. */
void layout_make(struct layout *l, size_t path_max);
void layout_release(struct layout *l);
/* The contents that the items' versions name; free() it. */
uint64_t *layout_state(const struct layout *l);
/* The version that a line's content is of. */
static inline uint32_t layout_version(const struct layout *l, size_t line, uint32_t content)
{
	return l->versions.at[l->lines.at[line].versions + content];
}
/* A hash of the places in which the folder is not what layout_put() made; 0: there is none. */
uint64_t layout_changes(struct layout *l, const char *folder, const uint64_t *left);
/* Fills a folder, which is empty or gets emptied. left: as of runner_begin(). */
int layout_put(struct layout *l, const char *folder, const uint64_t *left, struct error *err);

#endif
