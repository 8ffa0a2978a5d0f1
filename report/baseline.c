/* Hides bugs that an earlier report lists already. A bug is the same if its id is the same. A bug
 * that was only a warning in the earlier report and is more severe now counts as new. The finding
 * that stands for "the pool is being made" is known if all findings that it replaces were known. */
#include <string.h>

#include "report/filter.h"
#include "report/internal.h"

struct known {
	char id[17];
	enum bug_severity severity;
};

struct baseline {
	VEC(struct known) list; /* sorted by id; of equal ids, the most severe one is kept */
};

static int known_compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static void add(struct baseline *b, const struct bug *bug)
{
	struct known *k = vec_add(&b->list);

	memcpy(k->id, bug->id, sizeof k->id);
	k->severity = bug->severity;
}

static void keep_worst(struct baseline *b)
{
	size_t n = 0;

	if (b->list.n)
		qsort(b->list.at, b->list.n, sizeof *b->list.at, known_compare);
	for (size_t i = 0; i < b->list.n; i++)
		if (n == 0 || strcmp(b->list.at[n - 1].id, b->list.at[i].id) != 0)
			b->list.at[n++] = b->list.at[i];
		else if (b->list.at[i].severity < b->list.at[n - 1].severity)
			b->list.at[n - 1].severity = b->list.at[i].severity;
	b->list.n = n;
}

struct baseline *baseline_open(const char *path, struct error *err)
{
	struct report *r = report_read(path, err);
	struct baseline *b;

	if (!r)
		return NULL;
	b = xcalloc(1, sizeof *b);
	for (size_t i = 0; i < report_nbugs(r); i++) {
		add(b, report_bug(r, i));
		/* the next report may choose another finding of the group as the cause */
		for (size_t k = 0; k < report_bug(r, i)->nconsequences; k++)
			add(b, &report_bug(r, i)->consequences[k]);
	}
	keep_worst(b);
	report_free(r);
	return b;
}

void baseline_close(struct baseline *b)
{
	if (!b)
		return;
	vec_release(&b->list);
	free(b);
}

static bool has_known(const struct baseline *baseline, const struct bug *b)
{
	struct known key = { .severity = b->severity };
	const struct known *k;

	memcpy(key.id, b->id, sizeof key.id);
	k = baseline->list.n
		    ? bsearch(&key, baseline->list.at, baseline->list.n, sizeof key, known_compare)
		    : NULL;
	return k && k->severity <= b->severity;
}

static bool is_known(const void *context, const struct bug *b)
{
	size_t nknown = 0;

	if (has_known(context, b))
		return true;
	while (bug_has_window(b) && nknown < b->nconsequences &&
	       has_known(context, &b->consequences[nknown]))
		nknown++;
	return nknown > 0 && nknown == b->nconsequences;
}

void report_subtract(struct report *r, const struct baseline *b)
{
	r->nknown += report_filter(r, is_known, b);
}
