/* Lists the reads of recovery that had a choice. In this run, each line has the content of the
 * failing state, and the runtime watches its undecided bytes, so that their first read is listed
 * like a decision. Consecutive reads by one instruction of adjacent bytes count as one. */
#include "crash/search/choices.h"

#include <stdlib.h>
#include <string.h>

#include "crash/search/explorer_internal.h"
#include "crash/search/state_text.h"

void crash_choices_release(crash_choices *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct crash_choice *c = &list->at[i];

		for (size_t k = 0; k < c->values.n; k++) {
			free(c->values.at[k].bytes);
			vec_release(&c->values.at[k].lost);
		}
		vec_release(&c->values);
		vec_release(&c->stack);
	}
	vec_release(list);
}

/* ---- what is watched ---- */

/* Gives the bytes in which the line's contents differ, for 64 bytes from `from`, as a mask. */
static uint64_t undecided(const struct state_set *s, const struct state_line *l, uint32_t from)
{
	const uint8_t *newest = state_content(s, l, l->ncontents - 1) + from;
	uint64_t mask = 0;

	for (uint32_t c = 0; c + 1 < l->ncontents; c++) {
		const uint8_t *content = state_content(s, l, c) + from;

		if (memcmp(content, newest, 64) == 0)
			continue;
		for (uint32_t i = 0; i < 64; i++)
			mask |= (uint64_t)(content[i] != newest[i]) << i;
	}
	return mask;
}

static void watch_undecided(struct state_set *s, const struct crash_image *image)
{
	for (size_t i = 0; i < s->lines.n; i++)
		for (uint32_t from = 0; from < s->line_bytes; from += 64) {
			const uint64_t mask = undecided(s, &s->lines.at[i], from);

			if (mask)
				states_watch(s, image, s->lines.at[i].addr + from, mask);
		}
	states_sort(s);
}

/* ---- reads ---- */

static enum recovery_part part_of(const struct verdict *v, size_t decision)
{
	for (enum recovery_part part = PART_RECOVER; part < PART_N; part++)
		if (decision < v->ndecisions[part])
			return part;
	return v->part;
}

static bool is_same_place(const struct crash_choice *c, const struct run_decision *d,
			  enum recovery_part part)
{
	if (c->part != part || c->stack.n != d->nframes)
		return false;
	return d->nframes == 0 || memcmp(c->stack.at, d->stack, d->nframes * sizeof *d->stack) == 0;
}

/* Extends a read by the bytes of the next decision, if these continue the read in the same line.
 * False: they do not. */
static bool grow(struct crash_choice *c, const struct run_decision *d, enum recovery_part part,
		 uint64_t from, uint64_t end, uint32_t line_bytes)
{
	const uint64_t c_end = c->addr + c->len_bytes;

	if (!is_same_place(c, d, part) || c->addr / line_bytes != from / line_bytes ||
	    from > c_end || end < c->addr)
		return false;
	if (from < c->addr)
		c->addr = from;
	c->len_bytes = (uint32_t)((end > c_end ? end : c_end) - c->addr);
	return true;
}

static void read_add(crash_choices *list, const struct run_decision *d, enum recovery_part part,
		     uint64_t from, uint64_t end)
{
	struct crash_choice *c = vec_add(list);

	*c = (struct crash_choice){ .addr = from,
				    .len_bytes = (uint32_t)(end - from),
				    .part = part };
	for (uint32_t i = 0; i < d->nframes && i < RUN_STACK; i++)
		*vec_add(&c->stack) = d->stack[i];
}

static void collect_reads(const struct explorer *e, const struct state_set *s,
			  const struct verdict *v, crash_choices *list, uint64_t *nall)
{
	const struct run_decision *d;
	const size_t n = runner_decisions(e->runner, &d);
	bool is_last_kept = false;

	for (size_t i = 0; i < n; i++) {
		const enum recovery_part part = part_of(v, i);
		uint64_t from, end;

		if (d[i].nvalues != 1 || !d[i].mask)
			continue;
		from = s->lines.at[d[i].line].addr + d[i].at + (uint64_t)__builtin_ctzll(d[i].mask);
		end = s->lines.at[d[i].line].addr + d[i].at + 64 -
		      (uint64_t)__builtin_clzll(d[i].mask);
		if (is_last_kept &&
		    grow(&list->at[list->n - 1], &d[i], part, from, end, s->line_bytes))
			continue;
		++*nall;
		is_last_kept = list->n < CHOICES_MAX;
		if (is_last_kept)
			read_add(list, &d[i], part, from, end);
	}
}

/* ---- values ---- */

struct losing {
	const struct crash_choice *choice;
	struct choice_value *value;
};

static void add_lost(const struct model_lost *s, void *arg)
{
	const struct losing *l = arg;

	if (s->addr < l->choice->addr + l->choice->len_bytes &&
	    s->addr + s->size_bytes > l->choice->addr && l->value->lost.n < CHOICE_LOST_MAX)
		*vec_add(&l->value->lost) = (struct crash_store){ s->seq, site_id(s->site) };
}

static char *hex_of(const uint8_t *bytes, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *text = xmalloc(2 * (size_t)n + 1);

	for (uint32_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * n] = 0;
	return text;
}

/* Adds a value that the bytes can have. The value of the failing state is always listed. */
static void value_add(const struct explorer *e, const struct state_set *s,
		      const struct state_line *l, uint32_t content, bool is_taken,
		      struct crash_choice *c)
{
	struct choice_value *value;

	c->nvalues++;
	if (c->values.n == CHOICE_VALUES_MAX && !is_taken)
		return;
	if (c->values.n == CHOICE_VALUES_MAX) {
		value = &c->values.at[c->values.n - 1];
		free(value->bytes);
		vec_release(&value->lost);
	} else {
		value = vec_add(&c->values);
	}
	*value = (struct choice_value){
		.bytes = hex_of(state_content(s, l, content) + (c->addr - l->addr), c->len_bytes),
		.is_taken = is_taken
	};
	model_each_lost(e->walk->model, l->addr, state_content(s, l, content), add_lost,
			&(struct losing){ c, value });
}

static void collect_values(const struct explorer *e, const struct state_set *s,
			   const uint64_t *state, struct crash_choice *c)
{
	const struct state_line *l = states_line(s, c->addr);
	const size_t at = (size_t)(c->addr - l->addr);
	const uint8_t *taken = state_content(s, l, states_newest_left(l, state)) + at;

	for (uint32_t i = l->ncontents; i-- > 0;) {
		const uint8_t *content = state_content(s, l, i) + at;
		bool is_known = false;

		for (uint32_t newer = i + 1; newer < l->ncontents && !is_known; newer++)
			is_known =
				memcmp(content, state_content(s, l, newer) + at, c->len_bytes) == 0;
		if (!is_known)
			value_add(e, s, l, i, memcmp(content, taken, c->len_bytes) == 0, c);
	}
}

/* ---- the run ---- */

static int run_watched(struct explorer *e, const struct state_set *s, const uint64_t *state,
		       const struct verdict *v, struct verdict *now, struct error *err)
{
	int result;

	runner_load(e->runner, &e->walk->image, s);
	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
	result = explorer_run(e, state, true, now, err);
	return result < 0 ? -1 : !now->why_unsound && verdict_same(now, v);
}

void choices_end(struct explorer *e, struct state_set *watched)
{
	states_release(watched);
	runner_load(e->runner, &e->walk->image, &e->set);
}

int choices_try(struct explorer *e, const char *text, const struct verdict *v, crash_choices *list,
		uint64_t *nall, struct verdict *now, struct state_set *watched, struct error *err)
{
	uint64_t *state = NULL;
	int result = 0;

	crash_choices_release(list);
	*nall = 0;
	*now = (struct verdict){ .why_unsound = "not run" };
	*watched = (struct state_set){ 0 };
	if (state_collect(watched, e->walk->model, text, err) == 0) {
		watch_undecided(watched, &e->walk->image);
		state = state_parse(watched, text, err);
	}
	if (state)
		result = run_watched(e, watched, state, v, now, err);
	if (result > 0) {
		collect_reads(e, watched, now, list, nall);
		for (size_t i = 0; i < list->n; i++)
			collect_values(e, watched, state, &list->at[i]);
	}
	free(state);
	return result < 0 ? -1 : 0;
}
