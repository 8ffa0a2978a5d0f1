/* pmend fix --interactive: shows each change and asks whether to make it. Changes that belong
 * together (a flush and its fence, the changes of one statement) count as one. The changes accepted
 * so far are planned again together with the one in question, and the difference is shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fix/fixing.h"
#include "repair/edit/diff.h"
#include "repair/edit/paths.h"
#include "report/escape.h"
#include "util/alloc.h"
#include "util/vec.h"

struct asking {
	struct fixing *f;
	size_t nbugs;
	size_t *groups;                /* by bug: its group in the plan of all changes */
	bool *is_mended;               /* by bug: is it fixed in that plan? */
	VEC(struct repair_file) taken; /* the files with the changes accepted so far */
	VEC(struct repair_file) with;  /* the same with the one in question */
	const char *file;              /* the file of the last answer that was for a whole file */
	bool takes_file, is_ended;
};

static const char HELP[] = "y - make this change\n"
			   "n - do not make it\n"
			   "q - quit; make neither this change nor the remaining ones\n"
			   "a - make this change and all later ones in the file\n"
			   "d - make neither this change nor later ones in the file\n"
			   "? - print help\n";

static void choose(struct asking *a, size_t group, bool is_wanted)
{
	for (size_t i = 0; i < a->nbugs; i++)
		if (a->is_mended[i] && a->groups[i] == group)
			repair_choose(a->f->repair, i, is_wanted);
}

static void plan(struct asking *a)
{
	repair_plan(a->f->repair);
	a->with.n = 0;
	for (size_t i = 0; i < repair_nfiles(a->f->repair); i++)
		*vec_add(&a->with) = repair_file(a->f->repair, i);
}

static void take(struct asking *a)
{
	a->taken.n = 0;
	for (size_t i = 0; i < a->with.n; i++)
		*vec_add(&a->taken) = a->with.at[i];
}

static const char *before(const struct asking *a, const struct repair_file *file)
{
	for (size_t i = 0; i < a->taken.n; i++)
		if (strcmp(a->taken.at[i].path, file->path) == 0)
			return a->taken.at[i].after;
	return file->before;
}

static void show_bugs(const struct asking *a, size_t group)
{
	for (size_t i = 0; i < a->nbugs; i++) {
		const struct bug *b = report_bug(a->f->report, i);
		const struct bug_frame *at = bug_frame(b);

		if (a->is_mended[i] && a->groups[i] == group) {
			escape_printf(stderr, "%s:%u: %s: %s", at && at->file ? at->file : "?",
				      at ? at->line : 0, b->kind, b->message);
			fputc('\n', stderr);
		}
	}
}

/* Shows the difference; gives the first file that it is in, or NULL if there is none. */
static const char *show(const struct asking *a, size_t group, bool is_quiet)
{
	const char *first = NULL;

	for (size_t i = 0; i < a->with.n; i++) {
		const char *old = before(a, &a->with.at[i]);

		if (strcmp(old, a->with.at[i].after) == 0)
			continue;
		if (!first && !is_quiet)
			show_bugs(a, group);
		if (!is_quiet)
			diff_print(stderr, path_from(a->with.at[i].path, a->f->real_root), old,
				   a->with.at[i].after);
		if (!first)
			first = a->with.at[i].path;
	}
	return first;
}

/* Reads one of y, n, q, a, d; q at the end of the input. */
static char answer(void)
{
	char *line = NULL, c;
	size_t room = 0;

	for (;;) {
		fputs("Make this change [y,n,q,a,d,?]? ", stderr);
		if (getline(&line, &room, stdin) < 0) {
			fputc('\n', stderr);
			c = 'q';
			break;
		}
		c = line[0];
		if (c && strchr("ynqad", c) && strspn(line + 1, " \t\r\n") == strlen(line + 1))
			break;
		fputs(HELP, stderr);
	}
	free(line);
	return c;
}

static bool is_wanted(struct asking *a, size_t group)
{
	const char *file = show(a, group, true);
	char c;

	if (!file)
		return true; /* an earlier change has done it already */
	if (a->is_ended)
		return false;
	if (a->file && strcmp(a->file, file) == 0)
		return a->takes_file;
	show(a, group, false);
	c = answer();
	a->is_ended = c == 'q';
	if (c == 'a' || c == 'd')
		a->file = file;
	a->takes_file = c == 'a';
	return c == 'y' || c == 'a';
}

void fixing_ask(struct fixing *f)
{
	struct asking a = { .f = f, .nbugs = report_nbugs(f->report) };

	a.groups = xcalloc(a.nbugs + 1, sizeof *a.groups);
	a.is_mended = xcalloc(a.nbugs + 1, sizeof *a.is_mended);
	for (size_t i = 0; i < a.nbugs; i++) {
		a.groups[i] = repair_group(f->repair, i);
		a.is_mended[i] = repair_outcome(f->repair, i).status == REPAIR_MENDED;
	}
	for (size_t i = 0; i < a.nbugs; i++)
		if (a.is_mended[i])
			repair_choose(f->repair, i, false);
	for (size_t i = 0; i < a.nbugs; i++) {
		bool is_first = a.is_mended[i];

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !(a.is_mended[k] && a.groups[k] == a.groups[i]);
		if (!is_first)
			continue;
		choose(&a, a.groups[i], true);
		plan(&a);
		if (is_wanted(&a, a.groups[i]))
			take(&a);
		else
			choose(&a, a.groups[i], false);
	}
	repair_plan(f->repair);
	vec_release(&a.taken);
	vec_release(&a.with);
	free(a.groups);
	free(a.is_mended);
}
