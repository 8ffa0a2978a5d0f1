/* meter.c - readings of a meter, and the peak of those that were sent: FILE check | FILE (read NUMBER | send)... */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

#define MAGIC 0x6d657465722e3031ull

struct peak {
	uint64_t latest;
	uint64_t highest;
	char pad[48];
};

struct meter {
	uint64_t magic;
	char pad[56];
	struct peak peak;
	struct ring ring;
};

static size_t reading_fill(char *body, size_t capacity, void *ctx)
{
	memset(body, 0, capacity);
	return (size_t)snprintf(body, capacity, "the meter in the cellar of the house, behind the boiler, shows %s", (const char *)ctx);
}

static void reading_sent(const char *body, size_t len, void *ctx)
{
	struct peak *p = ctx;
	const char *last = memrchr(body, ' ', len);
	uint64_t value = strtoull(last ? last : body, NULL, 10);

	p->latest = value;
	if (value > p->highest)
		p->highest = value;
	ring_sync(p, sizeof(*p));
}

static struct meter *meter_open(const char *path, int create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct meter *m;
	struct stat st;

	if (fd < 0)
		return NULL;
	if ((create && ftruncate(fd, sizeof(struct meter)) != 0) || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(struct meter)) {
		close(fd);
		return NULL;
	}
	m = mmap(NULL, sizeof(struct meter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED || (!create && m->magic != MAGIC))
		return NULL;
	if (m->magic != MAGIC) {
		m->magic = MAGIC;
		ring_sync(&m->magic, sizeof(m->magic));
	}
	return m;
}

static int meter_check(const struct meter *m)
{
	if (ring_check(&m->ring) != 0) {
		fprintf(stderr, "meter: the ring is damaged\n");
		return 1;
	}
	printf("%llu sent, %llu to be sent, latest %llu, highest %llu\n", (unsigned long long)m->ring.tail,
	       (unsigned long long)(m->ring.head - m->ring.tail), (unsigned long long)m->peak.latest, (unsigned long long)m->peak.highest);
	return 0;
}

int main(int argc, char **argv)
{
	int is_check = argc > 2 && strcmp(argv[2], "check") == 0;
	struct meter *m;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (read NUMBER | send)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	m = meter_open(argv[1], !is_check);
	if (!m) {
		puts("nothing there");
		return !is_check;
	}
	if (is_check)
		return meter_check(m);
	for (int i = 2; i < argc; i++) {
		const char *op = argv[i];
		int rc = -1;

		if (strcmp(op, "send") == 0)
			rc = ring_take(&m->ring, reading_sent, &m->peak);
		else if (strcmp(op, "read") == 0 && i + 1 < argc)
			rc = ring_put(&m->ring, reading_fill, argv[++i]);
		printf("%s: %s\n", op, rc ? "not possible" : "done");
	}
	return 0;
}
