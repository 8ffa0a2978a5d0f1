/* Removes from a report what is shown only on request: findings inside libraries, which become one
 * line each, and findings of lower severity. */
#include <string.h>

#include "report/filter.h"
#include "report/internal.h"

static bool is_inside(const void *context, const struct bug *b)
{
	(void)context;
	return b->library != NULL;
}

static struct report_folded *folded_of(struct report *r, const char *library)
{
	for (size_t i = 0; i < r->folded.n; i++)
		if (strcmp(r->folded.at[i].library, library) == 0)
			return &r->folded.at[i];
	*vec_add(&r->folded) = (struct report_folded){ .library = library };
	return &r->folded.at[r->folded.n - 1];
}

static int folded_compare(const void *a, const void *b)
{
	return strcmp(((const struct report_folded *)a)->library,
		      ((const struct report_folded *)b)->library);
}

void report_fold(struct report *r)
{
	for (size_t i = 0; i < report_nbugs(r); i++)
		if (report_bug(r, i)->library)
			folded_of(r, report_bug(r, i)->library)->nbugs++;
	report_filter(r, is_inside, NULL);
	if (r->folded.n)
		qsort(r->folded.at, r->folded.n, sizeof *r->folded.at, folded_compare);
}

size_t report_nfolded(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->folded.n; i++)
		n += r->folded.at[i].nbugs;
	return n;
}

size_t report_nlibraries(const struct report *r)
{
	return r->folded.n;
}

const char *report_library(const struct report *r, size_t i, size_t *nbugs)
{
	*nbugs = r->folded.at[i].nbugs;
	return r->folded.at[i].library;
}

static bool is_lesser(const void *context, const struct bug *b)
{
	return b->severity > *(const enum bug_severity *)context;
}

void report_limit(struct report *r, enum bug_severity least)
{
	r->nlesser += report_filter(r, is_lesser, &least);
}

char *folded_text(const struct report_folded *f)
{
	return xasprintf("%zu finding%s inside %s: --libraries shows %s", f->nbugs,
			 f->nbugs == 1 ? "" : "s", f->library, f->nbugs == 1 ? "it" : "them");
}
