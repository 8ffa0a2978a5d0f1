/* What the programs of cases that keep data in files share: `PROGRAM FOLDER CASE make` makes what is there before, `PROGRAM FOLDER CASE` works on it and
 * acknowledges what it did, `PROGRAM FOLDER CASE print` prints what recovery finds, or fails. */
#ifndef TESTS_CRASH_FILED_H
#define TESTS_CRASH_FILED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)

static const char *name;
static int folder;

static int is(const char *which)
{
	return strcmp(name, which) == 0;
}

static void done(int i)
{
	char text[16];
	const int n = snprintf(text, sizeof text, "done %d\n", i);

	CHECK(write(STDOUT_FILENO, text, (size_t)n) == n);
}

struct filed_case {
	const char *name;
	void (*make)(void), (*load)(void), (*print)(void), (*then)(void);
};

static int filed_main(const struct filed_case *cases, size_t n, int argc, char **argv)
{
	CHECK(argc >= 3);
	folder = open(argv[1], O_RDONLY | O_DIRECTORY);
	CHECK(folder >= 0);
	name = argv[2];
	for (size_t i = 0; i < n; i++) {
		if (!is(cases[i].name))
			continue;
		if (argc == 3)
			cases[i].load();
		else if (strcmp(argv[3], "then") == 0)
			cases[i].then();
		else if (strcmp(argv[3], "print") == 0)
			cases[i].print();
		else if (cases[i].make)
			cases[i].make();
		return 0;
	}
	return 2;
}

#endif
