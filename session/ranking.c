/* Finds out what recovery does with the stores of durability bugs. The report lists those last that recovery does not rely on: locks, counters that it computes again, links that it
 * rebuilds. A bug is identified by the event where it was seen first. */
#include "session/ranking.h"

#include <string.h>

#include "crash/uses.h"

static bool is_about_durability(const struct bug *b)
{
	static const char *const kinds[] = { "missing-flush", "missing-fence", "missing-flush-fence" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return true;
	return false;
}

static enum bug_use use_of(const struct bug *b, uint64_t first_seq, void *arg)
{
	const struct store_used *u = is_about_durability(b) ? uses_of(arg, first_seq) : NULL;

	if (!u)
		return BUG_USE_UNKNOWN;
	switch (u->use) {
	case STORE_UNTOUCHED: return BUG_USE_NONE;
	case STORE_OVERWRITTEN: return BUG_USE_OVERWRITES;
	case STORE_READ: return BUG_USE_READS;
	}
	return BUG_USE_UNKNOWN;
}

int ranking_tell(struct crash_setup *s, const char *trace, struct report *r, struct error *err)
{
	struct uses uses = { 0 };
	struct plan *p;
	int result;

	if (!report_has(r, is_about_durability))
		return 0;
	p = crash_setup_plan(s, trace, err);
	result = p ? uses_find(p, &s->options, &uses, err) : -1;
	if (result == 0)
		report_rank(r, use_of, &uses);
	uses_release(&uses);
	plan_free(p);
	return result;
}
