/* Finds the stores of a trace that --commit-var names, the stores of libpmemobj itself, and the
 * stores that a transaction does not undo. The first two are found by source line or object, so the
 * result is one flag per site. */
#include "crash/setup/race_sites.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "source/locate.h"

/* Is the symbol at the place? PLACE is a function, or FILE:LINE, where FILE may be the end of the
 * path. */
static bool is_place(const struct symbol *s, const char *place)
{
	const char *colon = strrchr(place, ':');
	size_t len = colon ? (size_t)(colon - place) : 0, file_len = s->file ? strlen(s->file) : 0;

	if (!colon)
		return s->function && strcmp(s->function, place) == 0;
	return file_len >= len && s->line == strtoul(colon + 1, NULL, 10) &&
	       memcmp(s->file + file_len - len, place, len) == 0 &&
	       (file_len == len || s->file[file_len - len - 1] == '/');
}

static bool mark_place(struct race_options *o, const struct plan *p, struct locator *l,
		       const char *place)
{
	bool is_found = false;

	for (size_t i = 0; i < p->sites.n; i++) {
		const struct frame *f = p->sites.at[i] && trace_is_store(p->sites.at[i]->kind)
						? locate(l, p->sites.at[i])
						: NULL;

		if (f && is_place(f->symbol, place))
			o->commit_sites.at[i] = is_found = true;
	}
	return is_found;
}

int race_sites_find_commits(struct race_options *o, const struct word_list *places,
			    const struct libraries *libraries, struct plan *p, struct error *err)
{
	struct locator *l;
	int result = 0;

	plan_find_unkept(p);
	o->commit_sites.n = 0;
	for (size_t i = 0; i < p->sites.n; i++)
		*vec_add(&o->commit_sites) = false;
	l = locator_new(p->trace, libraries);
	for (size_t k = 0; result == 0 && k < places->n; k++)
		if (!mark_place(o, p, l, places->item[k]))
			result = error_set(
				err,
				"--commit-var %s: the program stored nothing to persistent memory there",
				places->item[k]);
	locator_free(l);
	if (result == 0 && places->n > 0)
		plan_add_commit_sites(p, o->commit_sites.at, o->commit_sites.n);
	return result;
}

/* ---- PMDK's own stores ---- */

static bool is_named(const char *object, const char *begin)
{
	const char *slash = strrchr(object, '/');

	return strncmp(slash ? slash + 1 : object, begin, strlen(begin)) == 0;
}

static bool is_libpmemobj(const char *object)
{
	return object && is_named(object, "libpmemobj.");
}

static bool has_libpmemobj(const struct trace_site *site)
{
	if (site->object && is_libpmemobj(site->object->path))
		return true;
	for (const struct trace_node *node = site->node; node; node = node->parent)
		if (node->object && is_libpmemobj(node->object->path))
			return true;
	return false;
}

/* Is the site a store of libpmemobj, or of a constructor that libpmemobj calls (is_own: false)? A
 * copy that the program asked for is neither. */
static bool is_library_store(struct locator *l, const struct trace_site *site, bool *is_own)
{
	const struct frame *list;
	size_t n = locate_stack(l, site, &list), i = 0;
	const char *entry = NULL;

	for (*is_own = true; i < n && !is_libpmemobj(list[i].symbol->object); i++)
		*is_own &=
			list[i].symbol->object && (is_named(list[i].symbol->object, "libpmem.") ||
						   is_named(list[i].symbol->object, "libc."));
	if (i == n)
		return false;
	for (; i < n && is_libpmemobj(list[i].symbol->object); i++)
		entry = list[i].symbol->function;
	return !entry || strncmp(entry, "pmemobj_mem", strlen("pmemobj_mem")) != 0;
}

void race_sites_find_library(struct race_options *o, const struct plan *p)
{
	/* without symbols: the object alone decides */
	struct locator *l = locator_new(p->trace, NULL);

	o->library_sites.n = o->own_sites.n = 0;
	for (size_t i = 0; i < p->sites.n; i++) {
		const struct trace_site *site = p->sites.at[i];
		bool is_own = false, is_library = site && trace_is_store(site->kind) &&
						  has_libpmemobj(site) &&
						  is_library_store(l, site, &is_own);

		*vec_add(&o->library_sites) = is_library;
		*vec_add(&o->own_sites) = is_library && is_own;
	}
	locator_free(l);
}

/* ---- stores that no transaction logged ---- */

static void note_unlogged(const struct finding *f, void *arg)
{
	struct race_options *o = arg;

	if (strcmp(f->kind, "tx-missing-add") == 0)
		*vec_add(&o->unlogged) = f->first_seq; /* findings are in the order of events */
}

void race_sites_find_unlogged(struct race_options *o, const struct plan *p)
{
	static const char *const asked[] = { "transactions", NULL };

	o->unlogged.n = 0;
	check_listen(p->trace, asked, note_unlogged, o);
}
