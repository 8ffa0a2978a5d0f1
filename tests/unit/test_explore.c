/* The driver of an exploration: paths from files, what is asked of a solver, what is tried first, what machine code can reach, templates. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "explore/graph/code.h"
#include "explore/path/flip.h"
#include "explore/graph/graph.h"
#include "explore/path/linear.h"
#include "explore/search.h"
#include "explore/path/token.h"
#include "explore/path/values.h"
#include "pmpath.h"
#include "util/alloc.h"

static const struct expr_memory memory = { xmalloc, free };

/* ---- a solver that only looks at what it is asked ---- */

struct solver {
	const struct expr_pool *pool;
};

static size_t asked, asked_terms, asked_must;
static struct solver_term asked_for[16];

static struct solver *fake_open(const struct expr_pool *pool, unsigned timeout_ms)
{
	struct solver *s = xcalloc(1, sizeof *s);

	(void)timeout_ms;
	s->pool = pool;
	return s;
}

static void fake_close(struct solver *s)
{
	free(s);
}

static enum solver_answer fake_ask(struct solver *s, const struct solver_term *terms, size_t n, solver_assign assign, void *arg)
{
	(void)s;
	memcpy(asked_for, terms, n * sizeof *terms);
	asked++;
	asked_terms = n;
	assign(arg, 1, 77);
	return SOLVER_YES;
}

static enum solver_answer fake_ask_most(struct solver *s, const struct solver_term *terms, size_t nmust, size_t n, solver_assign assign, void *arg)
{
	asked_must = nmust;
	return fake_ask(s, terms, n, assign, arg);
}

static const struct solver_api fake = { fake_open, fake_close, fake_ask, fake_ask_most };

/* byte i == value */
static struct path_step equals(struct expr_pool *p, unsigned i, uint64_t value, bool is_true, place pc)
{
	return (struct path_step){ .kind = PATH_BRANCH,
				   .term = { expr_binary(p, EXPR_EQ, 8, expr_input(p, i, 0), val_const(value)).id, is_true },
				   .pc = pc,
				   .went = pc + 1,
				   .other = pc + 2 };
}

static bool was_asked(uint32_t id, bool is_true)
{
	for (size_t i = 0; i < asked_terms; i++)
		if (asked_for[i].id == id && asked_for[i].is_true == is_true)
			return true;
	return false;
}

static void test_slice(void **state)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct flipper *f = flipper_new(&fake, pool, 1000);
	struct path p = { 0 };
	uint8_t input[8] = { 0 };
	struct val sum;

	(void)state;
	*vec_add(&p.steps) = equals(pool, 0, 1, false, 10);
	*vec_add(&p.steps) = equals(pool, 1, 2, false, 20);
	*vec_add(&p.steps) = equals(pool, 2, 3, false, 30);
	sum = expr_binary(pool, EXPR_ADD, 8, expr_input(pool, 1, 0), expr_input(pool, 2, 0));
	*vec_add(&p.steps) = (struct path_step){ .term = { expr_binary(pool, EXPR_ULT, 8, sum, val_const(9)).id, true } };
	*vec_add(&p.steps) = equals(pool, 1, 4, false, 40);
	/* alone */
	assert_int_equal(flipper_ask(f, &p, 0, NULL, 0, input, sizeof input), SOLVER_YES);
	assert_int_equal(asked_terms, 1);
	/* byte 1, and by way of the sum byte 2; byte 0 has nothing to do with it */
	assert_int_equal(flipper_ask(f, &p, 4, NULL, 0, input, sizeof input), SOLVER_YES);
	assert_int_equal(asked_terms, 4);
	assert_true(was_asked(p.steps.at[4].term.id, true)); /* the opposite of what held */
	assert_true(was_asked(p.steps.at[3].term.id, true) && was_asked(p.steps.at[1].term.id, false));
	assert_int_equal(input[1], 77);
	assert_int_equal(input[0], 0);
	/* the same question is asked once */
	assert_int_equal(asked, 2);
	assert_int_equal(flipper_ask(f, &p, 4, NULL, 0, input, sizeof input), SOLVER_YES);
	assert_int_equal(asked, 2);
	assert_int_equal(flipper_stats(f)->cached, 1);
	/* a byte that has to stay is told */
	flipper_fix(f, 2, 9);
	flipper_ask(f, &p, 4, NULL, 0, input, sizeof input);
	assert_int_equal(asked_terms, 5);
	/* of a guess, what is fixed and the other side have to hold */
	assert_int_equal(flipper_guess(f, &p, 4, input, sizeof input), SOLVER_YES);
	assert_int_equal(asked_must, 2);
	assert_int_equal(asked_terms, 5);
	assert_true(asked_for[1].id == p.steps.at[4].term.id && asked_for[1].is_true);
	/* what held before already cannot be flipped */
	*vec_add(&p.steps) = equals(pool, 1, 4, false, 40);
	assert_int_equal(flipper_ask(f, &p, 5, NULL, 0, input, sizeof input), SOLVER_NO);
	path_release(&p);
	flipper_free(f);
	expr_pool_free(pool);
}

/* ---- the order ---- */

static void order_check(const char *strategy, const uint32_t *expected, size_t n)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct objects objects = { 0 };
	struct graph *g = graph_new(&objects, NULL);
	struct search *s = search_new(search_strategy_find(strategy), g, 1);
	struct search_flip flip;
	struct path p = { 0 };

	for (unsigned i = 0; i < 4; i++)
		*vec_add(&p.steps) = equals(pool, i, 1, false, 100 * (i + 1));
	p.steps.at[1].kind = PATH_PIN;
	p.steps.at[2].kind = PATH_ADDRESS;
	*vec_add(&p.covered) = (struct path_block){ p.steps.at[0].other, 4 }; /* known already */
	search_add(s, &p, 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(search_next(s, &flip));
		assert_int_equal(flip.step, expected[i]);
	}
	assert_false(search_next(s, &flip));
	/* the same path again brings nothing new */
	search_add(s, &p, 0);
	assert_int_equal(search_waiting(s), 0);
	search_free(s);
	graph_free(g);
	objects_release(&objects);
	path_release(&p);
	expr_pool_free(pool);
}

static void test_order(void **state)
{
	(void)state;
	order_check("bfs", (const uint32_t[]){ 0, 3, 2 }, 3);	   /* another address comes last, a pin never */
	order_check("coverage", (const uint32_t[]){ 3, 0, 2 }, 3); /* new code first */
	order_check("pm", (const uint32_t[]){ 3, 0, 2 }, 3);	   /* nothing is known about PM: new code decides */
}

/* From the flipped step on; earlier ones are the parent's. */
static void test_generation(void **state)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct objects objects = { 0 };
	struct graph *g = graph_new(&objects, NULL);
	struct search *s = search_new(search_strategy_find("bfs"), g, 1);
	struct search_flip flip;
	struct path p = { 0 }, q = { 0 };

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		*vec_add(&p.steps) = equals(pool, i, 1, false, 100 * (i + 1));
	search_add(s, &p, 4);
	assert_int_equal(search_waiting(s), 2);
	/* one that an earlier start flipped is not waiting any more, and is not offered */
	search_forget(s, 0, 4);
	assert_int_equal(search_waiting(s), 1);
	search_forget(s, 0, 4);
	assert_int_equal(search_waiting(s), 1);
	/* but counts for the same branch behind other ones */
	*vec_add(&q.steps) = equals(pool, 7, 1, false, 900);
	*vec_add(&q.steps) = p.steps.at[4];
	search_add(s, &q, 1);
	assert_true(search_next(s, &flip) && flip.run == 0 && flip.step == 5 && search_tries(s, &flip) == 0);
	assert_true(search_next(s, &flip) && flip.run == 1 && flip.step == 1 && search_tries(s, &flip) == 1);
	/* an edge is guessed a few times */
	for (unsigned i = 0; i < 4; i++)
		assert_true(search_guess(s, &flip, 4));
	assert_false(search_guess(s, &flip, 4));
	search_free(s);
	graph_free(g);
	objects_release(&objects);
	path_release(&p);
	path_release(&q);
	expr_pool_free(pool);
}

/* Among equals, what is left of the latest run that got to new code comes first. */
static void test_order_of_runs(void **state)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct objects objects = { 0 };
	struct graph *g = graph_new(&objects, NULL);
	struct search *s = search_new(search_strategy_find("bfs"), g, 1);
	static const uint32_t expected[] = { 2, 1, 0, 3 };
	struct path paths[4];
	struct search_flip flip;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		paths[i] = (struct path){ 0 };
		*vec_add(&paths[i].steps) = equals(pool, i, 1, false, 100 * (i + 1));
		*vec_add(&paths[i].covered) = (struct path_block){ i < 3 ? i + 5000 : 5000, 1 }; /* the last one finds nothing */
		search_add(s, &paths[i], 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_true(search_next(s, &flip));
		assert_int_equal(flip.run, expected[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		path_release(&paths[i]);
	search_free(s);
	graph_free(g);
	objects_release(&objects);
	expr_pool_free(pool);
}

/* ---- files ---- */

static char *file_make(const void *bytes, size_t n)
{
	char *name = xstrdup("/tmp/pmend-test-XXXXXX");
	int fd = mkstemp(name);

	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	return name;
}

static int path_parse(const void *bytes, size_t n, struct path *p)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct objects objects = { 0 };
	char *name = file_make(bytes, n);
	struct error err;
	int result = path_read(p, pool, &objects, name, &err);

	unlink(name);
	free(name);
	expr_pool_free(pool);
	objects_release(&objects);
	return result;
}

static void test_path_file(void **state)
{
	struct {
		struct pmp_header h;
		struct pmp_record r[8];
	} f = { .h = { .version = PMP_VERSION, .record_bytes = sizeof(struct pmp_record) } };
	struct path p;

	(void)state;
	memcpy(f.h.magic, PMP_MAGIC, sizeof f.h.magic);
	f.r[0] = (struct pmp_record){ .kind = PMP_EXPR, .op = EXPR_INPUT, .width = 8, .id = 1, .k = 3 };
	f.r[1] = (struct pmp_record){ .kind = PMP_EXPR, .op = EXPR_CONST, .width = 8, .id = 2, .k = 65 };
	f.r[2] = (struct pmp_record){ .kind = PMP_EXPR, .op = EXPR_EQ, .width = 1, .id = 3, .arg = { 1, 2 } };
	f.r[3] = (struct pmp_record){ .kind = PMP_EXPR, .op = EXPR_NOT, .width = 1, .id = 4, .arg = { 3 } };
	f.r[4] = (struct pmp_record){ .kind = PMP_BRANCH, .id = 4, .flag = 1 };
	f.r[5] = (struct pmp_record){ .kind = PMP_PIN, .id = 1, .flag = PMP_PIN_ADDRESS, .x = 65 };
	f.r[6] = (struct pmp_record){ .kind = PMP_END };
	assert_int_equal(path_parse(&f, sizeof f - sizeof f.r[7], &p), 0);
	assert_true(p.is_complete);
	assert_int_equal(p.steps.n, 2);
	assert_false(p.steps.at[0].term.is_true); /* not (a == b) held: a == b did not */
	assert_int_equal(p.steps.at[1].kind, PATH_ADDRESS);
	assert_int_equal(p.steps.at[1].term.id, p.steps.at[0].term.id); /* the same condition, however it was written */
	path_release(&p);
	/* cut off: what precedes is kept */
	assert_int_equal(path_parse(&f, sizeof f.h + 5 * sizeof f.r[0] + 20, &p), 0);
	assert_false(p.is_complete);
	assert_int_equal(p.steps.n, 1);
	path_release(&p);
	/* an operand that does not exist; one of another width; no path file */
	f.r[2].arg[1] = 9;
	assert_int_equal(path_parse(&f, sizeof f, &p), -1);
	path_release(&p);
	f.r[2].arg[1] = 2;
	f.r[1].width = 16;
	assert_int_equal(path_parse(&f, sizeof f, &p), -1);
	path_release(&p);
	f.h.version++;
	assert_int_equal(path_parse(&f, sizeof f, &p), -1);
	path_release(&p);
}

/* ---- machine code ---- */

static char *beside(const char *name)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	for (int slashes = 0; n > 0 && slashes < 2;)
		slashes += exe[--n] == '/';
	exe[n] = '\0';
	return xasprintf("%s/%s", exe, name);
}

static uint64_t export_find(const struct code *c, const char *name)
{
	for (size_t i = 0; i < c->exports.n; i++)
		if (strcmp(c->names.at + c->exports.at[i].name, name) == 0)
			return c->exports.at[i].address;
	return 0;
}

/* Does a block lead to this function of another object? By way of the procedure linkage table, which each machine writes in its own way. */
static bool leads_to(const struct code *c, const char *name)
{
	for (size_t i = 0; i < c->edges.n; i++)
		if (c->edges.at[i].name && strcmp(c->names.at + c->edges.at[i].name, name) == 0)
			return true;
	return false;
}

static void test_graph(void **state)
{
	char *path = beside("explore/programs");
	struct objects objects = { 0 };
	struct graph *g = graph_new(&objects, NULL);
	struct error err;
	struct code c;
	struct lines_ranges ranges = { 0 };
	place from, to, next;
	uint64_t reach, known, covered;
	uint32_t first;

	(void)state;
	assert_int_equal(code_read(&c, path, NULL, &err), 0);
	assert_true(c.pm.n >= 10 && c.starts.n > 50 && export_find(&c, "main"));
	assert_true(leads_to(&c, "puts") && leads_to(&c, "mmap") && !leads_to(&c, "pmem_persist"));
	from = objects_place(&objects, path, export_find(&c, "main"));
	to = objects_place(&objects, path, c.starts.at[code_block(&c, c.pm.at[0])]);
	/* its cases are called through a table, of which nothing is known yet */
	assert_int_equal(graph_reach(g, &from, 1), 0);
	/* calls of functions that have such an instruction count, too */
	known = graph_nknown(g);
	assert_true(known >= c.pm.n && known <= c.pm.n + c.calls.n);
	graph_jump(g, from, to);
	reach = graph_reach(g, &from, 1);
	assert_true(reach >= 1 && reach <= known);
	assert_int_equal(reach, graph_reach(g, &to, 1));
	assert_int_equal(graph_reach_only(g, from, to), 0);
	assert_int_equal(graph_reach_only(g, to, objects_place(&objects, path, 0)), reach);
	assert_int_equal(graph_distance(g, to), 0);
	assert_int_equal(graph_distance(g, from), 1);
	assert_true(graph_is_near(g, to));
	/* what was run is not new any more; what comes behind it is, until it is run, too */
	first = code_block(&c, c.pm.at[0]);
	next = objects_place(&objects, path, c.starts.at[first + 1]);
	assert_int_equal(graph_distance_unrun(g, to), 0);
	graph_run(g, &(struct path_block){ to, (uint32_t)(next - to) });
	assert_true(graph_distance_unrun(g, to) > 0);
	assert_int_equal(graph_distance_unrun(g, next), 0);
	graph_run(g, &(struct path_block){ to, (uint32_t)(next - to) + 1 });
	assert_true(graph_distance_unrun(g, next) > 0);
	assert_false(graph_is_near(g, objects_place(&objects, path, c.pm.at[c.pm.n - 1] + 100000)));
	reach = graph_reach(g, &to, 1);
	covered = graph_ncovered(g);
	graph_cover(g, objects_place(&objects, path, c.pm.at[0]));
	assert_int_equal(graph_reach(g, &to, 1), reach - 1);
	assert_int_equal(graph_ncovered(g), covered + 1);
	/* a plain store that was seen to hit PM is one more */
	graph_cover(g, objects_place(&objects, path, c.pm.at[0] + 1));
	assert_int_equal(graph_nknown(g), known + 1);
	/* as is one that an analysis of the source suspects, but that is not executed yet */
	assert_true(c.stores.n > 20);
	*vec_add(&ranges.list) = (struct lines_range){ c.stores.at[7], c.stores.at[7] + 1 };
	graph_suspect(g, from, &ranges);
	assert_int_equal(graph_nknown(g), known + 2);
	to = objects_place(&objects, path, c.stores.at[7]);
	assert_int_equal(graph_distance(g, to), 0);
	graph_cover(g, to);
	assert_int_equal(graph_ncovered(g), covered + 3);
	/* within a call of puts(), PM was modified: that call is one, and others of puts() may be */
	known = graph_nknown(g);
	for (first = 0; first < c.calls.n && strcmp(c.names.at + c.calls.at[first].name, "puts") != 0;)
		first++;
	assert_true(first < c.calls.n);
	graph_cover(g, objects_place(&objects, path, c.calls.at[first].next - 1));
	graph_reach(g, &from, 1);
	assert_true(graph_nknown(g) > known);
	vec_release(&ranges.list);
	code_release(&c);
	graph_free(g);
	objects_release(&objects);
	free(path);
}

/* Which way a branch goes is new where PM is modified, even if both lead to code that was run; until a run goes there. */
static void test_new_ways(void **state)
{
	char *path = beside("explore/programs");
	struct expr_pool *pool = expr_pool_new(memory);
	struct objects objects = { 0 };
	struct graph *g = graph_new(&objects, NULL);
	struct search *s = search_new(search_strategy_find("pm"), g, 1), *coverage = search_new(search_strategy_find("coverage"), g, 1);
	struct path p = { 0 }, q = { 0 };
	struct search_flip flip;
	struct error err;
	struct code c;

	(void)state;
	assert_int_equal(code_read(&c, path, NULL, &err), 0);
	*vec_add(&p.steps) = equals(pool, 0, 1, false, objects_place(&objects, path, c.pm.at[c.pm.n - 1] + 100000));
	*vec_add(&p.steps) = equals(pool, 1, 1, false, objects_place(&objects, path, c.pm.at[0]));
	for (size_t i = 0; i < 2; i++)
		*vec_add(&p.covered) = (struct path_block){ p.steps.at[i].other, 4 };
	search_add(s, &p, 0);
	search_add(coverage, &p, 0);
	assert_true(search_is_new_way(s, &p.steps.at[1]));
	assert_false(search_is_new_way(s, &p.steps.at[0]));
	assert_false(search_is_new_way(coverage, &p.steps.at[1]));
	assert_true(search_next(s, &flip) && flip.step == 1);
	*vec_add(&q.steps) = p.steps.at[1];
	q.steps.at[0].went = p.steps.at[1].other;
	q.steps.at[0].other = p.steps.at[1].went;
	search_add(s, &q, 0);
	assert_false(search_is_new_way(s, &p.steps.at[1]));
	search_free(s);
	search_free(coverage);
	graph_free(g);
	objects_release(&objects);
	path_release(&p);
	path_release(&q);
	code_release(&c);
	expr_pool_free(pool);
	free(path);
}

/* A line of the program, found by its text, has instructions, and all are of its function. */
static void test_lines(void **state)
{
	char *path = beside("explore/programs"), text[512];
	FILE *f = fopen("tests/explore/programs.c", "r");
	struct lines_ranges ranges = { 0 };
	struct lines lines = { 0 };
	uint32_t n = 0;

	(void)state;
	if (!f)
		skip(); /* run elsewhere than in the project's folder */
	while (fgets(text, sizeof text, f) && !strstr(text, "pool[n].value = len;"))
		n++;
	fclose(f);
	lines_find(&lines, path, &ranges);
	assert_int_equal(ranges.list.n, 0);
	lines_add(&lines, "tests/explore/programs.c", n + 1);
	lines_add(&lines, "tests/explore/programs.c", n + 1);
	assert_int_equal(lines.list.n, 1);
	lines_find(&lines, path, &ranges);
	assert_true(ranges.list.n >= 1);
	for (size_t i = 0; i < ranges.list.n; i++)
		assert_true(ranges.list.at[i].from < ranges.list.at[i].to && ranges.list.at[i].to - ranges.list.at[0].from < 256);
	vec_release(&ranges.list);
	lines_release(&lines);
	free(path);
}

static void folder_empty(const char *name)
{
	DIR *d = opendir(name);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

static void test_cache(void **state)
{
	char folder[] = "/tmp/pmend-test-XXXXXX", *path = beside("explore/programs");
	struct code first, second;
	struct error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(code_read(&first, path, folder, &err), 0);
	assert_int_equal(rmdir(folder), -1); /* something is in it */
	assert_int_equal(code_read(&second, path, folder, &err), 0);
	assert_int_equal(first.edges.n, second.edges.n);
	assert_memory_equal(first.starts.at, second.starts.at, first.starts.n * sizeof first.starts.at[0]);
	assert_int_equal(first.pm.n, second.pm.n);
	code_release(&second);
	folder_empty(folder);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(code_read(&second, path, folder, &err), 0); /* no cache, no failure */
	assert_int_equal(first.edges.n, second.edges.n);
	code_release(&first);
	code_release(&second);
	free(path);
}

/* ---- numbers, jump tables, words ---- */

static struct val wide(struct expr_pool *pool, uint64_t index)
{
	return expr_extend(pool, EXPR_ZEXT, 8, expr_input(pool, index, 0), 64);
}

/* Four digits as a loop adds them up, of characters: which make 3607? */
static void test_digits(void **state)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct val sum = val_const(0), hash = val_const(7);
	linear_parts parts = { 0 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		sum = expr_binary(pool, EXPR_MUL, 64, sum, val_const(10));
		sum = expr_binary(pool, EXPR_ADD, 64, sum, expr_binary(pool, EXPR_SUB, 64, wide(pool, i), val_const('0')));
		hash = expr_binary(pool, EXPR_XOR, 64, expr_binary(pool, EXPR_MUL, 64, hash, val_const(31)), wide(pool, i));
	}
	assert_true(linear_solve(pool, sum.id, 3607, (const uint8_t *)"1000", 4, &parts));
	assert_int_equal(parts.n, 4);
	for (size_t i = 0; i < parts.n; i++) {
		assert_int_equal(parts.at[i].id, wide(pool, i).id);
		assert_int_equal(parts.at[i].value, "3607"[i]);
	}
	assert_false(linear_solve(pool, sum.id, UINT64_MAX / 2, (const uint8_t *)"1000", 4, &parts)); /* no four characters are that much */
	assert_false(linear_solve(pool, hash.id, 3607, (const uint8_t *)"1000", 4, &parts));
	vec_release(&parts);
	expr_pool_free(pool);
}

static void test_values(void **state)
{
	struct expr_pool *pool = expr_pool_new(memory);
	struct val at = expr_input(pool, 0, 0), is_set = expr_binary(pool, EXPR_EQ, 8, at, val_const(9)), target;
	uint64_t entries[EXPR_TABLE_ENTRIES] = { 100, 200, 100, 300 };
	values v = { 0 };

	(void)state;
	target = expr_lookup(pool, expr_table_add(pool, entries), 64, at);
	target = expr_binary(pool, EXPR_ADD, 64, target, val_const(0x1000));
	assert_true(values_find(pool, target.id, &v));
	assert_int_equal(v.n, 4); /* with what follows from zero entries */
	assert_int_equal(v.at[0], 0x1000);
	assert_int_equal(v.at[3], 0x1000 + 300);
	target = expr_ite(pool, 64, is_set, val_const(5), expr_ite(pool, 64, expr_unary(pool, EXPR_NOT, 1, is_set), val_const(7), val_const(6)));
	assert_true(values_find(pool, target.id, &v));
	assert_true(v.n >= 2 && v.at[0] == 5 && v.at[v.n - 1] == 7);
	target = expr_binary(pool, EXPR_ADD, 64, wide(pool, 0), wide(pool, 1));
	assert_false(values_find(pool, target.id, &v));
	vec_release(&v);
	expr_pool_free(pool);
}

static void test_token(void **state)
{
	struct path_token t = { .index = 2, .nbytes = 3 };
	uint8_t bytes[] = "a=log;b=c";

	(void)state;
	for (const char *c = "mode"; *c; c++)
		*vec_add(&t.wanted) = (uint8_t)*c;
	assert_true(token_put(&t, bytes, 9));
	assert_string_equal((char *)bytes, "a=mode;b="); /* the rest moves, its end is lost */
	t.nbytes = 4;
	t.wanted.n = 2;
	assert_true(token_put(&t, bytes, 9));
	assert_memory_equal(bytes, "a=mo;b=\0\0", 9);
	t.index = 8;
	assert_false(token_put(&t, bytes, 9));
	vec_release(&t.wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digits), cmocka_unit_test(test_values), cmocka_unit_test(test_token),
		cmocka_unit_test(test_slice), cmocka_unit_test(test_order), cmocka_unit_test(test_generation), cmocka_unit_test(test_order_of_runs),
		cmocka_unit_test(test_path_file), cmocka_unit_test(test_graph), cmocka_unit_test(test_cache),
		cmocka_unit_test(test_new_ways),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
