/* Types of stores: each store instruction of tests/types/forms*.c is asked about, as if it had stored to an instance at a known address, and must be
 * typed as the comment on its line says. Built by gcc and clang, without and with optimisation. No recording is needed: a trace would only add
 * the addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/instances.h"
#include "source/shape.h"
#include "tests/unit/types_fixture.h"

static bool is_as_expected(struct program *p, const struct mark *m, unsigned alternative, uint64_t addr, const struct typed *typed)
{
	if (typed->n != m->nlevels[alternative])
		return false;
	for (unsigned i = 0; i < typed->n; i++) {
		const struct expected *e = &m->level[alternative][i];

		if (strcmp(types_name(p->types, typed->level[i].type), e->type) != 0 || typed->level[i].instance != addr - e->offset)
			return false;
		if (m->how != MARK_WIDE && strcmp(types_name(p->types, typed->level[i].field), e->field) != 0)
			return false;
	}
	return true;
}

static void complain(struct program *p, const struct mark *m, const struct typed *typed, uint64_t addr)
{
	/* nothing wrong in saying nothing; the line may have a call that stores nothing, too. All that must be seen is checked later. */
	if (typed->means == TYPE_BY_PATH && (!p->is_strict || m->how == MARK_CALL))
		return;
	p->nwrong++;
	fprintf(stderr, "%s:%u (%s): typed as", p->source, m->line, strrchr(p->path, '/') + 1);
	for (unsigned i = 0; i < typed->n; i++)
		fprintf(stderr, "%s %s %s %llu", i ? "," : "", types_name(p->types, typed->level[i].type), types_name(p->types, typed->level[i].field),
			(unsigned long long)(addr - typed->level[i].instance));
	fprintf(stderr, "\n");
}

/* Each question is about another instance, so that no answer helps another. */
static void ask(struct program *p, struct mark *m, const struct trace_object *object, uint64_t pc, uint32_t size_bytes, const struct trace_node *node)
{
	struct trace_site site = { .node = node, .object = object, .pc = pc, .id = ++p->f->nsites, .size_bytes = size_bytes, .kind = PMT_STORE };
	struct typed typed;
	uint64_t addr = 0;

	p->ntried++;
	for (unsigned i = 0; i < m->n; i++) {
		struct trace_event ev = { .seq = ++p->f->seq, .site = &site, .kind = PMT_STORE, .size_bytes = size_bytes };

		p->f->base += 1 << 20;
		ev.addr = addr = PMT_ADDR(1, p->f->base + m->level[i][m->nlevels[i] - 1].offset);
		types_of(p->types, &ev, &typed);
		if (is_as_expected(p, m, i, addr, &typed)) {
			m->is_seen[i] = true;
			p->nright++;
			return;
		}
	}
	complain(p, m, &typed, addr);
}

/* All stores of an assignment of a struct: the first lies at its beginning, wherever the others are. */
static void ask_wide(struct program *p, struct mark *m, const struct step *list, size_t n)
{
	const struct expected *outermost = &m->level[0][m->nlevels[0] - 1];
	struct typed typed;
	int64_t lowest = list[0].offset;
	struct trace_site *sites = xcalloc(n, sizeof *sites);

	for (size_t i = 0; i < n; i++) {
		lowest = list[i].offset < lowest ? list[i].offset : lowest;
		sites[i] = (struct trace_site){ .object = &p->object, .pc = list[i].pc, .id = ++p->f->nsites, .size_bytes = list[i].size_bytes, .kind = PMT_STORE };
	}
	p->f->base += 1 << 20;
	p->f->seq += n;
	for (size_t i = 0; i < 2 * n; i++) {
		const struct step *in = &list[i % n];
		uint64_t beyond = (uint64_t)(in->offset - lowest);
		struct trace_event ev = { .seq = p->f->seq - n + 1 + i % n, .site = &sites[i % n], .kind = PMT_STORE, .size_bytes = in->size_bytes,
					  .addr = PMT_ADDR(1, p->f->base + outermost->offset + beyond) };

		if (i < n) {
			types_learn(p->types, &ev);
			continue;
		}
		types_of(p->types, &ev, &typed);
		p->ntried++;
		if (is_as_expected(p, m, 0, ev.addr - beyond, &typed)) {
			m->is_seen[0] = true;
			p->nright++;
		} else {
			complain(p, m, &typed, ev.addr);
		}
	}
	free(sites);
}

/* The store that a function of the program makes, or the call that it makes to have it done. */
static const struct step *first_in(struct program *p, uint64_t target)
{
	for (size_t f = 0; f < p->functions.n; f++)
		for (size_t i = 0; target && i < p->steps.n && p->functions.at[f].start == target; i++)
			if (p->steps.at[i].pc >= target && p->steps.at[i].pc < p->functions.at[f].end)
				return &p->steps.at[i];
	return NULL;
}

static void ask_call(struct program *p, struct mark *m, const struct step *call)
{
	const struct step *in = first_in(p, call->target);
	struct trace_node outer = { .object = &p->object, .pc = call->end }, inner;

	if (!in || !in->is_call) {
		ask(p, m, in ? &p->object : NULL, in ? in->pc : 1, in ? in->size_bytes : 4, &outer);
		return;
	}
	inner = (struct trace_node){ .parent = &outer, .object = &p->object, .pc = in->end };
	ask(p, m, NULL, 1, 4, &inner);
}

static void ask_about(struct program *p, size_t *at)
{
	const struct step *in = &p->steps.at[*at];
	const struct symbol *list, *next;
	size_t n = symbols_find(p->f->symbols, &p->object, in->pc, false, &list), end = *at + 1;
	struct mark *m = mark_at(p, &list[0]);

	for (size_t i = 1; i < n && !(m && m->how == MARK_DIRECT); i++) {
		struct mark *outer = mark_at(p, &list[i]);

		if (outer && outer->how == MARK_INLINED && in->size_bytes)
			m = outer;
	}
	if (!m || m->how == MARK_CALLED)
		return;
	if (m->how == MARK_CALL) {
		if (in->is_call)
			ask_call(p, m, in);
	} else if (m->how == MARK_WIDE && in->size_bytes) {
		while (end < p->steps.n && p->steps.at[end].size_bytes && symbols_find(p->f->symbols, &p->object, p->steps.at[end].pc, false, &next) &&
		       next[0].line == list[0].line)
			end++;
		ask_wide(p, m, in, end - *at);
		*at = end - 1;
	} else if (in->size_bytes) {
		ask(p, m, &p->object, in->pc, in->size_bytes, NULL);
	}
}

static struct program *program_run(struct fixture *f, const char *name, bool with_sources)
{
	struct program *p = program_open(f, name, with_sources);

	for (size_t i = 0; i < p->steps.n; i++)
		ask_about(p, &i);
	if (types_problem(p->types))
		fail_msg("%s", types_problem(p->types));
	return p;
}

/* Without optimisation, every form is there. */
static void check_all_seen(const struct program *p)
{
	unsigned nmissing = 0;

	for (unsigned i = 0; i < p->nmarks; i++)
		for (unsigned n = 0; n < p->marks[i].n; n++)
			if (!p->marks[i].is_seen[n] && !p->marks[i].is_optional[n]) {
				fprintf(stderr, "%s:%u: %s %s was not found\n", p->source, p->marks[i].line, p->marks[i].level[n][0].type,
					p->marks[i].level[n][0].field);
				nmissing++;
			}
	assert_int_equal(nmissing, 0);
}

static void test_source(void **state, const char *name, unsigned at_least)
{
	struct program *p = program_run(*state, name, true);

	fprintf(stderr, "%s: %u of %u right\n", name, p->nright, p->ntried);
	assert_int_equal(p->nwrong, 0);
	if (!p->is_optimised)
		check_all_seen(p);
	assert_true(p->nright >= at_least);
	program_close(p);
}

/* Without sources, fewer are typed, but few are typed wrongly: what was cast, and outer structs of what a caller passed. */
static void test_dwarf(void **state, const char *name, unsigned at_least, unsigned wrong_at_most)
{
	struct program *p = program_run(*state, name, false);

	fprintf(stderr, "%s without sources: %u of %u right, %u wrong\n", name, p->nright, p->ntried, p->nwrong);
	assert_true(p->nright >= at_least);
	assert_true(p->nwrong <= wrong_at_most);
	program_close(p);
}

/* ---- what other stores tell ---- */

/* The store instruction on the line whose comment begins so. */
static struct trace_site site_of(struct program *p, const char *type, const char *field, uint64_t offset, struct trace_node *node)
{
	struct trace_site site = { .object = &p->object, .id = ++p->f->nsites, .kind = PMT_STORE };

	for (size_t i = 0; i < p->steps.n; i++) {
		const struct symbol *list;
		const struct mark *m;

		symbols_find(p->f->symbols, &p->object, p->steps.at[i].pc, false, &list);
		m = mark_at(p, &list[0]);
		if (!m || m->n != 1 || strcmp(m->level[0][0].type, type) != 0 || strcmp(m->level[0][0].field, field) != 0 ||
		    m->level[0][0].offset != offset || p->steps.at[i].is_call != (node != NULL))
			continue;
		site.pc = p->steps.at[i].pc;
		site.size_bytes = p->steps.at[i].size_bytes;
		if (node) { /* made by libc, called from there */
			*node = (struct trace_node){ .object = &p->object, .pc = p->steps.at[i].end };
			site = (struct trace_site){ .id = site.id, .node = node, .pc = 1, .size_bytes = 16, .kind = PMT_STORE };
		}
		return site;
	}
	fail_msg("no store to %s.%s", type, field);
	return site;
}

static uint64_t outermost(struct program *p, const struct trace_site *site, uint64_t addr, struct typed *typed)
{
	struct trace_event ev = { .seq = ++p->f->seq, .site = site, .kind = PMT_STORE, .size_bytes = site->size_bytes, .addr = addr };

	types_of(p->types, &ev, typed);
	return typed->level[typed->n - 1].instance;
}

/* slot[i] = …: where the struct begins, the lowest element tells as long as no other field does. */
static void elements(void **state)
{
	struct program *p = program_open(*state, "forms-gcc-O0", true);
	struct trace_site slot = site_of(p, "outer", "slot[]", 96, NULL), real = site_of(p, "outer", "real", 264, NULL);
	uint64_t base = PMT_ADDR(1, p->f->base += 1 << 20), other = PMT_ADDR(1, p->f->base += 1 << 20);
	struct typed typed;

	assert_int_equal(outermost(p, &slot, base + 96 + 24, &typed), base + 24);
	assert_int_equal(outermost(p, &slot, base + 96, &typed), base);
	assert_int_equal(outermost(p, &slot, base + 96 + 24, &typed), base);
	assert_int_equal(outermost(p, &real, other + 264, &typed), other);
	assert_int_equal(outermost(p, &slot, other + 96 + 56, &typed), other);
	program_close(p);
}

/* Through a pointer to a number: typed once the struct around it is known, and only there. */
static void numbers(void **state)
{
	struct program *p = program_open(*state, "forms-gcc-O0", true);
	struct trace_site tag = site_of(p, "middle", "tag", 0, NULL), number = { .object = &p->object, .id = ++p->f->nsites, .kind = PMT_STORE };
	uint64_t base = PMT_ADDR(1, p->f->base += 1 << 20);
	struct typed typed;

	for (size_t i = 0; i < p->functions.n; i++)
		for (size_t k = 0; k < p->steps.n; k++)
			if (strcmp(p->functions.at[i].name, "put64") == 0 && p->steps.at[k].pc >= p->functions.at[i].start &&
			    p->steps.at[k].pc < p->functions.at[i].end)
				number = (struct trace_site){ .object = &p->object, .pc = p->steps.at[k].pc, .id = number.id, .size_bytes = 8, .kind = PMT_STORE };
	assert_true(number.pc != 0);
	outermost(p, &number, base + 8, &typed);
	assert_int_equal(typed.means, TYPE_BY_PATH);
	assert_int_equal(typed.level[0].instance, base);
	assert_int_equal(outermost(p, &tag, base + 8, &typed), base);
	assert_int_equal(outermost(p, &number, base + 8, &typed), base);
	assert_int_equal(typed.means, TYPE_BY_SOURCE);
	assert_int_equal(typed.n, 2);
	assert_string_equal(types_name(p->types, typed.level[1].field), "mid.tag");
	program_close(p);
}

/* A copy may store its end first: where it begins is known when the trace has been shown. */
static void copies(void **state)
{
	struct program *p = program_open(*state, "forms-gcc-O0", true);
	struct trace_node node;
	struct trace_site name = site_of(p, "outer", "name[]", 160, &node);
	uint64_t base = PMT_ADDR(1, p->f->base += 1 << 20), addr[2] = { base + 160 + 9, base + 160 };
	struct typed typed;

	for (unsigned i = 0; i < 4; i++) {
		struct trace_event ev = { .seq = p->f->seq + 1 + i % 2, .site = &name, .kind = PMT_STORE, .size_bytes = 16, .addr = addr[i % 2] };

		if (i < 2) {
			types_learn(p->types, &ev);
			continue;
		}
		types_of(p->types, &ev, &typed);
		assert_int_equal(typed.level[0].instance, base);
	}
	p->f->seq += 2;
	program_close(p);
}

/* Elements have their index, but for the bytes of texts; another path than was asked for is none. */
static void indices(void **state)
{
	static struct layout byte = { .kind = LAYOUT_SCALAR, .size_bytes = 1 }, word = { .kind = LAYOUT_SCALAR, .size_bytes = 8 };
	static struct layout text = { .kind = LAYOUT_ARRAY, .size_bytes = 24, .element = &byte, .count = 24 };
	static struct layout words = { .kind = LAYOUT_ARRAY, .size_bytes = 32, .element = &word, .count = 4 };
	static struct layout_field entry_fields[] = { { "id", 0, 8, &word, false }, { "text", 8, 24, &text, false }, { "slot", 32, 32, &words, false } };
	static struct layout entry = { .kind = LAYOUT_STRUCT, .name = "entry", .size_bytes = 64, .fields = entry_fields, .nfields = 3 };
	static struct layout entries = { .kind = LAYOUT_ARRAY, .size_bytes = 512, .element = &entry, .count = 8 };
	static struct layout_field log_fields[] = { { "count", 0, 8, &word, false }, { "entry", 64, 512, &entries, false } };
	static const struct layout log = { .kind = LAYOUT_STRUCT, .name = "log", .size_bytes = 576, .fields = log_fields, .nfields = 2 };
	static const struct {
		uint64_t offset, size_bytes;
		const char *like, *path;
	} cases[] = {
		{ 0, 8, "count", "count" },
		{ 64, 8, "entry[].id", "entry[0].id" },
		{ 64 + 3 * 64 + 8, 8, "entry[].text[]", "entry[3].text" },
		{ 64 + 3 * 64 + 8 + 5, 1, "entry[].text[]", "entry[3].text" },
		{ 64 + 7 * 64 + 32 + 16, 8, "entry[].slot[]", "entry[7].slot[2]" },
		{ 64 + 7 * 64 + 32 + 8, 16, "entry[].slot[]", "entry[7].slot[1..2]" },
		{ 64 + 2 * 64, 16, "entry[].id..text", "entry[2].id..text" },
		{ 64 + 64, 8, "entry[].text[]", NULL },
	};
	char *part;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = shape_indexed(&log, 0, &log, cases[i].offset, cases[i].size_bytes, cases[i].like);

		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
		else
			assert_null(path);
		free(path);
	}
	part = shape_indexed(&log, 64 + 5 * 64, &entry, 32 + 8, 8, "slot[]");
	assert_string_equal(part, "entry[5].slot[1]");
	free(part);
	assert_null(shape_indexed(&log, 64 + 5 * 64 + 8, &entry, 32 + 8, 8, "slot[]")); /* none begins there */
}

/* An element that a pointer leads to is one of the array that is known to be there. */
static void holders(void **state)
{
	static struct layout word = { .kind = LAYOUT_SCALAR, .size_bytes = 8 };
	static struct layout_field inner_fields[] = { { "id", 0, 8, &word, false }, { "key", 8, 8, &word, false } };
	static struct layout inner = { .kind = LAYOUT_STRUCT, .name = "inner", .size_bytes = 16, .fields = inner_fields, .nfields = 2 };
	static struct layout row = { .kind = LAYOUT_ARRAY, .size_bytes = 64, .element = &inner, .count = 4 };
	static struct layout_field outer_fields[] = { { "n", 0, 8, &word, false }, { "row", 8, 64, &row, false } };
	static struct layout outer = { .kind = LAYOUT_STRUCT, .name = "outer", .size_bytes = 72, .fields = outer_fields, .nfields = 2 };
	struct instances s = { 0 };

	(void)state;
	instances_add(&s, 1, &inner, 1000 + 8);
	instances_place(&s, 2, &outer, 1000, 16, 4); /* a guess holds nothing */
	assert_null(instances_holder(&s, &inner, 1000 + 8));
	instances_add(&s, 2, &outer, 1000);
	assert_int_equal(instances_holder(&s, &inner, 1000 + 8 + 3 * 16)->start, 1000);
	assert_null(instances_holder(&s, &inner, 1000 + 8 + 4 * 16)); /* behind it */
	assert_null(instances_holder(&s, &inner, 1000 + 16));	      /* between two elements */
	assert_null(instances_holder(&s, &inner, 1000 - 8));
	assert_null(instances_holder(&s, &outer, 1000));
	instances_release(&s);
}

/* Of objects that overlap, the one that most stores tell of. */
static void covering(void **state)
{
	struct layout l = { .kind = LAYOUT_STRUCT, .size_bytes = 64 };
	struct instances s = { 0 };

	(void)state;
	assert_null(instances_covering(&s, 1, &l, 1000));
	instances_add(&s, 1, &l, 1016);
	instances_add(&s, 1, &l, 1000);
	assert_int_equal(instances_covering(&s, 1, &l, 1030)->start, 1016); /* the first, if nothing else tells */
	instances_add(&s, 1, &l, 1000);
	assert_int_equal(instances_covering(&s, 1, &l, 1030)->start, 1000);
	assert_int_equal(instances_covering(&s, 1, &l, 1063)->start, 1000);
	assert_int_equal(instances_covering(&s, 1, &l, 1064)->start, 1016);
	assert_null(instances_covering(&s, 1, &l, 999));
	assert_null(instances_covering(&s, 2, &l, 1030));
	instances_place(&s, 3, &l, 2000, 8, 4);
	assert_null(instances_covering(&s, 3, &l, 2000)); /* a guess */
	instances_release(&s);
}

/* Objects that are known win over guesses, and nearer ones over those farther below. */
static void known_instances(void **state)
{
	struct layout l = { .kind = LAYOUT_STRUCT, .size_bytes = 64 };
	struct instances s = { 0 };
	uint64_t start;

	(void)state;
	assert_int_equal(s.list.n, 0);
	instances_place(&s, 1, &l, 1016, 8, 4);
	instances_place(&s, 1, &l, 1008, 8, 4);
	assert_int_equal(s.list.n, 1);
	assert_int_equal(s.list.at[0].start, 1008);
	assert_false(instances_known(&s, 1, 1016, 8, 4, &start));
	instances_add(&s, 1, &l, 1000);
	assert_true(instances_known(&s, 1, 1016, 8, 4, &start));
	assert_int_equal(start, 1000);
	assert_false(instances_known(&s, 2, 1016, 8, 4, &start));
	assert_false(instances_known(&s, 1, 1016, 8, 2, &start)); /* too far for two elements */
	assert_false(instances_known(&s, 1, 1012, 8, 4, &start)); /* between two elements */
	instances_add(&s, 1, &l, 2 * 4096);
	assert_true(instances_known(&s, 1, 5 * 4096, 4096, 0, &start)); /* without bounds */
	assert_int_equal(start, 2 * 4096);
	assert_null(instances_at(&s, 1000));
	instances_mark(&s, 1, 1004, 8);
	assert_int_equal(instances_at(&s, 1000)->start, 1000);
	assert_int_equal(instances_at(&s, 1008)->start, 1000);
	assert_null(instances_at(&s, 1016));
	instances_forget(&s, 1000, 8);
	assert_null(instances_at(&s, 1000));
	assert_int_equal(instances_at(&s, 1008)->start, 1000);
	instances_release(&s);
}

static void gcc_plain(void **state) { test_source(state, "forms-gcc-O0", 55); }
static void gcc_optimised(void **state) { test_source(state, "forms-gcc-O2", 40); }
static void clang_plain(void **state) { test_source(state, "forms-clang-O0", 55); }
static void clang_optimised(void **state) { test_source(state, "forms-clang-O2", 40); }
static void cxx_plain(void **state) { test_source(state, "forms_cxx-O0", 12); }
static void cxx_optimised(void **state) { test_source(state, "forms_cxx-O2", 8); }
static void gcc_plain_dwarf(void **state) { test_dwarf(state, "forms-gcc-O0", 40, 6); }
static void gcc_optimised_dwarf(void **state) { test_dwarf(state, "forms-gcc-O2", 30, 6); }
static void clang_plain_dwarf(void **state) { test_dwarf(state, "forms-clang-O0", 40, 6); }
static void cxx_dwarf(void **state) { test_dwarf(state, "forms_cxx-O0", 10, 2); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gcc_plain), cmocka_unit_test(gcc_optimised), cmocka_unit_test(clang_plain), cmocka_unit_test(clang_optimised),
		cmocka_unit_test(cxx_plain), cmocka_unit_test(cxx_optimised), cmocka_unit_test(gcc_plain_dwarf), cmocka_unit_test(gcc_optimised_dwarf),
		cmocka_unit_test(clang_plain_dwarf), cmocka_unit_test(cxx_dwarf), cmocka_unit_test(elements), cmocka_unit_test(numbers),
		cmocka_unit_test(copies), cmocka_unit_test(indices), cmocka_unit_test(holders), cmocka_unit_test(covering), cmocka_unit_test(known_instances),
	};

	return cmocka_run_group_tests(tests, types_set_up, types_tear_down);
}
