/* Declares what the files of this folder share: struct file_explorer, which is an exploration of
 * followed files, and what it does at one failure point. */
#ifndef CRASH_FILES_INTERNAL_H
#define CRASH_FILES_INTERNAL_H

#include "crash/files/file_walk.h"
#include "crash/files/files_explore.h"
#include "crash/files/layout.h"
#include "crash/files/roots.h"
#include "crash/search/references.h"
#include "crash/workers/share.h"

struct file_explorer {
	const struct plan *plan;
	const struct crash_options *options;
	struct crash_result *result;
	struct runner *runner;
	struct references refs;
	followed_files followed;
	struct file_roots roots;

	struct share share; /* of the failure points */
	uint64_t kept_ns;   /* when a part was saved last */
	/* recovery copes where nothing is lost, so what was found counts */
	bool has_begun;

	/* at the present failure point */
	struct file_walk walk;
	uint64_t nfailing; /* states that were noted */
	memory_lines memory;
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
	enum files_profile profile; /* the states that file_explain() may try */
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

/* ---- profile.c: all but file_profile_has() are about the layout at hand ---- */

/* Does the profile allow the names and sizes? */
bool file_profile_fits(const struct file_explorer *e, enum files_profile p);
/* Does the profile allow the state of the items' present versions? */
bool file_profile_has(struct file_explorer *e, enum files_profile p);
/* Gives the set of states of the layout, without contents that the profile does not allow. NULL: no
 * state is left. free() it. */
uint64_t *file_profile_all(const struct file_explorer *e, enum files_profile p);
/* Gives a number for this set of states of the layout: sets with the same number need not be
 * explored twice. */
uint64_t file_profile_key(const struct file_explorer *e, enum files_profile p, const uint64_t *all);
/* Sets the items' versions to those of a new state in the set that the profile allows. False: there
 * is none. */
bool file_profile_state(struct file_explorer *e, enum files_profile p, const uint64_t *left);

/* ---- file_search.c ---- */

/* Runs recovery on the states that a crash at the present failure point can leave. */
int file_search(struct file_explorer *e, struct error *err);
/* Tells the findings that were not told yet, if somebody wants to know them now. */
void file_tell_found(struct file_explorer *e);
/* Is the exploration over: by its deadline, by its number of runs, or because the user ended it? */
bool file_is_over(struct file_explorer *e);

/* ---- file_explain.c ---- */

/* Explains a failure of recovery, and adds the bug to the result. states: by profile, a state on
 * which recovery failed and that the profile allows; NULL: there is none. */
int file_explain(struct file_explorer *e, const struct verdict *v, char *const *states,
		 struct error *err);

#endif
