/* A program with many failure points, whose recovery can be made to wait. `steps POOL` adds records one by one. `steps POOL FOLDER N` is recovery: it checks them. A run of it
 * leaves a byte in FOLDER/runs-TASK, TASK being the task of Slurm that it belongs to. It waits for the file FOLDER/go if some of its part, one of N, is done and kept: a test can end the
 * task then, and something is there to go on from. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define NRECORDS 160u
#define FORGET_EVERY 40u

struct pool {
	_Alignas(64) uint64_t count;
	struct {
		_Alignas(64) uint64_t value;
	} record[NRECORDS];
};

static void add(struct pool *p, uint64_t i)
{
	p->record[i].value = i + 1; /* BUG: missing-flush */
	if (i % FORGET_EVERY != FORGET_EVERY - 1)
		flush_line(&p->record[i]);
	fence();
	p->count = i + 1;
	flush_line(&p->count);
	fence();
}

static int check(const struct pool *p)
{
	for (uint64_t i = 0; i < p->count; i++)
		if (p->record[i].value != i + 1)
			return 1;
	return 0;
}

/* Are failure points of the part done, by its file? */
static int is_kept(const char *path)
{
	char text[65536];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	const char *done;

	if (f)
		fclose(f);
	text[n] = '\0';
	done = strstr(text, "\"done\": ");
	return done && done[strlen("\"done\": ")] != '0';
}

static void wait_in(const char *folder, const char *nparts)
{
	const char *task = getenv("SLURM_ARRAY_TASK_ID");
	char runs[4096], kept[4096], go[4096];
	int fd;

	if (!task)
		return;
	snprintf(runs, sizeof runs, "%s/runs-%s", folder, task);
	snprintf(kept, sizeof kept, "%s/parts/part-%s-of-%s.json", folder, task, nparts);
	snprintf(go, sizeof go, "%s/go", folder);
	fd = open(runs, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, ".", 1) != 1)
		exit(2);
	close(fd);
	while (is_kept(kept) && access(go, F_OK) != 0)
		usleep(20000);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	struct pool *p;

	if (argc > 3)
		wait_in(argv[2], argv[3]);
	if (fd < 0 || ftruncate(fd, sizeof *p) != 0)
		return 2;
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	if (argc > 3)
		return check(p);
	for (uint64_t i = 0; i < NRECORDS; i++)
		add(p, i);
	return 0;
}
