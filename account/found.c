/* Names findings while an exploration runs, before anything is known about their causes. Debug
 * information is read for the first one, so that it costs nothing if nobody wants to be told. */
#include "account/found.h"

#include <stdlib.h>

#include "report/bug.h"
#include "source/locate.h"
#include "util/hash.h"
#include "util/str.h"
#include "util/sysroot.h"

struct found {
	const struct plan *plan;
	const struct crash_setup *setup;
	struct locator *locator; /* NULL: not needed yet */
	char *cwd;
	struct map told; /* hashes of places and kinds */
};

struct found *found_new(const struct plan *p, const struct crash_setup *s)
{
	struct found *f = xcalloc(1, sizeof *f);

	f->plan = p;
	f->setup = s;
	return f;
}

void found_free(struct found *f)
{
	if (f->locator)
		locator_free(f->locator);
	map_release(&f->told);
	free(f->cwd);
	free(f);
}

bool found_is_declared(const struct plan *p, const struct crash_bug *b)
{
	for (size_t i = 0; i < b->lost.n; i++)
		if (!plan_is_declared(p, b->lost.at[i].seq))
			return false;
	return b->lost.n > 0;
}

/* Gives the site that the report names first. */
static uint32_t site_of(const struct crash_bug *b)
{
	return b->places.n > 0      ? b->places.at[0].at.site
	       : b->allocation.site ? b->allocation.site
	       : b->lost.n > 0      ? b->lost.at[0].site
	       : b->survived.n > 0  ? b->survived.at[0].site
				    : b->at_site;
}

/* Gives the place of a bug as "FILE:LINE"; NULL: unknown. free() it. */
static char *place_of(struct found *f, const struct crash_bug *b)
{
	const struct trace_site *site = plan_site(f->plan, site_of(b));
	const struct frame *list;
	struct bug_frame shown;
	size_t n;

	if (!f->locator) {
		f->locator = locator_new(f->plan->trace, &f->setup->libraries);
		f->cwd = sysroot_cwd();
	}
	n = site ? locate_stack(f->locator, site, &list) : 0;
	if (n == 0)
		return NULL;
	shown = bug_frame_of(list[locate_place(f->locator, list, n)].symbol);
	if (!shown.file)
		return shown.function ? xasprintf("%s()", shown.function) : NULL;
	return xasprintf("%s:%u", path_below(shown.file, f->cwd), (unsigned)shown.line);
}

static bool was_told(struct found *f, const char *text)
{
	static const char is_told;
	const uint64_t key = hash_text(text);

	if (map_get(&f->told, key))
		return true;
	map_set(&f->told, key, (void *)&is_told);
	return false;
}

char *found_text(struct found *f, const struct crash_bug *b)
{
	char *place = found_is_declared(f->plan, b) ? NULL : place_of(f, b), *what, *text = NULL;

	what = place ? xasprintf("%s: %s", place, b->kind) : NULL;
	if (what && !was_told(f, what))
		text = xasprintf("found %s (after a crash at failure point %llu: %s)", what,
				 (unsigned long long)b->point, b->outcome);
	free(what);
	free(place);
	return text;
}
