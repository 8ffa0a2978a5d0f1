/* The recorder's command line: where it is installed, its options, its environment. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>

#include "model/model.h"
#include "pools/set_aside.h"
#include "record/recipe.h"
#include "util/notes.h"
#include "pools/unseen/kept.h"
#include "util/values.h"
#include "util/error.h"

/* How a program is recorded. */
struct recording {
	const char *output; /* the trace */
	struct word_list pm;
	struct word_list files;        /* folders: everything below them is followed */
	struct word_list files_except; /* patterns: but not these */
	struct word_list lock_calls, unlock_calls; /* functions that take and give back a lock */
	const struct platform *platform;
	/* nobody asked for it: whoever judges the trace may choose another one */
	bool is_platform_open;
	bool loads, threads, instructions, no_follow, check_stacks, quiet;
	bool old_bytes; /* memory that is handed out again, and devices, are not zero */
	/* what {pool} stands for in the command line; NULL: nothing does */
	const char *scratch_pool;
	/* likewise {dir}, which is one of files, too */
	const char *scratch_dir;
	/* where the recorder sends descriptors of PM files; NULL: nowhere */
	struct kept *kept;
	struct set_aside *fresh; /* NULL: PM files are as they are */
	/* the trace is judged at once and then goes away: its name means nothing to the user */
	bool is_passing;
	/* while it runs, and once after; NULL: nobody */
	void (*on_progress)(uint64_t nevents, uint64_t len_bytes, bool is_over, void *arg);
	void *progress_arg;
	struct recipe recipe; /* without a client: the program ends by itself */
	uint32_t max_seconds; /* --max-time: then the program is ended; 0: it may take any time */
	const struct notes *notes; /* NULL: nothing is said */
};

/* The machine's own platform; is_open: nobody asked for one. */
void recording_open_platform(struct recording *r, bool is_open);

/* What to run: words and environment, each to be freed with words_free(). Valgrind's own messages
 * go to descriptor log_fd. env is changed as recording needs it. NULL with err if something is not
 * installed. */
char **recorder_argv(const struct recording *r, const char *output, int log_fd, char **target,
		     struct error *err);
char **recorder_env(const struct recording *r, char **env, struct error *err);

/* Valgrind takes the soft limit of open files that it finds for the hard one. So it is raised in
 * the process that becomes Valgrind; the option lets the program see the old one. */
void recorder_raise_files(void);
char *recorder_files_option(void); /* to be freed */

/* The folder with the recorder and the runtime: beside the binary in the build folder, or in
 * PREFIX/libexec. NULL with err if there is none; the caller frees it. */
char *recorder_folder(struct error *err);

#endif
