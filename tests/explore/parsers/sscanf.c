/* A tool that moves money between accounts: "WORD NUMBER NUMBER" by sscanf. The bug: a move to an account that is not the same. */
#include "parser.h"

#define ACCOUNTS 8

struct bank {
	uint64_t balance[ACCOUNTS * 8]; /* a line each */
	char last[64];
};

int main(int argc, char **argv)
{
	struct bank *bank = pool_open(argc == 2 ? argv[1] : NULL, sizeof *bank);
	char line[33] = "", word[16];
	unsigned a, b;

	if (!fgets(line, sizeof line, stdin))
		return 1;
	if (sscanf(line, "%15s %u %u", word, &a, &b) != 3) {
		fprintf(stderr, "usage: WORD NUMBER NUMBER\n");
		return 1;
	}
	if (a >= ACCOUNTS)
		return 1;
	if (strcmp(word, "pay") == 0) {
		bank->balance[a * 8] += b;
		persist(&bank->balance[a * 8], 8);
	} else if (strcmp(word, "move") == 0 && b < ACCOUNTS) {
		uint64_t amount = bank->balance[a * 8] + 1;

		if (a != b) {
			bank->balance[b * 8] += amount; /* BUG: missing-flush */
			persist_if_correct(&bank->balance[b * 8], 8);
		}
		bank->balance[a * 8] -= amount;
		persist(&bank->balance[a * 8], 8);
	} else if (strcmp(word, "name") == 0) {
		snprintf(bank->last, sizeof bank->last, "%u.%u", a, b);
		persist(bank->last, sizeof bank->last);
	}
	return 0;
}
