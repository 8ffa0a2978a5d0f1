/* Judges an execution with the oracles and plug-ins that the user chose, on one or on all
 * platforms, and makes the report about it. */
#ifndef SESSION_CHECKING_H
#define SESSION_CHECKING_H

#include "check/check.h"
#include "session/platforms.h"

struct checking {
	struct word_list only, with, oracles; /* names; names; files of plug-ins */
	struct word_list library_globs;       /* libraries in addition to the system's */
	struct recording recording;           /* its platform is NULL: that of the trace */
	bool is_all;                          /* all platforms */
	/* the profile of files that the user named; FILES_PROFILES: none */
	enum files_profile profile;
	/* called for each platform if all are judged; the findings of a single platform are grouped
	 * by the code that finishes the report */
	platform_fold *fold;
	bool no_trust;
	/* private */
	struct libraries libraries;
	struct plugin **plugins; /* ends with NULL */
	const char **names_only, **names_with;
	struct check_options options; /* all except the platform */
};

/* Appends the user's words that chose oracles, for a later judgement. Library patterns are among
 * the words of the exploration. */
void checking_tell(const struct checking *c, struct word_list *words);
/* Loads the plug-ins. -1 if one cannot be loaded; check_options_verify() checks the names. */
int checking_begin(struct checking *c, struct error *err);
void checking_end(struct checking *c);

/* Makes an unfinished report about the traces (several if all platforms are judged). NULL if they
 * cannot be judged. */
struct report *checking_judge(const struct checking *c, const struct platform_traces *traces,
			      bool *is_complete, struct error *err);

#endif
