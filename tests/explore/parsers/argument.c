/* A word of the command line, in upper or lower case, and a level behind a colon. The bug: "verbose" with a level above 2. */
#include "parser.h"

struct options {
	uint64_t level;
	char word[32] __attribute__((aligned(64)));
};

int main(int argc, char **argv)
{
	struct options *o = pool_open(argc == 3 ? argv[1] : NULL, sizeof *o);
	char *colon = strchr(argv[2], ':');

	if (strlen(argv[2]) >= sizeof o->word)
		return 1;
	strcpy(o->word, argv[2]);
	persist(o->word, sizeof o->word);
	if (!colon)
		return 0;
	*colon = '\0';
	if (strcasecmp(argv[2], "verbose") == 0) {
		int level = atoi(colon + 1);

		if (level > 2) {
			o->level = (uint64_t)level; /* BUG: missing-flush */
			persist_if_correct(&o->level, 8);
		}
	}
	return 0;
}
