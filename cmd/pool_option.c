/* Makes the folder of a scratch pool, and a scratch folder. It makes no file: a program that
 * creates its pool expects none, and one that opens it expects its own format. */
#include "cmd/pool_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "trace/followed.h"
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
	char **pooled;

	*p = (struct pool_option){ 0 };
	pool_option_check(NULL, target);
	if (!words_have(target, SCRATCH_POOL) && !words_have(target, SCRATCH_DIR))
		return target;
	if (tempdir_open(&p->folder, &err) < 0)
		die("%s", err.msg);
	p->path = xasprintf("%s/pool", p->folder.path);
	p->dir = xasprintf("%s/dir", p->folder.path);
	pooled = words_replaced(target, SCRATCH_POOL, p->path);
	p->words = words_replaced(pooled, SCRATCH_DIR, p->dir);
	words_free(pooled);
	if (words_have(target, SCRATCH_POOL))
		r->scratch_pool = p->path;
	if (words_have(target, SCRATCH_DIR)) {
		if (mkdir(p->dir, 0777) < 0)
			die("cannot make the folder %s: %s", p->dir, strerror(errno));
		r->scratch_dir = p->dir;
		word_list_add(&r->files, p->dir);
	}
	return p->words;
}

void files_option_check(const struct command *c, const struct recording *r, char *const *words,
			bool has_trace)
{
	if ((r->files.n > 0 || r->files_except.n > 0) && has_trace)
		die_usage(c, "--files applies only to recording a program, not to a trace");
	if (r->files_except.n > 0 && r->files.n == 0 && !words_have(words, SCRATCH_DIR))
		die_usage(c, "--files-except needs --files DIR, or {dir} in the command");
}

void files_option_refuse(const struct command *c, const struct recording *r, char *const *words,
			 bool has_trace)
{
	struct trace *t = NULL;
	struct error ignored;
	bool is_followed = r->files.n > 0 || (!has_trace && words_have(words, SCRATCH_DIR));

	if (has_trace && trace_open(&t, words[0], &ignored) == 0) {
		is_followed |= followed_is_any(t);
		trace_close(t);
	}
	if (is_followed)
		die_usage(c, FOLLOWED_NOT_YET);
}

void pool_option_end(struct pool_option *p)
{
	tempdir_close(&p->folder);
	words_free(p->words);
	free(p->path);
	free(p->dir);
}
