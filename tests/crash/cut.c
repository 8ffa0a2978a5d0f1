/* A data file, and an index beside it that is never written back, because recovery makes it again: `cut run DATA INDEX`, then `cut HOW DATA INDEX`. */
#include "pm.h"

#define INDEX_BYTES 8192

struct data {
	_Alignas(64) uint64_t count;
	uint64_t items[7];
};

struct entries {
	uint64_t count;
	uint64_t at[15];
	_Alignas(4096) uint64_t last;
};

static void run(struct data *d, struct entries *e)
{
	for (uint64_t i = 0; i < 3; i++) {
		d->items[i] = 10 + i;
		persist(&d->items[i], 8);
		d->count = i + 1;
		persist(&d->count, 8);
		e->at[i] = d->items[i]; /* BUG: at */
		e->count = i + 1; /* BUG: count */
		e->last = d->items[i]; /* BUG: last */
	}
}

/* What is left of the index is made again. */
static void rebuild(const struct data *d, const char *path)
{
	struct entries *e = pool_create(path, INDEX_BYTES);

	for (uint64_t i = 0; i < d->count; i++)
		e->at[i] = e->last = d->items[i];
	e->count = d->count;
	CHECK(e->at[0] == (d->count ? 10u : 0u));
}

static __attribute__((noinline)) uint64_t look(const char *path)
{
	const volatile struct entries *e = pool_open(path, INDEX_BYTES);

	return e ? e->at[1] : 0;
}

static void clear(const char *how, const struct data *d, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | (strcmp(how, "open") == 0 ? O_TRUNC : 0), 0666);

	CHECK(fd >= 0);
	if (strcmp(how, "punch") == 0)
		CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, INDEX_BYTES) == 0);
	if (strcmp(how, "length") == 0 || strcmp(how, "reads") == 0 || (strcmp(how, "sometimes") == 0 && d->count != 2))
		CHECK(ftruncate(fd, 0) == 0);
	if (strcmp(how, "remove") == 0 || (strcmp(how, "kept") == 0 && look(path) + 1 > 0)) /* kept: it is read before */
		CHECK(unlink(path) == 0);
	if (strcmp(how, "path") == 0)
		CHECK(truncate(path, 0) == 0);
	if (strcmp(how, "rest") == 0) /* of the first word, which it reads, but does not use */
		CHECK(ftruncate(fd, 3) == 0);
	if (strcmp(how, "half") == 0)
		CHECK(ftruncate(fd, 4096) == 0);
	if (strcmp(how, "grow") == 0)
		CHECK(ftruncate(fd, 2 * INDEX_BYTES) == 0);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	struct data *d;

	CHECK(argc == 4);
	if (strcmp(how, "run") == 0) {
		d = pool_create(argv[2], sizeof *d);
		run(d, pool_create(argv[3], INDEX_BYTES));
		return 0;
	}
	d = pool_open(argv[2], sizeof *d);
	if (!d)
		return 0;
	if (strcmp(how, "none") == 0)
		return d->count > 3;
	if (strcmp(how, "reads") == 0)
		look(argv[3]);
	clear(how, d, argv[3]);
	if (strcmp(how, "rest") == 0 || strcmp(how, "half") == 0)
		CHECK(((struct entries *)pool_create(argv[3], INDEX_BYTES))->count < 1000000);
	rebuild(d, argv[3]);
	return 0;
}
