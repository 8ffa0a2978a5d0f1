/* The solver of the points-to analysis against a naive one, on random constraints: half of them are added after a first solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/alias/solve.h"
#include "util/alloc.h"

enum { VARIABLES = 8, OBJECTS = 4, FIELDS = 24, BYTES = 8, LOCATIONS = OBJECTS * FIELDS, NODES = VARIABLES + LOCATIONS, RULES = 22, CASES = 600 };
enum kind { POINT, COPY, LOAD, STORE, STEP, DUPLICATE, KINDS };

struct rule {
	enum kind kind;
	unsigned to, from; /* variables; an object for POINT */
};

/* Nodes: variables, then the content of each location. */
struct naive {
	bool points[NODES][LOCATIONS];
	bool is_there[LOCATIONS]; /* fields that something points to, or that were copied to */
	bool is_changed, is_too_far;
};

static void join(struct naive *n, unsigned to, unsigned from)
{
	for (unsigned l = 0; l < LOCATIONS; l++)
		if (n->points[from][l] && !n->points[to][l])
			n->points[to][l] = n->is_changed = true;
}

static unsigned moved(struct naive *n, unsigned location, unsigned fields)
{
	n->is_too_far |= location % FIELDS + fields >= FIELDS;
	location += n->is_too_far ? 0 : fields;
	n->is_changed |= !n->is_there[location];
	n->is_there[location] = true;
	return location;
}

static void copy_fields(struct naive *n, unsigned to, unsigned from)
{
	for (unsigned f = 0; from % FIELDS + f < FIELDS; f++)
		if (n->is_there[from + f])
			join(n, VARIABLES + moved(n, to, f), VARIABLES + from + f);
}

static void apply(struct naive *n, const struct rule *r)
{
	if (r->kind == COPY)
		join(n, r->to, r->from);
	for (unsigned l = 0; l < LOCATIONS; l++) {
		unsigned to;

		if (r->kind == POINT && l == r->from * FIELDS && !n->points[r->to][l])
			n->points[r->to][moved(n, l, 0)] = n->is_changed = true;
		if (r->kind == LOAD && n->points[r->from][l])
			join(n, r->to, VARIABLES + l);
		if (r->kind == STORE && n->points[r->to][l])
			join(n, VARIABLES + l, r->from);
		if (r->kind == STEP && n->points[r->from][l]) {
			to = moved(n, l, 1);
			n->is_changed |= !n->points[r->to][to];
			n->points[r->to][to] = true;
		}
		for (unsigned k = 0; r->kind == DUPLICATE && n->points[r->from][l] && k < LOCATIONS; k++)
			if (n->points[r->to][k])
				copy_fields(n, k, l);
	}
}

static void add(struct solver *s, const struct rule *r, const uint32_t *variables, const uint32_t *objects)
{
	uint32_t to = variables[r->to], from = variables[r->from];

	switch (r->kind) {
	case POINT: solver_point(s, to, solver_location(s, objects[r->from], 0)); break;
	case COPY: solver_copy(s, to, from); break;
	case LOAD: solver_load(s, to, from); break;
	case STORE: solver_store(s, to, from); break;
	case STEP: solver_step(s, to, from, BYTES); break;
	case DUPLICATE: solver_duplicate(s, to, from); break;
	case KINDS: break;
	}
}

static void compare(struct solver *s, const struct naive *n, const uint32_t *variables, const uint32_t *objects, unsigned number)
{
	for (unsigned v = 0; v < VARIABLES; v++) {
		bool found[LOCATIONS] = { false };
		const uint32_t *locations;
		size_t count = solver_locations(s, variables[v], &locations);

		for (size_t i = 0; i < count; i++) {
			int64_t offset;
			uint32_t object = solver_object_of(s, locations[i], &offset);

			for (unsigned o = 0; o < OBJECTS; o++)
				if (objects[o] == object && offset / BYTES < FIELDS)
					found[o * FIELDS + (unsigned)(offset / BYTES)] = true;
		}
		if (memcmp(found, n->points[v], sizeof found) != 0)
			fail_msg("variable %u of case %u", v, number);
	}
}

/* False: an object has too many fields to be told apart. */
static bool run_case(unsigned number)
{
	unsigned seed = number;
	struct rule rules[RULES];
	struct naive *n = xcalloc(1, sizeof *n);
	struct solver *s = solver_new(NULL, NULL);
	uint32_t variables[VARIABLES], objects[OBJECTS];
	bool is_told;

	for (unsigned i = 0; i < VARIABLES; i++)
		variables[i] = solver_node(s);
	for (unsigned i = 0; i < OBJECTS; i++)
		objects[i] = solver_object(s, SOLVE_HEAP, "o");
	for (unsigned i = 0; i < RULES; i++) {
		unsigned kind = i < OBJECTS ? POINT : (unsigned)rand_r(&seed) % 12;

		rules[i].kind = kind < 6 ? (enum kind)kind : kind < 8 ? COPY : kind < 10 ? LOAD : STORE;
		rules[i].to = (unsigned)rand_r(&seed) % VARIABLES;
		rules[i].from = (unsigned)rand_r(&seed) % (rules[i].kind == POINT ? OBJECTS : VARIABLES);
	}
	do {
		n->is_changed = false;
		for (unsigned i = 0; i < RULES; i++)
			apply(n, &rules[i]);
	} while (n->is_changed && !n->is_too_far);
	is_told = !n->is_too_far;
	for (unsigned i = 0; i < RULES && is_told; i++) {
		add(s, &rules[i], variables, objects);
		if (i == RULES / 2)
			solver_run(s);
	}
	solver_run(s);
	if (is_told)
		compare(s, n, variables, objects, number);
	solver_free(s);
	free(n);
	return is_told;
}

static void test_random(void **state)
{
	unsigned told = 0;

	(void)state;
	for (unsigned number = 1; number <= CASES; number++)
		told += run_case(number);
	assert_true(told > CASES / 2);
}

/* A flat object has all contents in one place, also those that are copied to it or from it before or after. */
static void test_flat(void **state)
{
	struct solver *s = solver_new(NULL, NULL);
	uint32_t a = solver_object(s, SOLVE_HEAP, "a"), b = solver_object(s, SOLVE_HEAP, "b"), x = solver_object(s, SOLVE_HEAP, "x"),
		 y = solver_object(s, SOLVE_HEAP, "y");
	uint32_t pa = solver_node(s), pa8 = solver_node(s), pb = solver_node(s), pb16 = solver_node(s), px = solver_node(s), py = solver_node(s),
		 out = solver_node(s);
	const uint32_t *objects;

	(void)state;
	solver_point(s, pa, solver_location(s, a, 0));
	solver_point(s, pb, solver_location(s, b, 0));
	solver_point(s, px, solver_location(s, x, 0));
	solver_point(s, py, solver_location(s, y, 0));
	solver_step(s, pa8, pa, 8);
	solver_step(s, pb16, pb, 16);
	solver_store(s, pa8, px);
	solver_duplicate(s, pb, pa);
	solver_run(s);
	solver_load(s, out, pb16);
	solver_run(s);
	assert_int_equal(solver_objects(s, out, &objects), 0); /* another field */
	solver_flatten(s, b);
	solver_run(s);
	assert_int_equal(solver_objects(s, out, &objects), 1);
	assert_int_equal(objects[0], x);
	solver_flatten(s, a);
	solver_store(s, pa, py);
	solver_run(s);
	assert_int_equal(solver_objects(s, out, &objects), 2);
	solver_free(s);
}

/* A field that comes up after its object was copied. */
static void test_later_field(void **state)
{
	struct solver *s = solver_new(NULL, NULL);
	uint32_t a = solver_object(s, SOLVE_HEAP, "a"), b = solver_object(s, SOLVE_HEAP, "b"), x = solver_object(s, SOLVE_HEAP, "x");
	uint32_t pa = solver_node(s), pb = solver_node(s), px = solver_node(s), pa8 = solver_node(s), pb8 = solver_node(s), out = solver_node(s);
	const uint32_t *objects;

	(void)state;
	solver_point(s, pa, solver_location(s, a, 0));
	solver_point(s, pb, solver_location(s, b, 0));
	solver_point(s, px, solver_location(s, x, 0));
	solver_duplicate(s, pb, pa);
	solver_run(s);
	solver_step(s, pa8, pa, 8);
	solver_store(s, pa8, px);
	solver_step(s, pb8, pb, 8);
	solver_load(s, out, pb8);
	solver_run(s);
	assert_int_equal(solver_objects(s, out, &objects), 1);
	assert_int_equal(objects[0], x);
	solver_free(s);
}

/* for (p = &a; ; p += 64): elements are not told apart, and a is not cut into as many members as there may be. */
static void test_strides(void **state)
{
	struct solver *s = solver_new(NULL, NULL);
	uint32_t a = solver_object(s, SOLVE_HEAP, "a"), p = solver_node(s), q = solver_node(s), once = solver_node(s);
	const uint32_t *list;
	int64_t offset;

	(void)state;
	solver_point(s, p, solver_location(s, a, 0));
	solver_stride(s, q, p, 64);
	solver_copy(s, p, q);
	solver_stride(s, once, p, 16); /* leads nowhere back: a member */
	assert_true(solver_run(s));
	assert_int_equal(solver_locations(s, p, &list), 1);
	assert_int_equal(solver_locations(s, q, &list), 1);
	assert_int_equal(solver_locations(s, once, &list), 1);
	solver_object_of(s, list[0], &offset);
	assert_int_equal(offset, 16);
	solver_free(s);
}

/* Work is bounded, and who asks is told. */
static void test_limit(void **state)
{
	enum { LENGTH = 64 };
	const uint64_t limits[] = { LENGTH * LENGTH / 4, UINT64_C(1) << 31 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct solver *s = solver_new(NULL, NULL);
		uint32_t first = solver_node(s), from = first;

		for (int i = 0; i < LENGTH; i++) {
			uint32_t to = solver_node(s);

			solver_copy(s, to, from);
			from = to;
		}
		for (int i = 0; i < LENGTH; i++)
			solver_point(s, first, solver_location(s, solver_object(s, SOLVE_HEAP, "o"), 0));
		solver_limit(s, limits[k]);
		assert_int_equal(solver_run(s), k);
		solver_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_flat), cmocka_unit_test(test_later_field), cmocka_unit_test(test_strides),
					    cmocka_unit_test(test_limit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
