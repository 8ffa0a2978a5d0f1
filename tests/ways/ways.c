/* A program that publishes a word too early, or at the right time, and a recovery that reads it in one of many ways:
 *   ways early|right POOL         the program
 *   ways read NAME POOL           recovery
 *   ways list                     their names, and "refused" behind those that pmend must refuse */
#include "ways.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/machine.h"

char *g_pool;
int g_fd;
const char *g_path, *g_self;

static const struct way *const tables[] = { ways_loads, ways_files, ways_buffers, ways_strings, ways_maps, ways_processes, ways_insns };
#define NTABLES (sizeof tables / sizeof tables[0])

static void pool_map(void)
{
	g_pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, g_fd, 0);
	if (g_pool == MAP_FAILED)
		exit(2);
}

static void persist(const void *line)
{
	flush_line(line);
	fence();
}

static int program(int is_early)
{
	g_fd = open(g_path, O_RDWR | O_CREAT, 0600);
	if (g_fd < 0 || ftruncate(g_fd, POOL_BYTES) != 0)
		return 2;
	pool_map();
	*(volatile uint64_t *)WORD = word_kept();
	if (!is_early)
		persist(WORD);
	*(volatile uint64_t *)(g_pool + FLAG_AT) = 1;
	persist(g_pool + FLAG_AT);
	if (is_early)
		persist(WORD);
	return 0;
}

static const struct way *find(const char *name)
{
	for (size_t t = 0; t < NTABLES; t++)
		for (const struct way *w = tables[t]; w->name; w++)
			if (strcmp(w->name, name) == 0)
				return w;
	fprintf(stderr, "there is no way %s\n", name);
	exit(2);
}

static int list(void)
{
	for (size_t t = 0; t < NTABLES; t++)
		for (const struct way *w = tables[t]; w->name; w++)
			printf("%s%s\n", w->name, w->is_refused ? " refused" : "");
	return 0;
}

static int recovery(const char *name)
{
	struct stat st;

	g_fd = open(g_path, O_RDWR);
	if (g_fd < 0 || fstat(g_fd, &st) != 0 || st.st_size < POOL_BYTES)
		return 0;
	pool_map();
	if (load(g_pool + FLAG_AT) != 1)
		return 0;
	return find(name)->read() == word_kept() ? 0 : LOST;
}

int main(int argc, char **argv)
{
	g_self = argv[0];
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	if (argc < 3)
		return 2;
	g_path = argv[argc - 1];
	if (strcmp(argv[1], "read") == 0)
		return recovery(argv[2]);
	return program(strcmp(argv[1], "early") == 0);
}
