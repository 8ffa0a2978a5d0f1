/* Remembers which input found something new: code that modifies persistent memory, or a bug. Each
 * run has a row; a bug contains the name of the first input that showed it, which survives a later
 * start and works across explorations of the folder. */
#include <stdlib.h>
#include <string.h>

#include "explore/session/exploring.h"
#include "util/alloc.h"

void exploring_found(struct exploring *x, uint64_t number, char *file, uint64_t new_pm)
{
	*vec_add(&x->found) =
		(struct report_found){ .number = number, .file = file, .new_pm = new_pm };
}

void exploring_found_release(struct exploring *x)
{
	for (size_t i = 0; i < x->found.n; i++)
		free((char *)x->found.at[i].file);
	vec_release(&x->found);
}

static void count_bug(const struct bug *b, void *arg)
{
	struct exploring *x = arg;

	for (size_t i = 0; b->input && b->input->first && i < x->found.n; i++)
		if (strcmp(x->found.at[i].file, b->input->first) == 0) {
			x->found.at[i].new_bugs++;
			return;
		}
}

static int compare(const void *left, const void *right)
{
	const struct report_found *a = left, *b = right;

	return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
				      : strcmp(a->file, b->file);
}

size_t exploring_found_list(struct exploring *x, struct report_found **list)
{
	size_t n = 0;

	for (size_t i = 0; i < x->found.n; i++)
		x->found.at[i].new_bugs = 0;
	report_each(x->report, count_bug, x);
	*list = xcalloc(x->found.n + 1, sizeof **list);
	for (size_t i = 0; i < x->found.n; i++)
		if (x->found.at[i].new_pm || x->found.at[i].new_bugs)
			(*list)[n++] = x->found.at[i];
	if (n)
		qsort(*list, n, sizeof **list, compare);
	return n;
}
