/* An append-only log in persistent memory, on raw instructions: the entry is made durable first,
 * then the count that makes it valid. Usage: append_log FILE TEXT... appends each TEXT and prints
 * the log. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flush.h"
#include "pmend.h"

#define ENTRIES 63

struct log {
	uint64_t count; /* entries before this number are valid */
	uint64_t pad[7];
	char entry[ENTRIES][64];
};

static void persist(const void *p, size_t len)
{
	for (uintptr_t line = (uintptr_t)p & ~63ul; line < (uintptr_t)p + len; line += 64)
		flush_line(line);
	fence();
}

static int append(struct log *log, const char *text)
{
	if (log->count == ENTRIES)
		return -1;
	strncpy(log->entry[log->count], text, sizeof log->entry[0] - 1);
#ifndef FORGET_FLUSH /* the demo shows what pmend says about that */
	persist(log->entry[log->count], sizeof log->entry[0]);
#endif
	log->count++;
	persist(&log->count, sizeof log->count);
	return 0;
}

int main(int argc, char **argv)
{
	struct log *log;
	int fd, i;

	if (argc < 2)
		return fprintf(stderr, "usage: append_log FILE TEXT...\n"), 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0644);
	if (fd < 0 || ftruncate(fd, sizeof *log) < 0)
		return perror(argv[1]), 1;
	log = mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED)
		return perror("mmap"), 1;
	for (i = 2; i < argc; i++) {
		PMEND_OP_BEGIN("append");
		if (append(log, argv[i]) < 0)
			return fprintf(stderr, "the log is full\n"), 1;
		PMEND_OP_END("append");
	}
	for (i = 0; (uint64_t)i < log->count; i++)
		printf("%d: %s\n", i, log->entry[i]);
	return 0;
}
