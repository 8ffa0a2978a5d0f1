/* limits.c - rate limits of clients, by name: FILE check | FILE (add NAME LIMIT | limit NAME LIMIT | drop NAME)... */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pm.h"

#define CLIENTS 16
#define MAGIC 0x6c696d6974732e31ull

enum { SLOT_FREE, SLOT_USED };

struct slot {
	uint64_t state;
	uint64_t limit;
	uint64_t generation; /* of the table, when it was added */
	char name[96];	     /* not empty if the slot is used */
	uint64_t sum;	     /* of the name */
};

struct image {
	uint64_t magic;
	uint64_t generation;
	char pad[48];
	struct slot slots[CLIENTS];
};

struct table {
	const struct pm_ops *ops;
	struct image *image;
};

static void save(const struct table *t, const void *p, size_t n)
{
	t->ops->clean(p, n);
	t->ops->order();
}

static uint64_t name_sum(const char *name)
{
	uint64_t sum = 1469598103934665603ull;

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 1099511628211ull;
	return sum;
}

static struct slot *slot_find(const struct table *t, const char *name)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct slot *s = &t->image->slots[i];

		if (name ? s->state == SLOT_USED && strcmp(s->name, name) == 0 : s->state == SLOT_FREE)
			return s;
	}
	return NULL;
}

static int table_add(struct table *t, const char *name, uint64_t limit)
{
	struct slot *s = slot_find(t, NULL);

	if (!s || !*name || slot_find(t, name))
		return -1;
	t->image->generation++;
	save(t, &t->image->generation, sizeof(t->image->generation));
	s->limit = limit;
	s->generation = t->image->generation;
	memset(s->name, 0, sizeof(s->name));
	strncpy(s->name, name, sizeof(s->name) - 1);
	s->sum = name_sum(s->name);
	t->ops->clean(s, sizeof(*s));
	t->ops->order();
	s->state = SLOT_USED;
	save(t, &s->state, sizeof(s->state));
	return 0;
}

static int table_limit(struct table *t, const char *name, uint64_t limit)
{
	struct slot *s = slot_find(t, name);

	if (!s)
		return -1;
	s->limit = limit;
	save(t, &s->limit, sizeof(s->limit));
	return 0;
}

static int table_drop(struct table *t, const char *name)
{
	struct slot *s = slot_find(t, name);

	if (!s)
		return -1;
	s->state = SLOT_FREE;
	save(t, &s->state, sizeof(s->state));
	return 0;
}

static int table_open(struct table *t, const char *path, int create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct stat st;

	if (fd < 0)
		return create ? -1 : 1;
	if (fstat(fd, &st) != 0 || (create && st.st_size == 0 && ftruncate(fd, sizeof(struct image)) != 0)) {
		close(fd);
		return -1;
	}
	if (!create && st.st_size < (off_t)sizeof(struct image)) {
		close(fd);
		return 1;
	}
	t->image = mmap(NULL, sizeof(struct image), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (t->image == MAP_FAILED)
		return -1;
	if (t->image->magic != MAGIC && !create)
		return 1;
	if (t->image->magic != MAGIC) { /* all else is zero */
		t->image->magic = MAGIC;
		save(t, &t->image->magic, sizeof(t->image->magic));
	}
	return 0;
}

static int table_check(const struct table *t)
{
	for (int i = 0; i < CLIENTS; i++) {
		const struct slot *s = &t->image->slots[i];

		if (s->state == SLOT_FREE)
			continue;
		if (s->state != SLOT_USED || !s->name[0] || s->name[sizeof(s->name) - 1] || s->sum != name_sum(s->name) || !s->generation || s->generation > t->image->generation) {
			fprintf(stderr, "limits: client %d is damaged\n", i);
			return 1;
		}
		printf("%s: %llu\n", s->name, (unsigned long long)s->limit);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct table t = { .ops = pm_ops_find(getenv("LIMITS_PM")) };
	int rc;

	if (argc < 3 || !t.ops) {
		fprintf(stderr, "usage: %s FILE check | FILE (add NAME LIMIT | limit NAME LIMIT | drop NAME)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	rc = table_open(&t, argv[1], strcmp(argv[2], "check") != 0);
	if (rc != 0) {
		puts(rc > 0 ? "nothing there yet" : "cannot be opened");
		return rc < 0;
	}
	if (strcmp(argv[2], "check") == 0)
		return table_check(&t);
	for (int i = 2; i + 1 < argc; i++) {
		const char *op = argv[i], *name = argv[++i];

		if (strcmp(op, "drop") == 0)
			rc = table_drop(&t, name);
		else if (strcmp(op, "add") == 0 && i + 1 < argc)
			rc = table_add(&t, name, strtoull(argv[++i], NULL, 10));
		else if (strcmp(op, "limit") == 0 && i + 1 < argc)
			rc = table_limit(&t, name, strtoull(argv[++i], NULL, 10));
		else
			rc = -1;
		printf("%s %s: %s\n", op, name, rc ? "not possible" : "done");
	}
	return 0;
}
