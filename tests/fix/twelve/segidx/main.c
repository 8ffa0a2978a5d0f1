/* main.c - command line of the segment index: FILE OPERATION... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "segidx.h"

static int check(const char *path)
{
	struct index ix;
	int rc = index_open(&ix, path, 0);

	if (rc == 1) {
		puts("nothing there yet");
		return 0;
	}
	if (rc < 0 || index_verify(&ix) != 0)
		return 1;
	for (unsigned key = 0; key < KEY_MAX; key++)
		if (ix.live[key])
			printf("%u=%.*s\n", key, (int)ix.live[key]->len, ix.live[key]->val);
	return 0;
}

int main(int argc, char **argv)
{
	struct index ix;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (put KEY VALUE | del KEY | compact)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[2], "check") == 0)
		return check(argv[1]);

	rc = index_open(&ix, argv[1], 1);
	for (int i = 2; rc == 0 && i < argc; i++) {
		if (strcmp(argv[i], "put") == 0 && i + 2 < argc) {
			rc = index_put(&ix, strtoull(argv[i + 1], NULL, 10), argv[i + 2]);
			i += 2;
		} else if (strcmp(argv[i], "del") == 0 && i + 1 < argc) {
			rc = index_del(&ix, strtoull(argv[++i], NULL, 10));
		} else if (strcmp(argv[i], "compact") == 0) {
			rc = index_compact(&ix);
		} else {
			fprintf(stderr, "%s: what is %s?\n", argv[0], argv[i]);
			return 2;
		}
		if (rc == 0)
			printf("ok %d\n", i);
	}
	if (rc != 0)
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-rc));
	return rc != 0;
}
