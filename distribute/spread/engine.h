/* What starts the parts of an exploration on other machines. An engine is a file and a row in
 * engines.c; pmend itself is no scheduler. */
#ifndef DISTRIBUTE_SPREAD_ENGINE_H
#define DISTRIBUTE_SPREAD_ENGINE_H

#include <stdint.h>
#include <stdio.h>

#include "distribute/spread/parts.h"
#include "util/values.h"
#include "util/error.h"

/* An exploration, as the user wants it spread. All is borrowed. */
struct spread {
	uint32_t nparts;
	uint32_t nnodes; /* so many parts at a time; 0: as many as there is room for */
	uint32_t ncpus;  /* cores for a part; 0: the engine's own default */
	uint32_t nretries;
	const char *partition, *time, *image, *claim; /* NULL: not said */
	/* options that the engine takes as they are */
	struct word_list more;
	/* what pmend is called where parts are explored */
	const char *pmend;
	/* there, too: where it is started, and the folder of the parts */
	const char *cwd, *folder;
	/* of `pmend crash`: options and the file; ends with NULL */
	char *const *words;
	bool says_jobs; /* --jobs is among them */
};

/* The tasks of a job that are not over. */
struct queue {
	uint32_t nrunning, nwaiting;
	char *reason; /* why one of them waits; NULL: none does, or it is not known. free() it */
	bool is_held; /* one of them waits for somebody to release it */
};

struct engine {
	const char *name;
	/* Is what the user said something that the engine takes? -1 with err if not. */
	int (*check)(const struct spread *s, struct error *err);
	/* Writes what the engine takes, for these of the parts (NULL: all). */
	void (*print)(const struct spread *s, const struct spread_parts *todo, FILE *out);
	/* The rest is NULL if pmend only prints. Hands over a file that print() wrote; gives the
	 * name of the job (free() it), NULL with err. */
	char *(*submit)(const char *file, struct error *err);
	int (*look)(const char *job, struct queue *q, struct error *err);
	int (*cancel)(const char *job, struct error *err);
};

extern const struct engine engine_slurm, engine_k8s;
extern const struct engine *const engines[];        /* ends with NULL */
const struct engine *engine_find(const char *name); /* NULL: there is none */

#endif
