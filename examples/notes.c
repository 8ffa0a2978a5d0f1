/* Notes in persistent memory, with a bug that docs/tutorial.md finds and fixes.
 * Usage: notes FILE add TEXT... or notes FILE list */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flush.h"

struct note {
	uint64_t length;
	char text[56];
};

struct notes {
	uint64_t count; /* notes before this number are valid */
	uint64_t pad[7];
	struct note note[63];
};

/* Makes len bytes at p durable. */
static void persist(const void *p, size_t len)
{
	for (uintptr_t line = (uintptr_t)p & ~63ul; line < (uintptr_t)p + len; line += 64)
		flush_line(line);
	fence();
}

static int add(struct notes *notes, const char *text)
{
	struct note *n = &notes->note[notes->count];

	if (notes->count == 63 || strlen(text) >= sizeof n->text)
		return fprintf(stderr, "no room\n"), 1;
	strcpy(n->text, text);
	n->length = strlen(text);
	notes->count++;
	persist(&notes->count, sizeof notes->count);
	persist(n, sizeof *n);
	return 0;
}

static int list(const struct notes *notes)
{
	for (uint64_t i = 0; i < notes->count; i++)
		printf("%.*s\n", (int)notes->note[i].length, notes->note[i].text);
	return 0;
}

int main(int argc, char **argv)
{
	struct notes *notes;
	int fd, i;

	if (argc < 3)
		return fprintf(stderr, "usage: notes FILE add TEXT... or notes FILE list\n"), 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0644);
	if (fd < 0 || ftruncate(fd, sizeof *notes) < 0)
		return perror(argv[1]), 1;
	notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (notes == MAP_FAILED)
		return perror("mmap"), 1;
	if (strcmp(argv[2], "list") == 0)
		return list(notes);
	for (i = 3; i < argc; i++) {
		if (add(notes, argv[i]))
			return 1;
		printf("added %s\n", argv[i]);
		fflush(stdout);
	}
	return 0;
}
