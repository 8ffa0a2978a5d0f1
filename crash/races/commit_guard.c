/* Runs recovery with another value of a commit variable, and looks whether it still reads the bytes
 * in question. A crash need not be able to leave that state: the question is only what recovery
 * reads. */
#include "crash/races/commit_guard.h"

#include <string.h>

/* Writes the value that the question supposes into all contents of the commit variable's lines. */
static void put_other(struct explorer *e, struct state_set *set, const struct guard_question *s)
{
	/* makes sure that the set has the lines */
	for (uint64_t i = 0; i < s->var->len_bytes; i++)
		states_watch(set, &e->walk->image, s->var->addr + i, 0);
	states_sort(set);
	for (uint64_t i = 0; i < s->var->len_bytes; i++) {
		const struct state_line *l = states_line(set, s->var->addr + i);

		for (uint32_t c = 0; l && c < l->ncontents; c++)
			set->bytes.at[l->contents + (size_t)c * set->line_bytes +
				      (s->var->addr + i - l->addr)] = s->other[i];
	}
}

/* Does the run read or overwrite the bytes? Bytes that recovery replaces do not depend on the
 * variable, either. */
static bool is_touched(struct explorer *e, const struct state_set *set,
		       const struct guard_question *s)
{
	const struct state_line *l = states_line(set, s->addr);
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d);

	for (uint64_t m = l ? s->mask : 0; m; m &= m - 1)
		if (runner_is_written(e->runner, (size_t)(l - set->lines.at),
				      (uint32_t)(s->addr - l->addr) + (uint32_t)__builtin_ctzll(m)))
			return true;

	for (size_t i = 0; i < n; i++)
		for (uint64_t m = d[i].mask; m; m &= m - 1) {
			uint64_t at = set->lines.at[d[i].line].addr + d[i].at +
				      (uint64_t)__builtin_ctzll(m) - s->addr;

			if (at < 64 && s->mask >> at & 1)
				return true;
		}
	return false;
}

enum commit_guard commit_guard_ask(struct explorer *e, const struct guard_question *s,
				   struct error *err)
{
	enum commit_guard result = GUARD_ERROR;
	struct state_set set = { 0 };
	struct verdict v;
	uint64_t *all;

	states_collect(&set, e->walk->model, &e->asked);
	states_watch(&set, &e->walk->image, s->addr, s->mask);
	put_other(e, &set, s);
	all = states_all(&set);
	runner_load(e->runner, &e->walk->image, &set);
	if (explorer_ask(e, all, &v, err) == 0) {
		bool is_seen = !v.why_unsound && is_touched(e, &set, s);

		result = is_seen ? GUARD_NOT
			 : v.why_unsound || (v.kind != VERDICT_OK && v.kind != VERDICT_DUMP)
				 ? GUARD_UNKNOWN
				 : GUARD_YES;
	}
	free(all);
	states_release(&set);
	return result;
}
