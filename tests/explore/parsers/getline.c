/* A journal's lines by getline, the first letter by switch. The bug: a commit inside a group, after something was added. */
#include "parser.h"

struct journal {
	uint64_t used;
	uint64_t committed __attribute__((aligned(64)));
	uint64_t groups __attribute__((aligned(64)));
	char text[16][32];
};

int main(int argc, char **argv)
{
	struct journal *j = pool_open(argc == 2 ? argv[1] : NULL, sizeof *j);
	unsigned pending = 0, is_group = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&line, &room, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[--len] = '\0';
		switch (line[0]) {
		case 'a':
			if (len < 3 || pending == 16)
				break;
			strncpy(j->text[pending], line + 2, 31);
			persist(j->text[pending], 32);
			pending++;
			break;
		case 'g':
			is_group = 1;
			j->groups++;
			persist(&j->groups, 8);
			break;
		case 'c':
			if (is_group && pending) {
				j->used += pending; /* BUG: missing-flush */
				persist_if_correct(&j->used, 8);
			}
			j->committed++;
			persist(&j->committed, 8);
			break;
		case 'q':
			free(line);
			return 0;
		case '#':
		case '\0':
			break;
		default:
			fprintf(stderr, "what is %c?\n", line[0]);
		}
	}
	free(line);
	return 0;
}
