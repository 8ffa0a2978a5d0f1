/* Makes the folder of a scratch pool, and a scratch folder. It makes no file: a program that
 * creates its pool expects none, and one that opens it expects its own format. */
#include "cmd/pool_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "crash/search/strategies.h"
#include "crash/setup/crash_setup.h"
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

bool files_option_is_followed(const char *trace)
{
	struct error ignored;
	struct trace *t;
	bool is_any;

	if (trace_open(&t, trace, &ignored) < 0)
		return false;
	is_any = followed_is_any(t);
	trace_close(t);
	return is_any;
}

void files_option_refuse(const struct command *c, const char *trace)
{
	if (files_option_is_followed(trace))
		die_usage(
			c,
			"'pmend %s' does not follow files yet (--files, {dir}): explore %s with 'pmend crash'",
			c->name, trace);
}

/* Gives the first option in use that does not work for crash states of files yet; NULL: there is
 * none. */
static const char *not_for_files(const struct crash_setup *s)
{
	const struct {
		bool is_asked;
		const char *option;
	} list[] = { { s->then != NULL && strcmp(s->then, "recorded") == 0, "--then recorded" },
		     { s->races, "--races" },
		     { s->failure_points != NULL, "--failure-points" },
		     { s->options.strategy != strategies[0], "--strategy" } };

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (list[i].is_asked)
			return list[i].option;
	return NULL;
}

void files_option_profile(const struct command *c, enum files_profile profile, bool has_files)
{
	if (profile != FILES_PROFILES && !has_files)
		die_usage(
			c,
			"--platform %s is about files that are followed: it needs --files DIR, {dir} in the program's command, or a trace that was recorded so",
			files_profile_name(profile));
}

void files_option_fit(const struct command *c, struct crash_setup *s, const struct recording *r,
		      char *const *words, bool has_trace)
{
	bool has_dir = false, has_pool = false;

	s->has_files = r->files.n > 0 || (!has_trace && words_have(words, SCRATCH_DIR)) ||
		       (has_trace && files_option_is_followed(words[0]));
	for (size_t i = 0; i < sizeof s->commands / sizeof *s->commands; i++) {
		has_dir |= s->commands[i] && runner_command_has_folder(s->commands[i]);
		has_pool |= s->commands[i] && runner_command_has_pool(s->commands[i]);
	}
	files_option_profile(c, s->profile, s->has_files);
	if (!s->has_files)
		return;
	if (not_for_files(s))
		die_usage(c, "%s is not there yet for files that are followed (--files, {dir})",
			  not_for_files(s));
	if (has_pool)
		die_usage(
			c,
			"{} and files that are followed (--files, {dir}) cannot be explored together yet: put {dir}/NAME where a file's path belongs, or record without --files");
	if (!has_dir)
		die_usage(
			c,
			"crash states of files (--files, {dir}) need a recovery that is run on them: put {dir} where the folder's path belongs in --recover, --check or --dump");
}

void pool_option_end(struct pool_option *p)
{
	tempdir_close(&p->folder);
	words_free(p->words);
	free(p->path);
	free(p->dir);
}
