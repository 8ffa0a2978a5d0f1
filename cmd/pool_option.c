/* Makes the folder of a scratch pool. No file is made: a program that creates its pool wants to
 * find none, and one that opens it wants its own format. */
#include "cmd/pool_option.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "util/alloc.h"

void pool_option_check(const struct command *c, char *const *words)
{
	const char *meant;

	for (size_t i = 0; words[i]; i++) {
		char *typo = word_misspelled(words[i], &meant);

		if (typo)
			die_usage(c, "%s is no placeholder; did you mean %s?", typo, meant);
	}
}

char **pool_option_begin(struct pool_option *p, struct recording *r, char **target)
{
	struct error err;

	*p = (struct pool_option){ 0 };
	pool_option_check(NULL, target);
	if (!words_have(target, SCRATCH_POOL))
		return target;
	if (tempdir_open(&p->folder, &err) < 0)
		die("%s", err.msg);
	p->path = xasprintf("%s/pool", p->folder.path);
	p->words = words_replaced(target, SCRATCH_POOL, p->path);
	r->scratch_pool = p->path;
	return p->words;
}

void pool_option_end(struct pool_option *p)
{
	tempdir_close(&p->folder);
	words_free(p->words);
	free(p->path);
}
