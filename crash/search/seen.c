/* Keeps how recovery ended on sets of states of one failure point. A set is stored as the lines
 * that it narrows, so a lookup compares few lines per set. */
#include "crash/search/seen.h"

#define SEEN_MAX 256u /* sets per failure point that are kept */

void seen_clear(struct seen *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		sparse_release(&s->list.at[i].set);
	s->list.n = 0;
	s->is_blind = false;
}

void seen_release(struct seen *s)
{
	seen_clear(s);
	vec_release(&s->list);
}

void seen_add(struct seen *s, const struct state_set *set, const uint64_t *left,
	      const struct verdict *v, uint64_t printed)
{
	struct seen_run *run;

	if (s->list.n == SEEN_MAX || v->why_unsound)
		return;
	run = vec_add(&s->list);
	*run = (struct seen_run){ .kind = v->kind,
				  .code = v->code,
				  .site = v->site,
				  .printed = printed,
				  .is_brief = v->kind == VERDICT_HANG && v->result.is_brief };
	sparse_take_shorter(&run->set, set, left);
}

static size_t count_lossy(const struct state_set *set, const uint64_t *state)
{
	size_t n = 0;

	for (size_t i = 0; i < set->lines.n; i++)
		n += !bit_get(state + set->lines.at[i].set, set->lines.at[i].ncontents - 1);
	return n;
}

/* Does the set contain the state? nlossy: number of lines in which the state loses something. */
static bool includes(const struct sparse_set *p, const struct state_set *set, const uint64_t *state,
		     size_t nlossy)
{
	size_t nfound = 0;

	if (p->base == SPARSE_NEWEST && p->parts.n < nlossy)
		return false;
	for (size_t i = 0; i < p->parts.n; i++) {
		const struct state_line *l = &set->lines.at[p->parts.at[i].line];
		const uint32_t content = states_newest_left(l, state);

		if (!bit_get(p->words.at + p->parts.at[i].at, content))
			return false;
		nfound += content != l->ncontents - 1;
	}
	return p->base == SPARSE_ALL || nfound == nlossy;
}

static const struct seen_run *find(const struct seen *s, const struct state_set *set,
				   const uint64_t *state, bool takes_brief)
{
	const size_t nlossy = count_lossy(set, state);

	for (size_t i = 0; i < s->list.n; i++)
		if ((takes_brief || !s->list.at[i].is_brief) &&
		    includes(&s->list.at[i].set, set, state, nlossy))
			return &s->list.at[i];
	return NULL;
}

bool seen_find(const struct seen *s, const struct state_set *set, const uint64_t *state,
	       bool takes_brief, struct verdict *v)
{
	const struct seen_run *run = find(s, set, state, takes_brief);

	if (run)
		*v = (struct verdict){ .kind = run->kind, .code = run->code, .site = run->site };
	return run;
}

uint64_t seen_printed(const struct seen *s, const struct state_set *set, const uint64_t *state)
{
	const struct seen_run *run = find(s, set, state, false);

	return run ? run->printed : 0;
}
