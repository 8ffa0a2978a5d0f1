/* Replaces {pool} and {dir} in the command line of a recorded program by the path of a scratch
 * pool, and of a scratch folder whose files are followed. Also checks --files, which names other
 * such folders. */
#ifndef CMD_POOL_OPTION_H
#define CMD_POOL_OPTION_H

#include "model/files.h"
#include "record/recorder.h"
#include "util/tempdir.h"

struct pool_option {
	struct tempdir folder; /* of both; removed when pmend ends, however it ends */
	char *path, *dir;
	char **words;
};

#define FILES_OPTIONS(recording) \
	{ "files",     0, \
	  "DIR",       "follow all files below DIR, mapped or not; may be repeated", \
	  OPTION_LIST, &(recording)->files }, \
	{ \
		"files-except", 0, "GLOB", "but not files and folders that match GLOB", \
			OPTION_LIST, &(recording)->files_except \
	}

struct command;
/* Dies if a word contains something that was probably meant as a placeholder. */
void pool_option_check(const struct command *c, char *const *words);
/* Dies if --files is given for a trace, or --files-except without followed files. */
void files_option_check(const struct command *c, const struct recording *r, char *const *words,
			bool has_trace);
/* Was the trace recorded with --files? */
bool files_option_is_followed(const char *trace);
/* Dies if the trace was recorded with --files, for commands that cannot use it. */
void files_option_refuse(const struct command *c, const char *trace);
/* Dies if a profile of files is named (FILES_PROFILES: none is) and none are followed. */
void files_option_profile(const struct command *c, enum files_profile profile, bool has_files);
/* For crashes: notes whether files are, or were, followed. Dies if something is asked for that is
 * not there for them yet. After crash_options_begin(). r: the recording that is to be made. */
struct crash_setup;
void files_option_fit(const struct command *c, struct crash_setup *s, const struct recording *r,
		      char *const *words, bool has_trace);
/* Gives the words to run: the same, or, if one contains {pool} or {dir}, others with paths in a new
 * folder. There is no file yet: the program makes its pool. Dies if there is no space. */
char **pool_option_begin(struct pool_option *p, struct recording *r, char **target);
void pool_option_end(struct pool_option *p); /* removes the pool and everything beside it */

#endif
