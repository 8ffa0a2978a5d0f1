/* Expressions: whatever is built and simplified has the value that the plain operation has, and Z3 agrees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "explore/expr/expr.h"
#include "explore/path/solver.h"
#include "util/alloc.h"

#define NINPUTS 6
#define NVALUES 40

static const struct expr_memory memory = { xmalloc, free };

struct value {
	struct val val;
	unsigned width;
};

struct sample {
	struct expr_pool *pool;
	uint8_t input[NINPUTS];
	struct value values[NVALUES];
	size_t n;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL;
}

static struct value add(struct sample *s, struct val v, unsigned width)
{
	s->values[s->n] = (struct value){ v, width };
	return s->values[s->n++];
}

/* One that there is, or a constant, cut or extended to the width. */
static struct val pick(struct sample *s, unsigned width, uint64_t *r)
{
	struct value v = s->values[next_random(r) % s->n];

	if (next_random(r) % 5 == 0)
		return val_const((next_random(r) % 2 ? next_random(r) : next_random(r) % 9) & expr_mask(width));
	if (v.width > width)
		return expr_extract(s->pool, v.width, v.val, (unsigned)(next_random(r) % (v.width - width + 1)), width);
	return expr_extend(s->pool, next_random(r) % 2 ? EXPR_ZEXT : EXPR_SEXT, v.width, v.val, width);
}

/* Adds one operation on what there is, and compares its value with the plain one. */
static void grow(struct sample *s, uint64_t *r)
{
	static const unsigned widths[] = { 1, 8, 16, 32, 64, 7, 33 };
	unsigned width = widths[next_random(r) % 7], to;
	enum expr_op op = (enum expr_op)(EXPR_TABLE + next_random(r) % (EXPR_OPS - EXPR_TABLE));
	struct val a = pick(s, width, r), b = pick(s, width, r), c = pick(s, 1, r), got;
	struct expr plain = { .op = (uint8_t)op, .width = (uint8_t)width };
	struct expr_pool *p = s->pool;
	uint64_t entries[EXPR_TABLE_ENTRIES], x[3] = { a.v, b.v, 0 };
	uint32_t constant;

	if (op >= EXPR_EQ && op <= EXPR_SLE)
		plain.width = 1;
	if (op >= EXPR_ADD && op <= EXPR_SLE) {
		got = expr_binary(p, op, width, a, b);
	} else if (op >= EXPR_NOT && op <= EXPR_POPCNT) {
		got = expr_unary(p, op, width, a);
	} else if (op == EXPR_ITE) {
		got = expr_ite(p, width, c, a, b);
		x[0] = c.v, x[1] = a.v, x[2] = b.v;
	} else if (op == EXPR_CONCAT) {
		a = pick(s, 20, r);
		b = pick(s, 12, r);
		got = expr_concat(p, 20, a, 12, b);
		assert_int_equal(got.v, a.v << 12 | b.v);
		add(s, got, 32);
		return;
	} else if (op == EXPR_TABLE) {
		for (unsigned i = 0; i < EXPR_TABLE_ENTRIES; i++)
			entries[i] = (i / 7 * 0x01010101u) & 0xffff;
		a = pick(s, 8, r);
		got = expr_lookup(p, expr_table_add(p, entries), 16, a);
		assert_int_equal(got.v, entries[a.v]);
		add(s, got, 16);
		return;
	} else if (op == EXPR_EXTRACT) {
		to = 1 + (unsigned)(next_random(r) % width);
		plain.k = next_random(r) % (width - to + 1);
		got = expr_extract(p, width, a, (unsigned)plain.k, to);
		assert_int_equal(got.v, a.v >> plain.k & expr_mask(to));
		add(s, got, to);
		return;
	} else {
		to = width + (unsigned)(next_random(r) % (65 - width));
		got = expr_extend(p, op, width, a, to);
		plain.width = (uint8_t)to;
	}
	/* operands only tell their widths here */
	constant = expr_raw(p, &(struct expr){ .op = EXPR_CONST, .width = (uint8_t)(op == EXPR_ITE ? 1 : width) });
	plain.arg[0] = plain.arg[1] = constant;
	assert_int_equal(got.v, expr_compute(p, &plain, x));
	add(s, got, plain.width);
}

static void sample_make(struct sample *s, uint64_t *r)
{
	*s = (struct sample){ .pool = expr_pool_new(memory) };
	for (unsigned i = 0; i < NINPUTS; i++) {
		s->input[i] = (uint8_t)(next_random(r) % 3 ? next_random(r) : 0);
		add(s, expr_input(s->pool, i, s->input[i]), 8);
	}
	while (s->n < NVALUES)
		grow(s, r);
}

/* Every node's value, computed again from the inputs alone: that is what the driver does with a file. */
static void nodes_check(struct sample *s, const uint8_t *input, bool is_same_input)
{
	uint32_t n = expr_count(s->pool);
	uint64_t *values = xcalloc(n + 1, sizeof *values);

	for (uint32_t id = 1; id <= n; id++) {
		const struct expr *e = expr_at(s->pool, id);
		uint64_t x[3] = { values[e->arg[0]], values[e->arg[1]], values[e->arg[2]] };

		assert_true(e->arg[0] < id && e->arg[1] < id && e->arg[2] < id);
		assert_int_equal(expr_raw(s->pool, e), id); /* well formed, and kept once */
		values[id] = e->op == EXPR_INPUT ? input[e->k] : expr_compute(s->pool, e, x);
		if (is_same_input)
			assert_int_equal(values[id], e->value);
	}
	free(values);
}

static void test_values(void **state)
{
	uint64_t r = 0x1234567;
	struct sample s;

	(void)state;
	for (int i = 0; i < 300; i++) {
		sample_make(&s, &r);
		nodes_check(&s, s.input, true);
		expr_pool_free(s.pool);
	}
}

/* The same operations on another input: what was simplified for one input must hold for all. */
static void test_other_input(void **state)
{
	uint64_t r = 99, seed;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct sample s;
		uint64_t *values;
		struct val expected[NVALUES];
		uint8_t other[NINPUTS];

		seed = next_random(&r);
		sample_make(&s, &(uint64_t){ seed });
		/* build once more in a second pool with other bytes: the shapes are equal, the values are that input's */
		{
			struct sample t = { .pool = expr_pool_new(memory) };
			uint64_t again = seed;

			for (unsigned j = 0; j < NINPUTS; j++) {
				if (next_random(&again) % 3)
					next_random(&again);
				other[j] = (uint8_t)(s.input[j] * 5 + 17 * j + 1);
				add(&t, expr_input(t.pool, j, other[j]), 8);
			}
			while (t.n < NVALUES)
				grow(&t, &again);
			for (unsigned j = 0; j < NVALUES; j++)
				expected[j] = t.values[j].val;
			expr_pool_free(t.pool);
		}
		values = xcalloc(expr_count(s.pool) + 1, sizeof *values);
		for (uint32_t id = 1; id <= expr_count(s.pool); id++) {
			const struct expr *e = expr_at(s.pool, id);
			uint64_t x[3] = { values[e->arg[0]], values[e->arg[1]], values[e->arg[2]] };

			values[id] = e->op == EXPR_INPUT ? other[e->k] : expr_compute(s.pool, e, x);
		}
		for (unsigned j = 0; j < NVALUES; j++)
			assert_int_equal(s.values[j].val.id ? values[s.values[j].val.id] : s.values[j].val.v, expected[j].v);
		free(values);
		expr_pool_free(s.pool);
	}
}

static void test_simplified(void **state)
{
	struct expr_pool *p = expr_pool_new(memory);
	struct val b[4], x, y;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		b[i] = expr_input(p, i, (uint8_t)(i + 1));
	x = expr_concat(p, 8, b[3], 24, expr_concat(p, 8, b[2], 16, expr_concat(p, 8, b[1], 8, b[0])));
	assert_int_equal(x.v, 0x04030201);
	/* cut, joined again */
	y = expr_concat(p, 16, expr_extract(p, 32, x, 16, 16), 16, expr_extract(p, 32, x, 0, 16));
	assert_int_equal(y.id, x.id);
	assert_int_equal(expr_extract(p, 32, expr_binary(p, EXPR_LSHR, 32, x, val_const(8)), 0, 8).id, b[1].id);
	assert_int_equal(expr_binary(p, EXPR_SUB, 32, x, x).id, 0);
	assert_int_equal(expr_extract(p, 32, expr_binary(p, EXPR_AND, 32, x, val_const(0xff00)), 8, 8).id, b[1].id);
	/* parts that are no neighbours stay apart */
	y = expr_binary(p, EXPR_UDIV, 32, x, val_const(3));
	assert_int_equal(expr_concat(p, 8, expr_extract(p, 32, y, 24, 8), 8, expr_extract(p, 32, y, 8, 8)).v, (y.v >> 24 << 8) | (y.v >> 8 & 0xff));
	assert_int_equal(expr_concat(p, 8, expr_extract(p, 32, y, 16, 8), 8, expr_extract(p, 32, y, 8, 8)).id, expr_extract(p, 32, y, 8, 16).id);
	/* widened and compared with what does not fit */
	assert_int_equal(expr_binary(p, EXPR_EQ, 32, expr_extend(p, EXPR_ZEXT, 8, b[0], 32), val_const(256)).v, 0);
	assert_int_equal(expr_raw(p, &(struct expr){ .op = EXPR_ADD, .width = 8, .arg = { b[0].id, x.id } }), 0);
	assert_int_equal(expr_raw(p, &(struct expr){ .op = EXPR_OPS, .width = 8 }), 0);
	assert_int_equal(expr_raw(p, &(struct expr){ .op = EXPR_TABLE, .width = 8, .k = 7, .arg = { b[0].id } }), 0);
	expr_pool_free(p);
}

static void ignore(void *arg, uint64_t index, uint8_t value)
{
	(void)arg, (void)index, (void)value;
}

/* On the inputs as they are, each expression has its value and no other. */
static void test_z3(void **state)
{
	const struct solver_api *api = *state;
	uint64_t r = 4711;

	for (int i = 0; i < 3; i++) {
		struct solver_term terms[NINPUTS + 1];
		struct solver *solver;
		struct sample s;

		sample_make(&s, &r);
		solver = api->open(s.pool, 60000);
		for (unsigned j = 0; j < NINPUTS; j++)
			terms[j] = (struct solver_term){
				expr_binary(s.pool, EXPR_EQ, 8, s.values[j].val, val_const(s.input[j])).id, true };
		for (size_t j = NINPUTS; j < s.n; j++) {
			struct val eq = expr_binary(s.pool, EXPR_EQ, s.values[j].width, s.values[j].val, val_const(s.values[j].val.v));

			if (!eq.id)
				continue;
			terms[NINPUTS] = (struct solver_term){ eq.id, true };
			assert_int_equal(api->ask(solver, terms, NINPUTS + 1, ignore, NULL), SOLVER_YES);
			terms[NINPUTS].is_true = false;
			assert_int_equal(api->ask(solver, terms, NINPUTS + 1, ignore, NULL), SOLVER_NO);
		}
		api->close(solver);
		expr_pool_free(s.pool);
	}
}

static void note(void *arg, uint64_t index, uint8_t value)
{
	((uint8_t *)arg)[index] = value;
}

static void test_model(void **state)
{
	const struct solver_api *api = *state;
	struct expr_pool *p = expr_pool_new(memory);
	struct val a = expr_input(p, 0, 0), b = expr_input(p, 1, 0), wide;
	struct solver *solver = api->open(p, 60000);
	uint8_t bytes[2] = { 0 };
	struct solver_term t;

	wide = expr_concat(p, 8, b, 8, a);
	t = (struct solver_term){ expr_binary(p, EXPR_EQ, 16, expr_binary(p, EXPR_MUL, 16, wide, val_const(3)), val_const(0x3969)).id, true };
	assert_int_equal(api->ask(solver, &t, 1, note, bytes), SOLVER_YES);
	assert_int_equal((uint16_t)((bytes[1] << 8 | bytes[0]) * 3), 0x3969);
	api->close(solver);
	expr_pool_free(p);
}

/* The shared object as `all` builds it, found from the test's own place. */
static int solver_find(void **state)
{
	char exe[4096], *path;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	struct error err;

	for (int slashes = 0; n > 0 && slashes < 3;)
		slashes += exe[--n] == '/';
	exe[n] = '\0';
	path = xasprintf("%s/libexec/pmend/libpmend_solver.so", exe);
	*state = (void *)(uintptr_t)solver_api_load(path, &err);
	free(path);
	if (!*state)
		print_error("%s\n", err.msg);
	return *state ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest plain[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_other_input),
		cmocka_unit_test(test_simplified),
	};
	const struct CMUnitTest solved[] = {
		cmocka_unit_test(test_z3),
		cmocka_unit_test(test_model),
	};
	int failed = cmocka_run_group_tests(plain, NULL, NULL);

	return failed + cmocka_run_group_tests(solved, solver_find, NULL);
}
