/* Ten bytes of a stamp whose digits and letters are counted, then a command. The bug: the command "commit" when there is room. */
#include <ctype.h>

#include "parser.h"

struct log {
	uint64_t used;
	uint64_t stamp __attribute__((aligned(64)));
};

int main(int argc, char **argv)
{
	struct log *log = pool_open(argc == 2 ? argv[1] : NULL, sizeof *log);
	char line[24] = "";
	unsigned digits = 0, letters = 0;

	if (read(0, line, sizeof line - 1) < 16)
		return 1;
	for (int i = 0; i < 10; i++) {
		if (isdigit((unsigned char)line[i]))
			digits++;
		else if (isalpha((unsigned char)line[i]))
			letters++;
	}
	if (digits > letters) {
		log->stamp = digits;
		persist(&log->stamp, 8);
	}
	if (strncmp(line + 10, "commit", 6) == 0 && line[16] > 'A') {
		log->used += 32; /* BUG: missing-flush */
		persist_if_correct(&log->used, 8);
	}
	return 0;
}
