/* main.c -- tellers send requests, a line each:
 *   open NAME CENTS | move FROM TO CENTS | limit NAME CENTS | show NAME
 * What was answered with "done" is not lost. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger.h"

static int request(struct ledger *l, const char *line, char *answer, size_t size)
{
	char a[ACCOUNT_NAME], b[ACCOUNT_NAME];
	struct account *found;
	int64_t cents;

	if (sscanf(line, "open %23s %" SCNd64, a, &cents) == 2)
		return account_open(l, a, cents);
	if (sscanf(line, "move %23s %23s %" SCNd64, a, b, &cents) == 3)
		return account_move(l, a, b, cents);
	if (sscanf(line, "limit %23s %" SCNd64, a, &cents) == 2)
		return account_limit(l, a, cents);
	if (sscanf(line, "show %23s", a) == 1 && (found = account_find(l, a))) {
		snprintf(answer, size, "%" PRId64, found->balance);
		return 0;
	}
	errno = EINVAL;
	return -1;
}

static void serve(struct ledger *l)
{
	char line[128], answer[64];

	/* tellers wait for their answers: no buffers */
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		strcpy(answer, "done");
		if (request(l, line, answer, sizeof(answer)) < 0)
			snprintf(answer, sizeof(answer), "no: %s", strerror(errno));
		puts(answer);
	}
}

int main(int argc, char **argv)
{
	int audit = argc == 3 && strcmp(argv[1], "audit") == 0;
	struct ledger *l;
	int missing, ret = 0;

	if (argc != 3 || (!audit && strcmp(argv[1], "serve") != 0)) {
		fprintf(stderr, "usage: ledger serve|audit POOL\n");
		return 2;
	}
	l = store_open(argv[2], !audit, &missing);
	if (l == NULL && missing) {
		printf("nothing there yet\n");
		return 0;
	}
	if (l == NULL)
		return 1;
	if (audit)
		ret = account_audit(l) < 0 ? 1 : 0;
	else
		serve(l);
	store_close(l);
	return ret;
}
