/* Judging an execution: which oracles and plug-ins, on which platforms, and the report that comes
 * of it. */
#ifndef SESSION_CHECKING_H
#define SESSION_CHECKING_H

#include "check/check.h"
#include "session/platforms.h"

struct checking {
	struct word_list only, with, oracles; /* names; names; files of plug-ins */
	struct word_list library_globs;       /* what is a library besides the system's */
	struct recording recording;           /* its platform is NULL: the trace's own */
	bool is_all;                          /* platforms */
	/* of each platform, if all are judged. What one platform's report has is folded by whoever
	 * finishes it */
	platform_fold *fold;
	bool no_trust;
	/* inside */
	struct libraries libraries;
	struct plugin **plugins; /* ends with NULL */
	const char **names_only, **names_with;
	struct check_options options; /* all but the platform */
};

/* Adds the words by which the user chose oracles, for whoever judges later. Library patterns are
 * among those of the exploration. */
void checking_tell(const struct checking *c, struct word_list *words);
/* Loads the plug-ins. -1 if one cannot be; whether the names are right is for
 * check_options_verify() to say. */
int checking_begin(struct checking *c, struct error *err);
void checking_end(struct checking *c);

/* A report, not finished, about the traces (of all platforms there may be several). NULL if they
 * cannot be judged. */
struct report *checking_judge(const struct checking *c, const struct platform_traces *traces,
			      bool *is_complete, struct error *err);

#endif
