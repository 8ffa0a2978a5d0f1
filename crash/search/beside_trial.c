/* Runs a failing state with other contents of the files beside the pool. If recovery copes with one
 * of them, the crash state alone does not cause the failure. A content that the trace did not keep
 * cannot be tried; that matters only if recovery looks at the file. */
#include "crash/search/beside_trial.h"

#include <string.h>

static const char *const words[BESIDE_TIMES] = { "absent", "as before the recording",
						 "as at the crash", "as at the end" };

enum answer { NOT_TRIED, FAILS, COPES };

struct trial {
	struct explorer *e;
	const struct beside *files;
	const uint64_t *state;
	uint64_t seq;
	bool is_used[BESIDE_MAX]; /* recovery looked at this file in some run */
};

typedef enum beside_time times[BESIDE_MAX]; /* one moment per file */

static int run(struct trial *t, const times when, enum answer *answer, struct error *err)
{
	const struct beside_version *versions[BESIDE_MAX];
	struct explorer *e = t->e;
	struct crash_image with;
	struct verdict v;
	int result;

	*answer = NOT_TRIED;
	for (size_t i = 0; i < t->files->files.n; i++) {
		versions[i] = beside_at(&t->files->files.at[i], when[i], t->seq);
		if (versions[i]->what == BESIDE_UNKNOWN)
			return 0;
	}
	beside_image(&with, &e->walk->image, t->files, versions);
	runner_load(e->runner, &with, &e->set);
	result = explorer_try(e, t->state, &v, err);
	if (result == 0 && !v.why_unsound)
		*answer = v.kind == VERDICT_OK ? COPES : FAILS;
	for (size_t i = 0; i < t->files->files.n; i++)
		t->is_used[i] |=
			runner_looked_at(e->runner, (uint32_t)(e->walk->image.files.n + i));
	runner_load(e->runner, &e->walk->image, &e->set);
	beside_image_release(&with, &e->walk->image);
	return result;
}

static void set_all(times when, enum beside_time time)
{
	for (size_t i = 0; i < BESIDE_MAX; i++)
		when[i] = time;
}

/* Finds the one file that makes the difference; -1 if none does alone, or several do. */
static int find_file(struct trial *t, enum beside_time fails, enum beside_time copes, size_t *file,
		     struct error *err)
{
	const size_t n = t->files->files.n;
	enum answer answer;
	times when;

	*file = 0;
	for (size_t i = 0; i < n && n > 1; i++) {
		set_all(when, fails);
		when[i] = copes;
		if (run(t, when, &answer, err) < 0)
			return -1;
		if (answer == COPES) {
			*file = i;
			return 0;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (t->is_used[i]) {
			*file = i;
			break;
		}
	return 0;
}

static const char *name_of(const struct beside_file *f)
{
	const char *slash = strrchr(f->path, '/');

	return slash ? slash + 1 : f->path;
}

/* Lists the moments at which the file made recovery end in this way (`which`), such as "absent or
 * as at the end"; NULL if there is none. free() it. */
static char *list(const enum answer *answers, enum answer which)
{
	char *text = NULL, *longer;

	for (size_t i = 0; i < BESIDE_TIMES; i++) {
		if (answers[i] != which)
			continue;
		longer = text ? xasprintf("%s or %s", text, words[i]) : xstrdup(words[i]);
		free(text);
		text = longer;
	}
	return text;
}

/* Says in a sentence how the outcome depends on the file; free() it. */
static char *reason(const struct beside_file *f, const enum answer *answers)
{
	char *fails = list(answers, FAILS), *copes = list(answers, COPES),
	     *untried = list(answers, NOT_TRIED);
	char *text = xasprintf(
		"crash states do not follow %s, which recovery uses; on this state it fails with that file %s%s%s%s%s",
		name_of(f), fails ? fails : "as it is now", copes ? ", and copes with it " : "",
		copes ? copes : "", untried ? "; not kept, so not tried: " : "",
		untried ? untried : "");

	free(fails);
	free(copes);
	free(untried);
	return text;
}

static size_t first_with(const enum answer *answers, enum answer which)
{
	size_t i = 0;

	while (i < BESIDE_TIMES && answers[i] != which)
		i++;
	return i;
}

static bool is_used(const struct trial *t)
{
	bool is_any = false;

	for (size_t i = 0; i < BESIDE_MAX; i++)
		is_any |= t->is_used[i];
	return is_any;
}

int beside_trial(struct explorer *e, const struct beside *files, const uint64_t *state,
		 struct crash_bug *b, struct error *err)
{
	struct trial t = { .e = e, .files = files, .state = state, .seq = b->seq };
	enum answer answers[BESIDE_TIMES];
	size_t copes, fails, file;
	times when;

	if (files->files.n == 0 || explorer_is_late(e))
		return 0;
	for (size_t i = 0; i < BESIDE_TIMES; i++) {
		set_all(when, (enum beside_time)i);
		if (run(&t, when, &answers[i], err) < 0)
			return -1;
	}
	copes = first_with(answers, COPES);
	fails = first_with(answers, FAILS);
	if (copes == BESIDE_TIMES &&
	    (first_with(answers, NOT_TRIED) == BESIDE_TIMES || !is_used(&t)))
		return 0; /* it fails whatever the files contain */
	if (find_file(&t, fails < BESIDE_TIMES ? (enum beside_time)fails : BESIDE_END,
		      copes < BESIDE_TIMES ? (enum beside_time)copes : BESIDE_END, &file, err) < 0)
		return -1;
	b->undecided_by = xstrdup(files->files.at[file].path);
	b->why_undecided = reason(&files->files.at[file], answers);
	return 0;
}
