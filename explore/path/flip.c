/* Asks a solver for the other side of a branch. Conditions are grouped by the input bytes that they share, and only the group of the branch is asked. */
#include "explore/path/flip.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore/path/linear.h"
#include "util/map.h"

struct answer {
	enum solver_answer what;
	size_t n;
	struct assignment {
		uint64_t index;
		uint8_t value;
	} bytes[];
};

struct bytes_of { /* the input bytes that an expression is about */
	size_t n;
	uint32_t index[];
};

struct flipper {
	const struct solver_api *api;
	struct expr_pool *pool;
	struct solver *solver;
	struct map bytes;   /* by expression: struct bytes_of */
	struct map answers; /* by query: struct answer */
	VEC(uint32_t) seen, todo, found, group;
	uint32_t round;
	VEC(struct solver_term) terms;
	size_t nfixed; /* of them, in front */
	VEC(struct assignment) model, fixed;
	linear_parts parts;
	struct flip_stats stats;
};

struct flipper *flipper_new(const struct solver_api *api, struct expr_pool *pool, unsigned timeout_ms)
{
	struct flipper *f = xcalloc(1, sizeof *f);

	f->api = api;
	f->pool = pool;
	f->solver = api->open(pool, timeout_ms);
	return f;
}

static void map_free(struct map *m)
{
	for (size_t i = 0; i < m->room; i++)
		free(m->slots[i].value);
	map_release(m);
}

void flipper_free(struct flipper *f)
{
	f->api->close(f->solver);
	map_free(&f->bytes);
	map_free(&f->answers);
	vec_release(&f->seen);
	vec_release(&f->todo);
	vec_release(&f->found);
	vec_release(&f->group);
	vec_release(&f->terms);
	vec_release(&f->model);
	vec_release(&f->fixed);
	vec_release(&f->parts);
	free(f);
}

const struct flip_stats *flipper_stats(const struct flipper *f)
{
	return &f->stats;
}

/* ---- which bytes ---- */

static const struct bytes_of *bytes_of(struct flipper *f, uint32_t root)
{
	struct bytes_of *b = map_get(&f->bytes, root);

	if (b)
		return b;
	while (f->seen.n <= expr_count(f->pool))
		*vec_add(&f->seen) = 0;
	f->round++;
	f->found.n = f->todo.n = 0;
	*vec_add(&f->todo) = root;
	while (f->todo.n) {
		uint32_t id = f->todo.at[--f->todo.n];
		const struct expr *e = expr_at(f->pool, id);

		if (f->seen.at[id] == f->round)
			continue;
		f->seen.at[id] = f->round;
		if (e->op == EXPR_INPUT)
			*vec_add(&f->found) = (uint32_t)e->k;
		for (unsigned i = 0; i < expr_nargs(e->op); i++)
			*vec_add(&f->todo) = e->arg[i];
	}
	b = xmalloc(sizeof *b + f->found.n * sizeof b->index[0]);
	b->n = f->found.n;
	if (b->n)
		memcpy(b->index, f->found.at, b->n * sizeof b->index[0]);
	map_set(&f->bytes, root, b);
	return b;
}

/* ---- slicing: bytes that occur together are of one group ---- */

static uint32_t group_of(struct flipper *f, uint32_t byte)
{
	while (f->group.n <= byte) {
		uint32_t own = (uint32_t)f->group.n;

		*vec_add(&f->group) = own;
	}
	while (f->group.at[byte] != byte) {
		f->group.at[byte] = f->group.at[f->group.at[byte]];
		byte = f->group.at[byte];
	}
	return byte;
}

static void groups_join(struct flipper *f, const struct bytes_of *b)
{
	for (size_t i = 1; i < b->n; i++) {
		uint32_t x = group_of(f, b->index[0]), y = group_of(f, b->index[i]);

		f->group.at[x] = y;
	}
}

static bool term_is_new(const struct flipper *f, struct solver_term t)
{
	for (size_t i = 0; i < f->terms.n; i++)
		if (f->terms.at[i].id == t.id && f->terms.at[i].is_true == t.is_true)
			return false;
	return true;
}

static void fixed_add(struct flipper *f, uint32_t group)
{
	for (size_t i = 0; i < f->fixed.n; i++) {
		const struct assignment *a = &f->fixed.at[i];

		if (group_of(f, (uint32_t)a->index) == group)
			*vec_add(&f->terms) = (struct solver_term){
				expr_binary(f->pool, EXPR_EQ, 8, expr_input(f->pool, a->index, 0), val_const(a->value)).id, true };
	}
}

/* The terms of the steps that have to do with the last one. What is fixed comes first. */
static void slice(struct flipper *f, const struct path *p, size_t step, bool has_pins)
{
	uint32_t group;

	f->group.n = 0;
	for (size_t i = 0; i <= step; i++)
		groups_join(f, bytes_of(f, p->steps.at[i].term.id));
	f->terms.n = f->nfixed = 0;
	if (bytes_of(f, p->steps.at[step].term.id)->n == 0)
		return;
	group = group_of(f, bytes_of(f, p->steps.at[step].term.id)->index[0]);
	fixed_add(f, group);
	f->nfixed = f->terms.n;
	for (size_t i = 0; i < step; i++) {
		const struct bytes_of *b = bytes_of(f, p->steps.at[i].term.id);

		if (p->steps.at[i].kind == PATH_TARGET)
			continue;
		if (!has_pins && (p->steps.at[i].kind == PATH_ADDRESS || p->steps.at[i].kind == PATH_JUMP))
			continue;
		if (b->n && group_of(f, b->index[0]) == group && term_is_new(f, p->steps.at[i].term))
			*vec_add(&f->terms) = p->steps.at[i].term;
	}
}

void flipper_fix(struct flipper *f, uint64_t index, uint8_t value)
{
	*vec_add(&f->fixed) = (struct assignment){ index, value };
}

bool flipper_allows(const struct flipper *f, const uint8_t *input, size_t len_bytes)
{
	for (size_t i = 0; i < f->fixed.n; i++)
		if (f->fixed.at[i].index < len_bytes && input[f->fixed.at[i].index] != f->fixed.at[i].value)
			return false;
	return true;
}

/* ---- asking ---- */

static int terms_compare(const void *a, const void *b)
{
	const struct solver_term *x = a, *y = b;

	return x->id != y->id ? (x->id < y->id ? -1 : 1) : (int)x->is_true - (int)y->is_true;
}

static uint64_t query_hash(struct flipper *f)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	qsort(f->terms.at, f->terms.n, sizeof f->terms.at[0], terms_compare);
	for (size_t i = 0; i < f->terms.n; i++) {
		h = (h ^ ((uint64_t)f->terms.at[i].id << 1 | f->terms.at[i].is_true)) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 31;
	}
	return h;
}

static void note(void *arg, uint64_t index, uint8_t value)
{
	struct flipper *f = arg;

	*vec_add(&f->model) = (struct assignment){ index, value };
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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
	start = now_s();
	f->model.n = 0;
	a = xmalloc(sizeof *a);
	a->what = f->api->ask(f->solver, f->terms.at, f->terms.n, note, f);
	a->n = a->what == SOLVER_YES ? f->model.n : 0;
	a = xrealloc(a, sizeof *a + a->n * sizeof a->bytes[0], 1);
	if (a->n)
		memcpy(a->bytes, f->model.at, a->n * sizeof a->bytes[0]);
	map_set(&f->answers, hash, a);
	f->stats.queries++;
	f->stats.no += a->what == SOLVER_NO;
	f->stats.unknown += a->what == SOLVER_UNKNOWN;
	f->stats.solver_s += now_s() - start;
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

/* An equation of a sum with a constant, turned round: adds what would make it true. False: it is none. */
static bool hint_add(struct flipper *f, struct solver_term wanted, const uint8_t *input, size_t len_bytes)
{
	const struct expr *e = expr_at(f->pool, wanted.id);
	uint32_t sum, constant;

	if (e->op != EXPR_EQ || !wanted.is_true)
		return false;
	sum = e->arg[expr_at(f->pool, e->arg[0])->op == EXPR_CONST];
	constant = e->arg[expr_at(f->pool, e->arg[0])->op != EXPR_CONST];
	if (expr_at(f->pool, constant)->op != EXPR_CONST || !linear_solve(f->pool, sum, expr_at(f->pool, constant)->k, input, len_bytes, &f->parts))
		return false;
	for (size_t i = 0; i < f->parts.n; i++) {
		const struct linear_part *p = &f->parts.at[i];
		struct val same = expr_binary(f->pool, EXPR_EQ, expr_at(f->pool, p->id)->width, (struct val){ p->id, 0 }, val_const(p->value));

		if (same.id)
			*vec_add(&f->terms) = (struct solver_term){ same.id, true };
	}
	return true;
}

bool flipper_is_repeated(struct flipper *f, const struct path *p, size_t step)
{
	slice(f, p, step, true);
	return !term_is_new(f, p->steps.at[step].term);
}

enum solver_answer flipper_ask(struct flipper *f, const struct path *p, size_t step, const uint64_t *targets, size_t ntargets, uint8_t *input,
			       size_t len_bytes)
{
	const struct path_step *s = &p->steps.at[step];
	struct solver_term wanted = { s->term.id, !s->term.is_true };

	slice(f, p, step, true);
	if (!term_is_new(f, s->term))
		return SOLVER_NO; /* it held before already */
	*vec_add(&f->terms) = wanted;
	if (hint_add(f, wanted, input, len_bytes)) {
		if (answer_use(f, input, len_bytes) == SOLVER_YES)
			return SOLVER_YES;
		slice(f, p, step, true);
		*vec_add(&f->terms) = wanted;
	}
	for (size_t i = 0; i < ntargets; i++) {
		struct val same = expr_binary(f->pool, EXPR_EQ, expr_at(f->pool, s->target)->width, (struct val){ s->target, 0 },
					      val_const(targets[i]));

		if (same.id)
			*vec_add(&f->terms) = (struct solver_term){ same.id, false };
	}
	return answer_use(f, input, len_bytes);
}

enum solver_answer flipper_guess(struct flipper *f, const struct path *p, size_t step, uint8_t *input, size_t len_bytes)
{
	struct solver_term first = p->steps.at[step].term;
	double start = now_s();
	enum solver_answer what;

	first.is_true = !first.is_true;
	slice(f, p, step, false); /* what was taken as concrete need not stay */
	*vec_add(&f->terms) = first;
	if (f->nfixed + 1 < f->terms.n) { /* before those that may be left out */
		f->terms.at[f->terms.n - 1] = f->terms.at[f->nfixed];
		f->terms.at[f->nfixed] = first;
	}
	f->model.n = 0;
	what = f->api->ask_most(f->solver, f->terms.at, f->nfixed + 1, f->terms.n, note, f);
	for (size_t i = 0; what == SOLVER_YES && i < f->model.n; i++)
		if (f->model.at[i].index < len_bytes)
			input[f->model.at[i].index] = f->model.at[i].value;
	f->stats.queries++;
	f->stats.no += what == SOLVER_NO;
	f->stats.unknown += what == SOLVER_UNKNOWN;
	f->stats.solver_s += now_s() - start;
	return what;
}
