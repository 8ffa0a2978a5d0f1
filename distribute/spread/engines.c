/* Lists the engines; no other file knows all of them. */
#include <string.h>

#include "distribute/spread/engine.h"

const struct engine *const engines[] = { &engine_slurm, &engine_k8s, NULL };

const struct engine *engine_find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}
