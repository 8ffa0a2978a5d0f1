/* Writes the words of an exploration for a shell, which engines have start it. */
#include <stdlib.h>

#include "session/spread/engine.h"
#include "util/shell_word.h"

void spread_put_words(const struct spread *s, FILE *out)
{
	for (char *const *w = s->words; *w; w++) {
		char *quoted = shell_word(*w);

		fprintf(out, " %s", quoted);
		free(quoted);
	}
}
