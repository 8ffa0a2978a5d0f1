/* memtable POOL [+KEY[.VERSION] | -KEY | commit | scan:N | check]... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store.h"

static int do_put(struct store *s, const char *arg)
{
	char *end;
	uint64_t key = strtoull(arg, &end, 10);
	uint64_t version = *end == '.' ? strtoull(end + 1, NULL, 10) % 10 : 0;

	return store_put(s, key, key * 10 + version);
}

static int do_word(struct store *s, const char *word)
{
	if (word[0] == '+')
		return do_put(s, word + 1);
	if (word[0] == '-')
		return store_del(s, strtoull(word + 1, NULL, 10));
	if (!strcmp(word, "commit"))
		return store_commit(s);
	if (!strncmp(word, "scan:", 5)) {
		uint64_t last = store_scan(s, atoi(word + 5));

		fflush(stdout);
		store_seen(s, last);
		return 0;
	}
	if (!strcmp(word, "check"))
		return store_check(s);
	fprintf(stderr, "%s: unknown\n", word);
	return -1;
}

int main(int argc, char **argv)
{
	struct store s;
	struct stat st;
	int ret = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s POOL WORD...\n", argv[0]);
		return 2;
	}
	if (!strcmp(argv[2], "check") && (stat(argv[1], &st) != 0 || st.st_size == 0)) {
		puts("nothing there yet");
		return 0;
	}
	if (store_open(&s, argv[1]) != 0) {
		fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg());
		return 1;
	}
	for (int i = 2; i < argc && ret == 0; i++)
		ret = do_word(&s, argv[i]);
	store_close(&s);
	return ret ? 1 : 0;
}
