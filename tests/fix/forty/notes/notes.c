/* notes.c - short notes that survive
 *
 *	notes FILE			list
 *	notes FILE +text -id !id ...	add, drop, pin
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "slab.h"

static int edit(struct slab *s, const char *arg)
{
	switch (arg[0]) {
	case '+':
		return slab_put(s, arg + 1) ? 0 : -1;
	case '-':
		return slab_drop(s, (uint32_t)strtoul(arg + 1, NULL, 10));
	case '!':
		return slab_pin(s, (uint32_t)strtoul(arg + 1, NULL, 10));
	}
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	struct slab *s;
	int i, ret = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: notes FILE [+text | -id | !id]...\n");
		return 2;
	}
	s = slab_open(argv[1], argc > 2);
	if (s == NULL && argc == 2 && (errno == ENOENT || errno == ENODATA)) {
		puts("nothing there yet");
		return 0;
	}
	if (s == NULL) {
		perror(argv[1]);
		return 1;
	}
	if (slab_recover(s) < 0)
		ret = 1;
	for (i = 2; i < argc && ret == 0; i++) {
		if (edit(s, argv[i]) < 0) {
			perror(argv[i]);
			ret = 1;
		}
	}
	if (ret == 0 && slab_print(s) < 0)
		ret = 1;
	slab_close(s);
	return ret;
}
