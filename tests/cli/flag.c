/* A record and the flag that says it is there, in one line, with one flush and one fence: right on amd64. flag FILE [fence]: with a fence before the
 * flag, which is right on arm64, too. flag FILE locked: a locked instruction in place of the last fence, which is right on amd64 only. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

struct record {
	long value, is_valid;
};

static long elsewhere;

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;
	volatile struct record *r;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 99;
	r = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r == MAP_FAILED)
		return 98;
	r->value = 42; /* VALUE */
	if (strcmp(how, "fence") == 0)
		fence();
	r->is_valid = 1; /* FLAG */
	flush_line(r);
	if (strcmp(how, "locked") == 0)
		__atomic_fetch_add(&elsewhere, 1, __ATOMIC_SEQ_CST);
	else
		fence();
	_exit(0);
}
