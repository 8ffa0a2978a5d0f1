/* The list of engines, and what they share. */
#include <stdlib.h>
#include <string.h>

#include "session/spread/engine.h"
#include "util/shell_word.h"

const struct engine *const engines[] = { &engine_slurm, &engine_k8s, NULL };

const struct engine *engine_find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

void spread_put_words(const struct spread *s, FILE *out)
{
	for (char *const *w = s->words; *w; w++) {
		char *quoted = shell_word(*w);

		fprintf(out, " %s", quoted);
		free(quoted);
	}
}
