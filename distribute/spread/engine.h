/* An engine starts the parts of an exploration on other machines, through a scheduler such as
 * Slurm. Each engine is a file and a row in engines.c; pmend itself is no scheduler. */
#ifndef DISTRIBUTE_SPREAD_ENGINE_H
#define DISTRIBUTE_SPREAD_ENGINE_H

#include <stdint.h>
#include <stdio.h>

#include "distribute/spread/parts.h"
#include "util/values.h"
#include "util/error.h"

/* How the user wants an exploration spread. All pointers are borrowed. */
struct spread {
	uint32_t nparts;
	uint32_t nnodes; /* parts at a time; 0: as many as there is room for */
	uint32_t ncpus;  /* cores per part; 0: the engine's default */
	uint32_t nretries;
	const char *partition, *time, *image, *claim; /* NULL if not given */
	/* options that are passed to the engine unchanged */
	struct word_list more;
	/* the command pmend on the machines of the parts */
	const char *pmend;
	/* on those machines: the working folder, and the folder of the parts */
	const char *cwd, *folder;
	/* options and file for `pmend crash`; ends with NULL */
	char *const *words;
	bool says_jobs; /* --jobs is among the words */
};

/* The tasks of a job that have not ended. */
struct queue {
	uint32_t nrunning, nwaiting;
	char *reason; /* why a task waits; NULL if none does, or if unknown. free() it */
	bool is_held; /* a task waits until somebody releases it */
};

struct engine {
	const char *name;
	/* Does the engine accept the user's options? -1 with err if not. */
	int (*check)(const struct spread *s, struct error *err);
	/* Writes the input of the engine for the parts in todo that are not over (NULL: all). */
	void (*print)(const struct spread *s, const struct spread_parts *todo, FILE *out);
	/* The following are NULL if pmend only prints. Submits a file that print() wrote; gives the
	 * name of the job (free() it), NULL with err. */
	char *(*submit)(const char *file, struct error *err);
	int (*look)(const char *job, struct queue *q, struct error *err);
	int (*cancel)(const char *job, struct error *err);
};

extern const struct engine engine_slurm, engine_k8s;
extern const struct engine *const engines[];        /* ends with NULL */
const struct engine *engine_find(const char *name); /* NULL if there is none */

#endif
