/* Runs recovery on the final state and watches all bytes that are not durable there. A read of such
 * bytes counts, unless recovery has overwritten them before; overwritten bytes are known per line.
 * Reads of a dump or checker count as well, but not those of --then. */
#include "crash/uses.h"

#include <stdlib.h>

#include "util/map.h"

void uses_release(struct uses *u)
{
	vec_release(&u->list);
}

static void ask(const struct model_store *s, void *arg)
{
	store_asked_list *list = arg;

	if (!s->is_overwritten)
		*vec_add(list) = (struct store_asked){ s->addr, s->seq, s->size_bytes,
						       site_id(s->site), STORE_UNTOUCHED };
}

/* Was a byte of the store read? Bit i of the mask is the byte at from + i. */
static bool is_read(const struct store_asked *a, uint64_t from, uint64_t mask)
{
	for (uint64_t addr = a->addr > from ? a->addr : from;
	     addr < a->addr + a->size_bytes && addr < from + 64; addr++)
		if (mask >> (addr - from) & 1)
			return true;
	return false;
}

static void watch(struct state_set *set, const struct crash_image *image,
		  const store_asked_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		for (uint32_t k = 0; k < list->at[i].size_bytes; k += 8)
			states_watch(set, image, list->at[i].addr + k,
				     list->at[i].size_bytes - k < 8
					     ? (1u << (list->at[i].size_bytes - k)) - 1
					     : 0xff);
	states_sort(set);
}

static int compare_asked(const void *a, const void *b)
{
	const struct store_asked *x = a, *y = b;

	return x->addr != y->addr ? (x->addr > y->addr) - (x->addr < y->addr)
				  : (x->seq > y->seq) - (x->seq < y->seq);
}

/* The index of the first store that may reach addr; the list is sorted. */
static size_t first_at(const store_asked_list *list, uint64_t addr)
{
	size_t from = 0, to = list->n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (list->at[middle].addr + PMT_STORE_MAX_BYTES <= addr)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void note_reads(const struct state_set *set, const struct runner *r, const struct verdict *v,
		       store_asked_list *list)
{
	const struct run_decision *d;
	const size_t n = runner_decisions(r, &d);

	for (size_t i = 0; i < n; i++) {
		const uint64_t from = set->lines.at[d[i].line].addr + d[i].at;

		if (i >= v->ndecisions[PART_RECOVER] && i < v->ndecisions[PART_THEN])
			continue;
		for (size_t k = first_at(list, from); k < list->n && list->at[k].addr < from + 64;
		     k++)
			if (is_read(&list->at[k], from, d[i].mask))
				list->at[k].use = STORE_READ;
	}
}

static void note_writes(const struct state_set *set, const struct runner *r, store_asked_list *list)
{
	for (size_t k = 0; k < list->n; k++) {
		struct store_asked *a = &list->at[k];
		const struct state_line *l = states_line(set, a->addr);

		for (uint32_t i = 0; l && a->use == STORE_UNTOUCHED && i < a->size_bytes; i++)
			if (runner_is_written(r, (size_t)(l - set->lines.at),
					      (uint32_t)(a->addr - l->addr) + i))
				a->use = STORE_OVERWRITTEN;
	}
}

static int compare_used(const void *a, const void *b)
{
	const struct store_used *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Gives all stores of a site the most important use of any of them. */
static void conclude(const store_asked_list *list, struct uses *out)
{
	struct map most = { 0 }; /* site → 1 + the most important use of its stores */

	for (size_t i = 0; i < list->n; i++)
		if ((uintptr_t)map_get(&most, list->at[i].site) <= list->at[i].use)
			map_set(&most, list->at[i].site, (void *)((uintptr_t)list->at[i].use + 1));
	for (size_t i = 0; i < list->n; i++)
		*vec_add(&out->list) = (struct store_used){
			list->at[i].seq,
			(enum store_use)((uintptr_t)map_get(&most, list->at[i].site) - 1)
		};
	map_release(&most);
	if (out->list.n > 0)
		qsort(out->list.at, out->list.n, sizeof *out->list.at, compare_used);
}

static int run_watched(struct walk *w, const struct crash_options *o, store_asked_list *list,
		       bool *is_sound, struct error *err)
{
	struct runner *runner =
		runner_new(&o->runner, w->plan->mappings.at, w->plan->mappings.n, err);
	struct state_set set = { 0 };
	struct verdict v;
	uint64_t *newest;
	int result;

	if (!runner)
		return -1;
	if (list->n > 0)
		qsort(list->at, list->n, sizeof *list->at, compare_asked);
	states_collect_newest(&set, w->model);
	watch(&set, &w->image, list);
	newest = states_newest(&set);
	runner_load(runner, &w->image, &set);
	recovery_set_moment(o->recovery, runner, w->plan, UINT64_MAX);
	runner_set_deadline(runner, o->limits.deadline_ns);
	runner_begin(runner, newest, true);
	result = verdict_run(&v, runner, o->recovery, NULL, err);
	*is_sound = result == 0 && v.kind == VERDICT_OK && !v.why_unsound;
	if (*is_sound) {
		note_reads(&set, runner, &v, list);
		note_writes(&set, runner, list);
	} else if (result == 0 && v.why_unsound) {
		result = error_set(err, "%s", v.why_unsound);
	}
	free(newest);
	runner_free(runner);
	states_release(&set);
	return result;
}

static void walk_to_end(struct walk *w, const struct plan *p)
{
	walk_init(w, p, WALK_BOUNDARIES);
	while (walk_next(w))
		;
}

int uses_ask(const struct plan *p, const struct crash_options *o, store_asked_list *list,
	     bool *is_sound, struct error *err)
{
	struct walk w;
	int result = 0;

	*is_sound = false;
	if (o->recovery->ready)
		return 0;
	walk_to_end(&w, p);
	result = run_watched(&w, o, list, is_sound, err);
	walk_release(&w);
	return result;
}

int uses_find(const struct plan *p, const struct crash_options *o, struct uses *out,
	      struct error *err)
{
	store_asked_list list = { 0 };
	bool is_sound = false;
	struct walk w;
	int result = 0;

	walk_to_end(&w, p);
	model_each(w.model, 0, UINT64_MAX, ask, &list);
	if (list.n > 0 && !o->recovery->ready)
		result = run_watched(&w, o, &list, &is_sound, err);
	if (is_sound)
		conclude(&list, out);
	walk_release(&w);
	vec_release(&list);
	return result;
}

const struct store_used *uses_of(const struct uses *u, uint64_t seq)
{
	const struct store_used key = { .seq = seq };

	return u->list.n ? bsearch(&key, u->list.at, u->list.n, sizeof key, compare_used) : NULL;
}
