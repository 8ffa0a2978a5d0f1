/* A store that is neither written back nor followed by a fence of the program. */
#include "corpus.h"

static void forgotten(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush-fence */
}

static void not_forgotten(struct pm *p)
{
	p->a = 1;
	persist(&p->a, 8);
}

/* What the C library stores is reported where it was called. */
static void copies(struct pm *p)
{
	volatile size_t len_bytes = 100;
	char text[100] = "a hundred bytes";

	memcpy(p->text, text, len_bytes); /* BUG: missing-flush-fence */
}

static void copies_persisted(struct pm *p)
{
	volatile size_t len_bytes = 100;
	char text[100] = "a hundred bytes";

	memcpy(p->text, text, len_bytes);
	persist(p->text, len_bytes);
}

static void formatted(struct pm *p)
{
	CHECK(snprintf(p->text, sizeof p->text, "%d bottles", 99) == 10); /* BUG: missing-flush-fence */
}

static void fence_comes_before(struct pm *p)
{
	p->c = 1;
	flush_line(&p->c);
	fence();
	p->a = 2; /* BUG: missing-flush-fence */
}

/* The kernel's writes are stores, too. */
static void read_from_a_file(struct pm *p)
{
	int fd = open("/dev/zero", O_RDONLY);

	CHECK(read(fd, p->text, 64) == 64);
	persist(p->text, 64);
	CHECK(read(fd, p->text + 64, 64) == 64); /* BUG: missing-flush-fence */
	close(fd);
}

static void only_the_last_value_counts(struct pm *p)
{
	*(volatile uint64_t *)&p->a = 1;
	*(volatile uint64_t *)&p->a = 2; /* BUG: missing-flush-fence */
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, forgotten, not_forgotten, copies, copies_persisted, formatted, fence_comes_before, read_from_a_file,
			 only_the_last_value_counts);
}
