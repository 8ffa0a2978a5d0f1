/* Lets a command take a bundle in place of a trace. */
#ifndef CMD_BUNDLED_H
#define CMD_BUNDLED_H

#include "bundle/bundle.h"
#include "cmd/options.h"
#include "util/values.h"
#include "util/tempdir.h"

struct bundled {
	int argc;
	char **argv;      /* a copy of the words as they were given; owned */
	const char *file; /* the bundle's name as it was given; NULL: there is none */
	char *home;       /* the user's folder; NULL: it is still the current one */
	/* private */
	struct bundle bundle;
	struct tempdir folder;
	char *trace;
	char **words;
};

/* Unpacks the bundle into a scratch folder and parses its options, then parses the user's words
 * again, which override them. Then it enters the folder that stands for the one where the bundle
 * was packed. `packed`, the options that a bundle can have, must be a part of table, so that a
 * bundle cannot say where a report goes. Paths in the user's options are made absolute before.
 * Returns the trace's path. Dies if the bundle is damaged. */
char *bundled_begin(struct bundled *b, const struct command *c, const struct option *table,
		    const struct option *packed, const char *file);
/* Unpacks the bundle and enters its folder, like bundled_begin(), but does not parse the options in
 * the bundle, because the caller has them. */
char *bundled_enter(struct bundled *b, const struct option *table, const char *file);
void bundled_end(struct bundled *b);

#endif
