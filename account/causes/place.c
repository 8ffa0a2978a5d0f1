/* Compares the places of findings by their call paths. If one function stores for two callers,
 * these are two places, because the callers may be the ones that flush. */
#include "account/causes/place.h"
#include "report/bug.h"
#include "util/str.h"

#include <string.h>

static bool same_frame(const struct bug_frame *a, const struct bug_frame *b)
{
	return a->line == b->line && str_same(a->function, b->function) &&
	       str_same(a->file, b->file) && (a->line || a->offset == b->offset);
}

/* Gives the next frame after frame `at` whose function is in no frame before: calls inside a
 * recursion are skipped. */
static size_t next_frame(const struct bug_location *l, size_t at)
{
	for (at++; at < l->nframes; at++) {
		size_t k = l->shown;

		while (k < at && !str_same(l->frames[k].function, l->frames[at].function))
			k++;
		if (k == at)
			break;
	}
	return at;
}

bool place_same(const struct bug_location *a, const struct bug_location *b)
{
	size_t i = a->shown, k = b->shown;

	if (i >= a->nframes || k >= b->nframes ||
	    !str_same(bug_location_called(a), bug_location_called(b)))
		return false;
	for (; i < a->nframes && k < b->nframes; i = next_frame(a, i), k = next_frame(b, k))
		if (!same_frame(&a->frames[i], &b->frames[k]))
			return false;
	return i >= a->nframes && k >= b->nframes;
}

/* Are both frames of one function, perhaps at different lines? */
static bool same_function(const struct bug_frame *a, const struct bug_frame *b)
{
	return a->function && str_same(a->function, b->function) && str_same(a->file, b->file);
}

bool place_same_function(const struct bug_location *a, const struct bug_location *b)
{
	size_t i = a->shown, k = b->shown, nother = 0;

	for (; i < a->nframes && k < b->nframes; i++, k++) {
		if (!same_function(&a->frames[i], &b->frames[k]))
			return false;
		nother += !same_frame(&a->frames[i], &b->frames[k]);
	}
	return i == a->nframes && k == b->nframes && nother == 1;
}

bool place_is(const struct bug_location *l, const char *role)
{
	return l->role && strcmp(l->role, role) == 0;
}

const struct bug_location *place_find(const struct bug *b, const char *role)
{
	for (size_t i = 0; i < b->nlocations; i++)
		if (place_is(&b->locations[i], role))
			return &b->locations[i];
	return NULL;
}

const struct bug_location *place_store(const struct bug *b)
{
	const struct bug_location *lost = place_find(b, "lost");

	return lost ? lost : place_find(b, "store");
}

/* Says whether a finding lacks a flush or a fence for its store. In a crash's finding, what was
 * done about the lost store comes right after that store. */
enum lack place_lack(const struct bug *b)
{
	if (bug_is_kind(b, "missing-fence"))
		return LACKS_FENCE;
	if (bug_is_kind(b, "missing-flush-fence"))
		return LACKS_FLUSH;
	if (!bug_is_kind(b, "missing-flush") && !bug_is_kind(b, "ordering"))
		return LACKS_NOTHING;
	return b->nlocations > 1 && place_is(&b->locations[1], "flush") ? LACKS_FENCE : LACKS_FLUSH;
}

const struct bug_location *place_end(const struct bug *b)
{
	const struct bug_location *survived = place_find(b, "survived");

	return survived ? survived : place_find(b, "acknowledged");
}
