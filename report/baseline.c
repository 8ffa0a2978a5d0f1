/* Hides bugs that an earlier report has already. The same id is the same bug. */
#include <string.h>

#include "report/filter.h"
#include "report/internal.h"

struct baseline {
	VEC(char *) ids; /* sorted */
};

static int id_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct baseline *baseline_open(const char *path, struct error *err)
{
	struct report *r = report_read(path, err);
	struct baseline *b;
	size_t i, k;

	if (!r)
		return NULL;
	b = xcalloc(1, sizeof *b);
	for (i = 0; i < report_nbugs(r); i++) {
		*vec_add(&b->ids) = xstrdup(report_bug(r, i)->id);
		for (k = 0; k < report_bug(r, i)->nconsequences; k++) /* the next report may call another one of them the cause */
			*vec_add(&b->ids) = xstrdup(report_bug(r, i)->consequences[k].id);
	}
	if (b->ids.n)
		qsort(b->ids.at, b->ids.n, sizeof *b->ids.at, id_compare);
	report_free(r);
	return b;
}

void baseline_close(struct baseline *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->ids.n; i++)
		free(b->ids.at[i]);
	vec_release(&b->ids);
	free(b);
}

static bool is_known(const void *context, const struct bug *b)
{
	const struct baseline *baseline = context;
	const char *id = b->id;

	return baseline->ids.n && bsearch(&id, baseline->ids.at, baseline->ids.n, sizeof *baseline->ids.at, id_compare);
}

void report_subtract(struct report *r, const struct baseline *b)
{
	r->nknown += report_filter(r, is_known, b);
}
