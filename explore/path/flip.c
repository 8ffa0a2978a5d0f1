/* Asks a solver for an input that takes the other side of a branch, together with the conditions
 * that are related to it (slice.h). Answers are kept by the hash of the query. */
#include "explore/path/flip.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore/path/linear.h"
#include "explore/path/slice.h"
#include "util/clock.h"

#define WORD_BOUNDS 4

struct answer {
	enum solver_answer what;
	size_t n;
	struct slice_byte bytes[];
};

struct flipper {
	const struct solver_api *api;
	struct expr_pool *pool;
	struct solver *solver;
	struct slice slice; /* the query */
	struct map answers; /* query hash → struct answer */
	VEC(struct slice_byte) model;
	linear_parts parts;
	struct flip_stats stats;
};

struct flipper *flipper_new(const struct solver_api *api, struct expr_pool *pool,
			    unsigned timeout_ms)
{
	struct flipper *f = xcalloc(1, sizeof *f);

	f->api = api;
	f->pool = f->slice.pool = pool;
	f->solver = api->open(pool, timeout_ms);
	return f;
}

void flipper_free(struct flipper *f)
{
	f->api->close(f->solver);
	slice_release(&f->slice);
	for (size_t i = 0; i < f->answers.room; i++)
		free(f->answers.slots[i].value);
	map_release(&f->answers);
	vec_release(&f->model);
	vec_release(&f->parts);
	free(f);
}

const struct flip_stats *flipper_stats(const struct flipper *f)
{
	return &f->stats;
}

void flipper_fix(struct flipper *f, uint64_t index, uint8_t value)
{
	*vec_add(&f->slice.fixed) = (struct slice_byte){ index, value };
}

uint32_t flipper_byte(struct flipper *f, uint32_t id)
{
	return slice_byte(&f->slice, id);
}

bool flipper_allows(const struct flipper *f, const uint8_t *input, size_t len_bytes)
{
	for (size_t i = 0; i < f->slice.fixed.n; i++)
		if (f->slice.fixed.at[i].index < len_bytes &&
		    input[f->slice.fixed.at[i].index] != f->slice.fixed.at[i].value)
			return false;
	return true;
}

/* ---- queries ---- */

static int terms_compare(const void *a, const void *b)
{
	const struct solver_term *x = a, *y = b;

	return x->id != y->id ? (x->id < y->id ? -1 : 1) : (int)x->is_true - (int)y->is_true;
}

static uint64_t query_hash(struct flipper *f)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	qsort(f->slice.terms.at, f->slice.terms.n, sizeof f->slice.terms.at[0], terms_compare);
	for (size_t i = 0; i < f->slice.terms.n; i++) {
		h = (h ^ ((uint64_t)f->slice.terms.at[i].id << 1 | f->slice.terms.at[i].is_true)) *
		    0x9e3779b97f4a7c15ULL;
		h ^= h >> 31;
	}
	return h;
}

static void note_byte(void *arg, uint64_t index, uint8_t value)
{
	struct flipper *f = arg;

	*vec_add(&f->model) = (struct slice_byte){ index, value };
}

static const struct answer *answer_get(struct flipper *f)
{
	uint64_t hash = query_hash(f);
	struct answer *a = map_get(&f->answers, hash);
	double start;

	if (a) {
		f->stats.cached++;
		return a;
	}
	start = clock_s();
	f->model.n = 0;
	a = xmalloc(sizeof *a);
	a->what = f->api->ask(f->solver, f->slice.terms.at, f->slice.terms.n, note_byte, f);
	a->n = a->what == SOLVER_YES ? f->model.n : 0;
	a = xrealloc(a, sizeof *a + a->n * sizeof a->bytes[0], 1);
	if (a->n)
		memcpy(a->bytes, f->model.at, a->n * sizeof a->bytes[0]);
	map_set(&f->answers, hash, a);
	f->stats.queries++;
	f->stats.no += a->what == SOLVER_NO;
	f->stats.unknown += a->what == SOLVER_UNKNOWN;
	f->stats.solver_s += clock_s() - start;
	return a;
}

static enum solver_answer answer_use(struct flipper *f, uint8_t *input, size_t len_bytes)
{
	const struct answer *a = answer_get(f);

	for (size_t i = 0; i < a->n; i++)
		if (a->bytes[i].index < len_bytes)
			input[a->bytes[i].index] = a->bytes[i].value;
	return a->what;
}

/* Adds hints for a condition `sum == constant`: the value that each part of the sum should have.
 * False if the condition has another form, or no solution is found. */
static bool hint_add(struct flipper *f, struct solver_term wanted, const uint8_t *input,
		     size_t len_bytes)
{
	const struct expr *e = expr_at(f->pool, wanted.id);
	uint32_t sum, constant;

	if (e->op != EXPR_EQ || !wanted.is_true)
		return false;
	sum = e->arg[expr_at(f->pool, e->arg[0])->op == EXPR_CONST];
	constant = e->arg[expr_at(f->pool, e->arg[0])->op != EXPR_CONST];
	if (expr_at(f->pool, constant)->op != EXPR_CONST ||
	    !linear_solve(f->pool, sum, expr_at(f->pool, constant)->k, input, len_bytes, &f->parts))
		return false;
	for (size_t i = 0; i < f->parts.n; i++) {
		const struct linear_part *p = &f->parts.at[i];
		struct val same = expr_binary(f->pool, EXPR_EQ, expr_at(f->pool, p->id)->width,
					      (struct val){ p->id, 0 }, val_const(p->value));

		if (same.id)
			*vec_add(&f->slice.terms) = (struct solver_term){ same.id, true };
	}
	return true;
}

/* Gives the largest length or number that a word may have in an attempt: in the first attempt about
 * its present one, then more, then as much as there is room for. */
static uint64_t word_most(const struct path_word *w, size_t len_bytes, unsigned bound)
{
	static const uint64_t numbers[WORD_BOUNDS] = { 9, 999, UINT16_MAX, UINT64_MAX };

	if (w->is_number)
		return bound == 0 && w->nbytes == 2 ? 99 : numbers[bound];
	return bound < WORD_BOUNDS - 1 ? w->nbytes + (2u << 2 * bound) : len_bytes;
}

/* Adds limits for the lengths and numbers of words to the query, because a longer word must fit
 * into the input. False if the query is about no word. */
static bool words_bound(struct flipper *f, const struct path *p, size_t len_bytes, unsigned bound)
{
	bool has_any = false;

	for (size_t i = 0; i < p->words.n; i++) {
		const struct path_word *w = &p->words.at[i];
		struct val v;

		if (!slice_is_about(&f->slice, (uint32_t)w->at))
			continue;
		has_any = true;
		v = expr_input(f->pool, w->at, (uint8_t)w->value);
		for (unsigned b = 1; b < 8; b++)
			v = expr_concat(
				f->pool, 8,
				expr_input(f->pool, w->at + b, (uint8_t)(w->value >> 8 * b)), 8 * b,
				v);
		v = expr_binary(f->pool, EXPR_ULE, 64, v,
				val_const(word_most(w, len_bytes, bound)));
		if (v.id)
			*vec_add(&f->slice.terms) = (struct solver_term){ v.id, true };
	}
	return has_any;
}

bool flipper_is_repeated(struct flipper *f, const struct path *p, size_t step)
{
	slice_make(&f->slice, p, step, true);
	return slice_has(&f->slice, p->steps.at[step].term);
}

enum solver_answer flipper_ask(struct flipper *f, const struct path *p, size_t step,
			       const uint64_t *targets, size_t ntargets, uint8_t *input,
			       size_t len_bytes)
{
	const struct path_step *s = &p->steps.at[step];
	struct solver_term wanted = { s->term.id, !s->term.is_true };

	slice_make(&f->slice, p, step, true);
	if (slice_has(&f->slice, s->term))
		return SOLVER_NO; /* the other side contradicts an earlier equal condition */
	*vec_add(&f->slice.terms) = wanted;
	if (hint_add(f, wanted, input, len_bytes)) {
		if (answer_use(f, input, len_bytes) == SOLVER_YES)
			return SOLVER_YES;
		slice_make(&f->slice, p, step, true);
		*vec_add(&f->slice.terms) = wanted;
	}
	for (unsigned bound = 0; bound < WORD_BOUNDS && words_bound(f, p, len_bytes, bound);
	     bound++) {
		enum solver_answer answer = answer_use(f, input, len_bytes);

		if (answer == SOLVER_YES || bound == WORD_BOUNDS - 1)
			return answer;
		slice_make(&f->slice, p, step, true);
		*vec_add(&f->slice.terms) = wanted;
	}
	for (size_t i = 0; i < ntargets; i++) {
		struct val same = expr_binary(f->pool, EXPR_EQ, expr_at(f->pool, s->target)->width,
					      (struct val){ s->target, 0 }, val_const(targets[i]));

		if (same.id)
			*vec_add(&f->slice.terms) = (struct solver_term){ same.id, false };
	}
	return answer_use(f, input, len_bytes);
}

enum solver_answer flipper_guess(struct flipper *f, const struct path *p, size_t step,
				 uint8_t *input, size_t len_bytes)
{
	struct solver_term first = p->steps.at[step].term;
	double start = clock_s();
	enum solver_answer what;

	first.is_true = !first.is_true;
	slice_make(&f->slice, p, step, false); /* values that were taken as concrete may change */
	*vec_add(&f->slice.terms) = first;
	/* place it before the conditions that may be left out */
	if (f->slice.nfixed + 1 < f->slice.terms.n) {
		f->slice.terms.at[f->slice.terms.n - 1] = f->slice.terms.at[f->slice.nfixed];
		f->slice.terms.at[f->slice.nfixed] = first;
	}
	f->model.n = 0;
	what = f->api->ask_most(f->solver, f->slice.terms.at, f->slice.nfixed + 1, f->slice.terms.n,
				note_byte, f);
	for (size_t i = 0; what == SOLVER_YES && i < f->model.n; i++)
		if (f->model.at[i].index < len_bytes)
			input[f->model.at[i].index] = f->model.at[i].value;
	f->stats.queries++;
	f->stats.no += what == SOLVER_NO;
	f->stats.unknown += what == SOLVER_UNKNOWN;
	f->stats.solver_s += clock_s() - start;
	return what;
}
