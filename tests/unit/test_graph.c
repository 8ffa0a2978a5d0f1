/* The persistence graph and its division into update behaviours: SQUINT's Figures 4.3 to 4.5, as its text describes them, each rule alone, and a
 * million stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/unit/updates.h"

static void expect_epochs(const char *program, const char *want)
{
	struct listing l = { 0 };
	struct updates u;

	updates_init(&u);
	updates_run(&u, program);
	graph_end(&u.graph);
	l.updates = &u;
	updates_behaviours(&u, listing_add, &l, "-");
	assert_string_equal(l.text, want);
	updates_release(&u);
}

/* ---- edges ---- */

/* Must the first be durable before the second is? */
static bool graph_before(const struct graph *g, uint32_t first, uint32_t second)
{
	uint64_t line = graph_line(g, first);

	if (first >= second)
		return false;
	/* Equal: a locked store, whose fence comes before it. */
	if (g->stores.at[first].durable_seq <= g->stores.at[second].seq)
		return true;
	return line != GRAPH_NO_LINE && line == graph_line(g, second) && graph_keeps(g, first, second);
}

/* Stores of a program, by number: is one before the other? */
static bool is_before(const char *program, uint32_t a, uint32_t b)
{
	struct updates u;
	bool result;

	updates_init(&u);
	updates_run(&u, program);
	graph_end(&u.graph);
	result = graph_before(&u.graph, a, b);
	updates_release(&u);
	return result;
}

/* X.A is persisted before X.B and X.C, which are not ordered with each other, and both before what follows. */
static void test_figure_4_3(void **state)
{
	const char *program = "X.A !X.A | X.B X.C !X.B !X.C | X.D";

	(void)state;
	assert_true(is_before(program, 0, 1));
	assert_true(is_before(program, 0, 2));
	assert_false(is_before(program, 1, 2));
	assert_false(is_before(program, 2, 1));
	assert_true(is_before(program, 1, 3));
	assert_true(is_before(program, 2, 3));
	assert_true(is_before(program, 0, 3)); /* by way of the others */
	assert_false(is_before(program, 1, 0));
}

static void test_only_fences_order_lines(void **state)
{
	(void)state;
	assert_false(is_before("X.A X.B", 0, 1));
	assert_false(is_before("X.A !X.A X.B", 0, 1));
	assert_false(is_before("X.A | X.B", 0, 1));
	assert_false(is_before("X.A !X.A X.B |", 0, 1));
}

static void step(struct graph *g, uint64_t seq, enum pmt_kind kind, uint64_t addr, uint32_t size)
{
	static const uint8_t bytes[64];
	static const struct trace_site site = { .id = 1 };

	graph_step(g, &(struct trace_event){ .seq = seq, .kind = kind, .thread = 1, .site = &site, .addr = addr, .size_bytes = size, .data = bytes, .data_len = size });
}

static void test_a_line_is_ordered(void **state)
{
	uint64_t a = PMT_ADDR(1, 0);
	struct graph g;

	(void)state;
	graph_init(&g, platforms[0]);
	step(&g, 1, PMT_STORE, a, 8);
	step(&g, 2, PMT_STORE, a + 8, 8);
	step(&g, 3, PMT_STORE_NT, a + 16, 8); /* bypasses the line */
	step(&g, 4, PMT_STORE, a + 60, 8);    /* crosses into the next */
	step(&g, 5, PMT_STORE, a + 64, 8);
	graph_end(&g);
	assert_true(graph_before(&g, 0, 1));
	assert_false(graph_before(&g, 0, 2));
	assert_false(graph_before(&g, 2, 3));
	assert_false(graph_before(&g, 0, 3));
	assert_false(graph_before(&g, 3, 4));
	graph_release(&g);
}

/* On arm64, by barriers, releases and overlaps only; a locked instruction of amd64 is a release and a barrier. */
static void test_order_on_arm64(void **state)
{
	uint64_t a = PMT_ADDR(1, 0);
	struct graph g;

	(void)state;
	graph_init(&g, platform_find("arm64"));
	step(&g, 1, PMT_STORE, a, 8);
	step(&g, 2, PMT_STORE, a + 8, 8);
	step(&g, 3, PMT_STORE, a + 4, 2); /* over the first */
	step(&g, 4, PMT_SFENCE, 0, 0);
	step(&g, 5, PMT_STORE, a + 16, 8);
	step(&g, 6, PMT_STORE, a + 24, 8);
	step(&g, 7, PMT_STORE_RMW, a + 32, 8);
	step(&g, 8, PMT_STORE, a + 40, 8);
	graph_end(&g);
	assert_false(graph_before(&g, 0, 1));
	assert_true(graph_before(&g, 0, 2));
	assert_false(graph_before(&g, 1, 2));
	assert_true(graph_before(&g, 0, 3));
	assert_true(graph_before(&g, 1, 4));
	assert_false(graph_before(&g, 3, 4));
	assert_true(graph_before(&g, 3, 5));
	assert_true(graph_before(&g, 5, 6));
	graph_release(&g);
	graph_init(&g, platform_find("arm64"));
	graph_step(&g, &(struct trace_event){ .seq = 1, .kind = PMT_META, .data = (const uint8_t *)"isa=arm64", .data_len = 9 });
	step(&g, 2, PMT_STORE, a, 8);
	graph_step(&g, &(struct trace_event){ .seq = 3, .kind = PMT_ORDER, .thread = 1, .arg[0] = PMT_ORDER_RELEASE });
	step(&g, 4, PMT_STORE, a + 8, 8);
	graph_step(&g, &(struct trace_event){ .seq = 5, .kind = PMT_ORDER, .thread = 1, .arg[0] = PMT_ORDER_ACQUIRE });
	step(&g, 6, PMT_STORE, a + 16, 8);
	graph_step(&g, &(struct trace_event){ .seq = 7, .kind = PMT_STORE, .thread = 2, .addr = a + 24, .size_bytes = 8, .data = (const uint8_t *)"12345678", .data_len = 8 });
	graph_end(&g);
	assert_false(graph_before(&g, 0, 1)); /* a release alone does not hold back what follows */
	assert_true(graph_before(&g, 0, 2));
	assert_false(graph_before(&g, 1, 2));
	assert_true(graph_before(&g, 1, 3)); /* what another thread stored before */
	graph_release(&g);
}

/* A store in two lines is durable when both are; a locked store fences before it is done; on eADR everything is at once. */
static void test_durable_events(void **state)
{
	uint64_t a = PMT_ADDR(1, 60), b = PMT_ADDR(1, 64);
	struct graph g;

	(void)state;
	graph_init(&g, platforms[0]);
	step(&g, 1, PMT_STORE, a, 8);
	step(&g, 2, PMT_CLWB, a, 0);
	step(&g, 3, PMT_SFENCE, 0, 0);
	step(&g, 4, PMT_CLWB, b, 0);
	step(&g, 5, PMT_STORE_RMW, PMT_ADDR(1, 4096), 8);
	graph_end(&g);
	assert_int_equal(g.stores.at[0].durable_seq, 5);
	assert_true(graph_before(&g, 0, 1));
	assert_true(g.stores.at[1].durable_seq == GRAPH_NEVER);
	graph_release(&g);
	graph_init(&g, platform_find("eadr"));
	step(&g, 1, PMT_STORE, a, 8);
	step(&g, 2, PMT_STORE, b, 8);
	graph_end(&g);
	assert_int_equal(g.stores.at[0].durable_seq, 1);
	assert_true(graph_before(&g, 0, 1));
	graph_release(&g);
}

/* ---- behaviours ---- */

/* Nodes of struct inner are in the subgraphs of inner and of outer; Z, of struct unrelated, is alone in one. */
static void test_figure_4_4(void **state)
{
	enum { INNER = 'I', OUTER = 'O', UNRELATED = 'U' };
	struct listing l = { 0 };
	struct epochs e;
	struct updates u;

	(void)state;
	updates_init(&u);
	updates_run(&u, "O.A O.B O.C Z.Z");
	graph_end(&u.graph);
	l.updates = &u;
	epochs_init(&e, &u.graph, listing_add, &l);
	epochs_add(&e, 0, OUTER, updates_addr('O', 'A'), 'a');
	for (uint32_t i = 1; i < 3; i++) { /* outer.in.B, outer.in.C */
		epochs_add(&e, i, INNER, updates_addr('O', 'B'), 'A' + i);
		epochs_add(&e, i, OUTER, updates_addr('O', 'A'), 'a' + i);
	}
	epochs_add(&e, 3, UNRELATED, updates_addr('Z', 'A'), 'Z');
	epochs_end(&e);
	epochs_release(&e);
	assert_string_equal(l.text, "O{abc} O{BC} Z{Z}");
	updates_release(&u);
}

/* The program of the figures: X.A is updated again when all before it is persisted, which begins Epoch 2; Y.Q is persisted after X.C and before
 * X.D, which begins Epoch 3; X.B, which is not persisted before Y.Q, was issued before it and stays in Epoch 2. */
#define FIGURE_4_5 "X.A !X.A | X.B X.C !X.B !X.C | X.D !X.D |  X.A !X.A | X.B X.C !X.C |  Y.Q !Y.Q !X.B |  X.D !X.D |"

static void test_figure_4_5(void **state)
{
	(void)state;
	expect_epochs(FIGURE_4_5, "X{ABCD} X{ABC} Y{Q} X{D}");
}

static void test_criterion_1(void **state)
{
	(void)state;
	expect_epochs("X.A !X.A | X.A", "X{A} X{A}");
	expect_epochs("X.A !X.A | X.B", "X{AB}");	  /* not updated before */
	expect_epochs("X.A X.B !X.A | X.A", "X{ABA}");	  /* X.B is not persisted */
	expect_epochs("X.A !X.A X.A |", "X{AA}");	  /* nor X.A */
	expect_epochs("X.A !X.A | X.B !X.B | X.A !X.A | X.B", "X{AB} X{AB}"); /* tracking begins anew */
}

static void test_criterion_2(void **state)
{
	(void)state;
	expect_epochs("X.A !X.A | Y.Q !Y.Q | X.B", "X{A} Y{Q} X{B}");
	expect_epochs("X.A Y.Q !X.A !Y.Q | X.B", "X{AB} Y{Q}");	      /* Y.Q was issued before X.A was durable */
	expect_epochs("X.A !X.A | Y.Q !Y.Q X.B |", "X{AB} Y{Q}");     /* Y.Q is not durable when X.B is issued */
	expect_epochs("X.A !X.A | Y.Q X.B !Y.Q | X.C", "X{A} Y{Q} X{BC}"); /* X.B came after Y.Q: with X.C */
	expect_epochs("X.A Y.Q !Y.Q | X.B", "X{AB} Y{Q}");	      /* X.A is not durable at all */
}

static void test_instances_are_apart(void **state)
{
	(void)state;
	expect_epochs("X.A Y.A X.B Y.B !X.A !X.B !Y.A !Y.B |", "X{AB} Y{AB}");
}

/* ---- size ---- */

#define NSTORES 1000000u

static void count(const struct behaviour *b, void *arg)
{
	uint64_t *n = arg;

	n[0]++;
	n[1] += b->n;
}

static size_t memory_kib(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (size_t)r.ru_maxrss;
}

/* 100,000 objects are updated, two fields each, again and again, with a fence for every four stores. */
static void test_a_million_stores(void **state)
{
	size_t before = memory_kib(), used;
	uint64_t seq = 0, n[2] = { 0 };
	struct epochs e;
	struct graph g;

	(void)state;
	graph_init(&g, platforms[0]);
	for (uint32_t i = 0; i < NSTORES; i++) {
		uint64_t addr = PMT_ADDR(1, (uint64_t)(i / 2 * 7919 % 100000) * 128 + i % 2 * 64);

		step(&g, ++seq, PMT_STORE, addr, 8);
		step(&g, ++seq, PMT_CLWB, addr, 0);
		if (i % 4 == 3)
			step(&g, ++seq, PMT_SFENCE, 0, 0);
	}
	graph_end(&g);
	assert_int_equal(g.stores.n, NSTORES);
	assert_int_equal(g.durable_events.n, NSTORES / 4);
	epochs_init(&e, &g, count, n);
	for (uint32_t i = 0; i < NSTORES; i++)
		epochs_add(&e, i, 1, g.stores.at[i].addr & ~(uint64_t)127, i % 2);
	epochs_end(&e);
	epochs_release(&e);
	graph_release(&g);
	used = memory_kib() - before;
	print_message("a million stores: %zu MiB\n", used / 1024);
	assert_int_equal(n[0], NSTORES / 2);
	assert_int_equal(n[1], NSTORES);
#ifndef __SANITIZE_ADDRESS__
	assert_true(used < 256 * 1024);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_4_3),	    cmocka_unit_test(test_only_fences_order_lines),
		cmocka_unit_test(test_a_line_is_ordered), cmocka_unit_test(test_order_on_arm64),   cmocka_unit_test(test_durable_events),
		cmocka_unit_test(test_figure_4_4),	    cmocka_unit_test(test_figure_4_5),
		cmocka_unit_test(test_criterion_1),	    cmocka_unit_test(test_criterion_2),
		cmocka_unit_test(test_instances_are_apart), cmocka_unit_test(test_a_million_stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
