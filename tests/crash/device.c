/* A device is not zero when a program gets it. `device DEVICE run HOW` makes a table on it, all of it durable before the number that makes it valid; HOW: whole, or part, which relies on
 * zeros in the rest of the table. `device DEVICE check` looks at it. */
#include "tests/crash/pm.h"

#define MAGIC 0x1234u
#define TABLE 8u

struct table {
	uint64_t magic;
	char gap[LINE_BYTES];
	uint64_t entry[TABLE];
};

int main(int argc, char **argv)
{
	struct table *t;
	int fd;

	CHECK(argc >= 3 && (fd = open(argv[1], O_RDWR)) >= 0);
	t = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(t != MAP_FAILED);
	if (strcmp(argv[2], "check") == 0) {
		for (unsigned i = 0; t->magic == MAGIC && i < TABLE; i++)
			CHECK(t->entry[i] <= TABLE);
		return 0;
	}
	for (unsigned i = 0; i < (strcmp(argv[3], "whole") == 0 ? TABLE : TABLE - 1); i++)
		t->entry[i] = i;
	persist(t->entry, sizeof t->entry);
	t->magic = MAGIC;
	persist(&t->magic, sizeof t->magic);
	return 0;
}
