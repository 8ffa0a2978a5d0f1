/* See stored.h. */
#include "crash/races/novelty.h"

#include "crash/races/race_table.h"

#define CACHE_LINE 64u
#define LINES_MAX 512u

/* Bytes of a line that were stored. */
struct touched {
	uint64_t addr, mask, last_seq;
};

struct search {
	struct map by_line; /* index plus 1 */
	VEC(struct touched) lines;
};

static void note_store(struct search *s, const struct trace_event *ev)
{
	for (uint64_t at = ev->addr, end = ev->addr + ev->data_len; at < end; at = (at / CACHE_LINE + 1) * CACHE_LINE) {
		const uint64_t line = at / CACHE_LINE * CACHE_LINE, to = end - line < CACHE_LINE ? end - line : CACHE_LINE;
		size_t index = (size_t)map_get(&s->by_line, line);

		if (!index) {
			*vec_add(&s->lines) = (struct touched){ .addr = line };
			index = s->lines.n;
			map_set(&s->by_line, line, (void *)index);
		}
		s->lines.at[index - 1].last_seq = ev->seq;
		s->lines.at[index - 1].mask |= ~(uint64_t)0 >> (CACHE_LINE - (to - (at - line))) << (at - line);
	}
}

static int compare_recency(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;

	return x->last_seq != y->last_seq ? (x->last_seq < y->last_seq) - (x->last_seq > y->last_seq) : (x->addr > y->addr) - (x->addr < y->addr);
}

int stored_watch(struct state_set *set, const struct walk *w, struct error *err)
{
	struct search s = { 0 };
	struct trace_event ev;
	struct trace *t;

	if (trace_open(&t, w->plan->path, err) < 0)
		return -1;
	while (trace_next(t, &ev) && ev.seq < w->seq)
		if (trace_is_store(ev.kind))
			note_store(&s, &ev);
	trace_close(t);
	if (s.lines.n > LINES_MAX)
		qsort(s.lines.at, s.lines.n, sizeof *s.lines.at, compare_recency);
	for (size_t i = 0; i < s.lines.n && i < LINES_MAX; i++)
		states_watch(set, &w->image, s.lines.at[i].addr, s.lines.at[i].mask);
	map_release(&s.by_line);
	vec_release(&s.lines);
	return 0;
}

/* ---- the first time ---- */

void novelty_release(struct novelty *n)
{
	vec_release(&n->sites);
}

struct step {
	struct novelty *novelty;
	uint64_t point;
	bool is_novel;
};

/* NULL: it does not count. */
static struct novelty_site *site_of(struct novelty *n, const struct model_store *s)
{
	const uint32_t number = s->site ? s->site->id : 0;

	if (number < n->nignored && n->ignored[number])
		return NULL;
	while (n->sites.n <= number)
		*vec_add(&n->sites) = (struct novelty_site){ 0 };
	return &n->sites.at[number];
}

static void note_site(const struct model_store *s, void *arg)
{
	struct step *step = arg;
	struct novelty_site *site = site_of(step->novelty, s);

	if (!site || (site->npoints > 0 && site->point == step->point))
		return;
	step->is_novel |= site->npoints < RACE_TRIES;
	site->point = step->point;
	site->npoints++;
}

bool novelty_step(struct novelty *n, const struct walk *w)
{
	struct step step = { n, w->point, false };

	model_each(w->model, 0, UINT64_MAX, note_site, &step);
	return step.is_novel;
}

bool novelty_note(struct novelty *n, const struct model_store *s)
{
	struct novelty_site *site = site_of(n, s);
	const bool is_first = site && !site->is_noted;

	if (is_first)
		site->is_noted = true;
	return is_first;
}
