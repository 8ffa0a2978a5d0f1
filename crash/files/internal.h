/* Declares what the files of this folder share: struct file_explorer, which is an exploration of
 * followed files, and what it does at one failure point. */
#ifndef CRASH_FILES_INTERNAL_H
#define CRASH_FILES_INTERNAL_H

#include "crash/files/file_walk.h"
#include "crash/files/files_explore.h"
#include "crash/files/layout.h"
#include "crash/search/references.h"

struct file_explorer {
	const struct plan *plan;
	const struct crash_options *options;
	struct crash_result *result;
	struct runner *runner;
	struct references refs;
	followed_files followed;
	uint32_t root;

	/* at the present failure point */
	struct file_walk walk;
	memory_lines memory;
	/* a line of memory has more contents than are listed */
	bool is_partial;
	/* Names and sizes, which are chosen beforehand, and then sectors. Their versions are the
	 * state that layout is of. */
	files_items items;
	size_t nchosen; /* of items: names and sizes */
	struct layout layout;
	bool has_layout;
	struct allowed allowed;
	bool is_eager;      /* recovery cannot be watched: sectors are chosen beforehand, too */
	uint64_t told_ns;   /* when progress was told last */
	size_t ntold;       /* of the result's bugs, those that were told */
	bool refuses_empty; /* recovery does not accept a folder without a file */
	VEC(struct file_known {
		size_t bug; /* of the result's */
		struct verdict verdict;
	})
	known;
};

/* ---- file_run.c ---- */

/* Lists the items of the failure point: the names, sizes, sectors and lines that a crash here can
 * leave in several versions. To be called after file_walk_next(). */
void file_point_begin(struct file_explorer *e);
void file_memory_release(struct file_explorer *e);
void file_choose_newest(struct file_explorer *e);
/* Makes the layout of the items' present versions. */
void file_layout(struct file_explorer *e);
/* Runs recovery on exactly the state in which the items have their present versions. */
int file_run_state(struct file_explorer *e, const struct allowed *allowed, struct verdict *v,
		   struct error *err);
char *file_state_text(const struct file_explorer *e); /* free() it */
/* Sets the items' versions from the text of a state. -1: there is no such state here. */
int file_state_parse(struct file_explorer *e, const char *text, struct error *err);

/* ---- file_search.c ---- */

/* Runs recovery on the states that a crash at the present failure point can leave. */
int file_search(struct file_explorer *e, struct error *err);
/* Tells the findings that were not told yet, if somebody wants to know them now. */
void file_tell_found(struct file_explorer *e);
/* Is the exploration over: by its deadline, by its number of runs, or because the user ended it? */
bool file_is_over(struct file_explorer *e);

/* ---- file_explain.c ---- */

/* Explains a failure of recovery on the state of the items' present versions, and adds the bug to
 * the result. */
int file_explain(struct file_explorer *e, const struct verdict *v, struct error *err);

#endif
