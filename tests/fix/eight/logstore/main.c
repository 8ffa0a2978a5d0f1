/* main.c - command line of the store: FILE check | FILE (put NAME TEXT | del NAME | turn)... */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pm.h"
#include "store.h"

static struct store *store_open(const char *path, int create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct store *s = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && st.st_size == 0 && create && ftruncate(fd, sizeof(*s)) == 0)
		st.st_size = sizeof(*s);
	if (st.st_size >= (off_t)sizeof(*s))
		s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s == MAP_FAILED || (s->magic != STORE_MAGIC && !create))
		return NULL;
	if (s->magic != STORE_MAGIC) {
		s->magic = STORE_MAGIC;
		pm_persist(&s->magic, sizeof(s->magic));
	}
	return s;
}

static int store_put(struct store *s, const char *name, const char *text)
{
	struct entry *old = catalog_find(s, name);
	struct record *r = segment_append(&s->segments[s->active], s->next + 1, text);

	if (!r)
		return -1;
	s->next++;
	pm_persist(&s->next, sizeof(s->next));
	if (old)
		catalog_remove(old);
	return catalog_add(s, name, r);
}

/* Forgets what is in the other segment, and goes on there. */
static void store_turn(struct store *s)
{
	uint32_t other = 1 - (uint32_t)s->active;

	catalog_remove_segment(s, other);
	segment_reset(&s->segments[other]);
	s->active = other;
	pm_persist(&s->active, sizeof(s->active));
}

int main(int argc, char **argv)
{
	struct store *s;
	struct entry *e;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (put NAME TEXT | del NAME | turn)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	s = store_open(argv[1], strcmp(argv[2], "check") != 0);
	if (!s) {
		puts("nothing there yet");
		return 0;
	}
	if (strcmp(argv[2], "check") == 0)
		return catalog_check(s);
	for (int i = 2; i < argc; i++) {
		const char *op = argv[i];
		int rc = 0;

		if (strcmp(op, "turn") == 0) {
			store_turn(s);
		} else if (strcmp(op, "put") == 0 && i + 2 < argc) {
			rc = store_put(s, argv[i + 1], argv[i + 2]);
			i += 2;
		} else if (strcmp(op, "del") == 0 && i + 1 < argc) {
			e = catalog_find(s, argv[++i]);
			if (e)
				catalog_remove(e);
		} else {
			rc = -1;
		}
		printf("%s: %s\n", op, rc ? "not possible" : "done");
	}
	return 0;
}
