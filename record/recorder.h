/* Makes the recorder's command line: finds the recorder, and gives its options and its
 * environment. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>

#include "model/model.h"
#include "pools/set_aside.h"
#include "record/recipe.h"
#include "util/notes.h"
#include "pools/unseen/received_fds.h"
#include "util/values.h"
#include "util/error.h"

/* The order in which threads run. Equal orders come from equal numbers. */
struct schedule {
	uint64_t seed; /* 0: each thread runs until it waits */
	/* so many change points, where the running thread falls behind all others, drawn from so
	 * many points */
	uint32_t changes;
	uint64_t span;
	/* a store and a load, as "OFFSET:PATH" of the instructions: a thread that has stored is
	 * held until another one has loaded; NULL: none is held */
	const char *hold_store, *hold_load;
	uint32_t hold_skip; /* the first stores after which no thread is held */
};

/* How a program is recorded. */
struct recording {
	const char *output; /* name of the trace */
	struct word_list pm;
	struct word_list files;                    /* folders: everything below them is followed */
	struct word_list files_except;             /* patterns of files that are not followed */
	struct word_list lock_calls, unlock_calls; /* functions that take and release a lock */
	const struct platform *platform;
	/* the user named no platform, so another one may be chosen to judge the trace */
	bool is_platform_open;
	bool loads, threads, instructions, no_follow, check_stacks, quiet;
	/* devices, and memory that is given out again, have old bytes instead of zeros */
	bool old_bytes;
	/* path for {pool} in the command line; NULL: there is no {pool} */
	const char *scratch_pool;
	/* the same for {dir}, which is also in files */
	const char *scratch_dir;
	/* where the recorder sends descriptors of PM files; NULL: nowhere */
	struct kept *kept;
	/* a descriptor of recorder_memory(); 0: the recorded processes share no memory */
	int memory_fd;
	struct set_aside *fresh; /* NULL: PM files stay as they are */
	/* the trace is judged at once and then removed, so its name is not shown to the user */
	bool is_passing;
	/* called while it runs, and once after; NULL: not called */
	void (*on_progress)(uint64_t nevents, uint64_t len_bytes, bool is_over, void *arg);
	void *progress_arg;
	const struct schedule *schedule; /* NULL: the threads compete */
	struct recipe recipe;            /* without a client, the program ends by itself */
	uint32_t max_seconds;      /* --max-time, after which the program is stopped; 0: no limit */
	const struct notes *notes; /* NULL: nothing is said */
};

/* Sets the recording's platform to the machine's own. is_open: the user named no platform. */
void recording_open_platform(struct recording *r, bool is_open);

/* Gives the command line to run, and its environment in env; words_free() both. Valgrind's own
 * messages go to descriptor log_fd. NULL with err if something is not installed. */
char **recorder_argv(const struct recording *r, const char *output, int log_fd, char **target,
		     struct error *err);
char **recorder_env(const struct recording *r, char **env, struct error *err);

/* Makes the memory that all processes of one recording share; close() it after the recording. 0:
 * there is none. */
int recorder_memory(void);

/* Raises the soft limit of open files, because Valgrind takes it for the hard limit. To be called
 * in the process that becomes Valgrind; the option makes the program see the old limit. */
void recorder_raise_files(void);
char *recorder_files_option(void); /* free() it */

/* Gives the folder with the recorder and the runtime: beside the binary in the build folder, or in
 * PREFIX/libexec. free() it; NULL with err if there is none. */
char *recorder_folder(struct error *err);

#endif
