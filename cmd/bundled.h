/* A bundle in place of a trace. */
#ifndef CMD_BUNDLED_H
#define CMD_BUNDLED_H

#include "bundle/bundle.h"
#include "cmd/options.h"
#include "util/values.h"
#include "util/tempdir.h"

struct bundled {
	int argc;
	char **argv;      /* the words as they were given: a copy, owned */
	const char *file; /* the bundle, as it was named; NULL: there is none */
	char *home;       /* the user's folder; NULL: it is still the current one */
	/* inside */
	struct bundle bundle;
	struct tempdir folder;
	char *trace;
	char **words;
};

/* Unpacks the bundle into a scratch folder, parses its own options (by the table `packed`, which
 * must be a part of table, so that a bundle cannot say where a report goes) and then, over these,
 * the words again, and goes to the folder in it that stands for the one where it was packed. Paths
 * among the options that were given are made absolute before. Returns the trace's path. Dies if the
 * bundle is not right. */
char *bundled_begin(struct bundled *b, const struct command *c, const struct option *table,
		    const struct option *packed, const char *file);
/* The same without its options: somebody else has them. */
char *bundled_enter(struct bundled *b, const struct option *table, const char *file);
void bundled_end(struct bundled *b);

#endif
