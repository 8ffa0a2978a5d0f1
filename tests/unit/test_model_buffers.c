/* Random tiny programs, all interleavings: what the model allows on any of them, at any moment, is what a machine with store
 * buffers reaches.
 *
 * Each thread of the machine runs ahead of its store buffer. Entries leave in order, except that clwb and clflushopt may leave
 * early past stores to other lines, and late, after younger stores. A store gets its place in the order of its line when it
 * leaves. Locked instructions and mfence wait for the buffer; sfence is an entry that waits its turn. Non-temporal stores take
 * their place in that order like plain ones; what real write-combining adds to this (threads that race on the same bytes
 * without a fence may see them ordered late) is not modelled.
 *
 * PMEND_BUFFER_PROGRAMS=N sets the number of programs, PMEND_SEED=N repeats one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "util/vec.h"

#if defined(__SANITIZE_ADDRESS__)
#define NPROGRAMS 300u
#else
#define NPROGRAMS 5000u
#endif

#define NTHREADS 2u
#define THREAD_OPS_MAX 3u
#define OPS_MAX 6u
#define NWORDS 4u /* two in each of two lines */
#define WRITES_MAX (2 * OPS_MAX)

/* What is in memory: the number of the operation that stored each word, 0 for none; 4 bits a word. */
#define NCONTENTS (1u << 4 * NWORDS)

/* ---- programs ---- */

struct op {
	enum pmt_kind kind;
	uint8_t word, nwords;
};

struct program {
	struct op ops[NTHREADS][THREAD_OPS_MAX];
	uint8_t nops[NTHREADS];
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint32_t pick(uint64_t *seed, uint32_t n)
{
	return (uint32_t)((mix(*seed += 0x9e3779b97f4a7c15u) >> 32) % n);
}

static void program_random(struct program *p, uint64_t seed)
{
	static const enum pmt_kind kinds[] = { PMT_STORE,    PMT_STORE,	  PMT_STORE,	 PMT_STORE,	PMT_STORE_NT, PMT_STORE_NT,
					       PMT_STORE_RMW, PMT_CLWB,	  PMT_CLWB,	 PMT_CLFLUSHOPT, PMT_CLFLUSH,  PMT_SFENCE,
					       PMT_SFENCE,   PMT_MFENCE, PMT_RMW_FENCE, PMT_LFENCE };

	seed = mix(seed * 2 + 1);
	p->nops[0] = (uint8_t)(2 + pick(&seed, 2));
	p->nops[1] = (uint8_t)(1 + pick(&seed, 3));
	for (uint32_t t = 0; t < NTHREADS; t++)
		for (uint32_t i = 0; i < p->nops[t]; i++) {
			struct op *op = &p->ops[t][i];

			op->kind = kinds[pick(&seed, sizeof kinds / sizeof *kinds)];
			op->word = (uint8_t)pick(&seed, NWORDS);
			op->nwords = 1;
			if (pick(&seed, 4) == 0) {
				op->word &= 2;
				op->nwords = 2;
			}
		}
}

/* The value that an operation stores. */
static uint8_t op_value(uint32_t thread, uint32_t i)
{
	return (uint8_t)(1 + thread * THREAD_OPS_MAX + i);
}

/* ---- the machine ---- */

struct write {
	uint8_t word, nwords, value, time;
	uint8_t line; /* of the cache; NOT_CACHED: unordered, waits in the thread's buffer */
	uint8_t thread;
};
#define NOT_CACHED 255

/* Compared as bytes: there is no padding. */
struct machine {
	uint8_t pc[NTHREADS];
	uint8_t entries[NTHREADS][THREAD_OPS_MAX]; /* operations in the store buffer, oldest first */
	uint8_t nentries[NTHREADS];
	uint8_t nwrites, time;
	uint8_t memory[NWORDS], stored_at[NWORDS];
	struct write writes[WRITES_MAX]; /* that left a store buffer */
	uint16_t left;			 /* bits of those that are in memory */
	uint16_t marked[NTHREADS];
};
_Static_assert(sizeof(struct machine) == 2 + 6 + 2 + 2 + 8 + 6 * WRITES_MAX + 2 + 4, "no padding");

/* A set of contents. */
struct contents {
	uint8_t has[NCONTENTS];
	VEC(uint32_t) all;
};

static void contents_add(struct contents *c, uint32_t content)
{
	if (!c->has[content])
		*vec_add(&c->all) = content;
	c->has[content] = 1;
}

static void contents_clear(struct contents *c)
{
	while (c->all.n)
		c->has[c->all.at[--c->all.n]] = 0;
}

#define SEEN_ROOM (1u << 15)

struct search {
	const struct program *program;
	VEC(struct machine) todo;
	uint64_t seen[SEEN_ROOM]; /* a table, 0 is free */
	uint32_t used[SEEN_ROOM];
	uint32_t nseen;
	struct contents contents;
};

static uint64_t machine_hash(const struct machine *m)
{
	return pmt_hash(m, sizeof *m) | 1;
}

static bool seen_add(struct search *s, uint64_t key)
{
	uint32_t i = (uint32_t)mix(key) & (SEEN_ROOM - 1);

	for (; s->seen[i]; i = (i + 1) & (SEEN_ROOM - 1))
		if (s->seen[i] == key)
			return false;
	if (s->nseen >= SEEN_ROOM / 2)
		fail_msg("too many states");
	s->seen[i] = key;
	s->used[s->nseen++] = i;
	return true;
}

static void search_add(struct search *s, const struct machine *m)
{
	if (seen_add(s, machine_hash(m)))
		*vec_add(&s->todo) = *m;
}

static bool is_flush_later(const struct op *op)
{
	return op->kind == PMT_CLWB || op->kind == PMT_CLFLUSHOPT;
}

static bool is_store(const struct op *op)
{
	return op->kind == PMT_STORE || op->kind == PMT_STORE_NT || op->kind == PMT_STORE_RMW;
}

/* May `later` leave the store buffer before `earlier`? */
static bool may_overtake(const struct op *later, const struct op *earlier)
{
	bool is_same_line = later->word / 2 == earlier->word / 2;

	if (earlier->kind == PMT_SFENCE || later->kind == PMT_SFENCE)
		return false;
	if (is_flush_later(later))
		return is_flush_later(earlier) || !is_same_line;
	if (is_flush_later(earlier))
		return is_store(later) || !is_same_line;
	return false;
}

/* A vector of two words is two writes; a locked one is whole. */
static void store_leaves(struct machine *m, uint32_t thread, const struct op *op, uint8_t value)
{
	uint8_t nwords = op->kind == PMT_STORE_RMW ? op->nwords : 1;

	m->time++;
	for (uint8_t word = op->word; word < op->word + op->nwords; word = (uint8_t)(word + nwords))
		m->writes[m->nwrites++] = (struct write){ word, nwords, value, m->time,
							  op->kind == PMT_STORE_NT ? NOT_CACHED : op->word / 2, (uint8_t)thread };
}

static uint16_t writes_of_line(const struct machine *m, uint32_t line)
{
	uint16_t bits = 0;

	for (uint32_t i = 0; i < m->nwrites; i++)
		if (m->writes[i].line == line)
			bits |= (uint16_t)(1u << i);
	return bits;
}

/* Non-temporal stores of the thread to the line. */
static uint16_t buffered(const struct machine *m, uint32_t thread, uint32_t line)
{
	uint16_t bits = 0;

	for (uint32_t i = 0; i < m->nwrites; i++)
		if (m->writes[i].line == NOT_CACHED && m->writes[i].thread == thread && m->writes[i].word / 2 == line)
			bits |= (uint16_t)(1u << i);
	return bits;
}

/* Performs a fence of the thread; false if it must wait. */
static bool fence(struct machine *m, uint32_t thread)
{
	uint16_t wait = m->marked[thread];

	for (uint32_t i = 0; i < m->nwrites; i++)
		if (m->writes[i].line == NOT_CACHED && m->writes[i].thread == thread)
			wait |= (uint16_t)(1u << i);
	if (wait & ~m->left)
		return false;
	m->marked[thread] = 0;
	return true;
}

/* The thread executes its next operation: into the store buffer, or at once if it is a full fence. */
static bool thread_step(const struct search *s, struct machine *m, uint32_t t)
{
	uint32_t i = m->pc[t];
	const struct op *op = &s->program->ops[t][i];

	if (i == s->program->nops[t])
		return false;
	m->pc[t]++;
	if (op->kind == PMT_LFENCE)
		return true;
	if (op->kind != PMT_MFENCE && op->kind != PMT_RMW_FENCE && op->kind != PMT_STORE_RMW) {
		m->entries[t][m->nentries[t]++] = (uint8_t)i;
		return true;
	}
	if (m->nentries[t] || !fence(m, t))
		return false;
	if (op->kind == PMT_STORE_RMW)
		store_leaves(m, t, op, op_value(t, i));
	return true;
}

/* Entry k of the thread's store buffer leaves it. */
static bool entry_step(const struct search *s, struct machine *m, uint32_t t, uint32_t k)
{
	const struct op *ops = s->program->ops[t];
	uint32_t i = m->entries[t][k];
	const struct op *op = &ops[i];

	for (uint32_t j = 0; j < k; j++)
		if (!may_overtake(op, &ops[m->entries[t][j]]))
			return false;
	if (is_store(op))
		store_leaves(m, t, op, op_value(t, i));
	else if (is_flush_later(op))
		m->marked[t] |= writes_of_line(m, op->word / 2);
	else if (op->kind == PMT_CLFLUSH && ((writes_of_line(m, op->word / 2) | buffered(m, t, op->word / 2)) & ~m->left))
		return false;
	else if (op->kind == PMT_SFENCE && !fence(m, t))
		return false;
	memmove(&m->entries[t][k], &m->entries[t][k + 1], m->nentries[t] - k - 1);
	m->entries[t][--m->nentries[t]] = 0;
	return true;
}

/* A write reaches memory. */
static bool write_step(struct machine *m, uint32_t i)
{
	const struct write *w = &m->writes[i];

	if (m->left >> i & 1)
		return false;
	for (uint32_t j = 0; j < m->nwrites; j++)
		if (w->line != NOT_CACHED && m->writes[j].line == w->line && m->writes[j].time < w->time && !(m->left >> j & 1))
			return false;
	m->left |= (uint16_t)(1u << i);
	for (uint32_t k = w->word; k < w->word + w->nwords; k++)
		if (m->stored_at[k] < w->time) {
			m->stored_at[k] = w->time;
			m->memory[k] = w->value;
		}
	return true;
}

static void machine_run(struct search *s)
{
	struct machine m = { 0 }, next;

	while (s->nseen)
		s->seen[s->used[--s->nseen]] = 0;
	s->todo.n = 0;
	search_add(s, &m);
	while (s->todo.n) {
		uint32_t content = 0;

		m = s->todo.at[--s->todo.n];
		for (uint32_t k = 0; k < NWORDS; k++)
			content |= (uint32_t)m.memory[k] << 4 * k;
		contents_add(&s->contents, content);
		for (uint32_t t = 0; t < NTHREADS; t++) {
			next = m;
			if (thread_step(s, &next, t))
				search_add(s, &next);
			for (uint32_t k = 0; k < m.nentries[t]; k++) {
				next = m;
				if (entry_step(s, &next, t, k))
					search_add(s, &next);
			}
		}
		for (uint32_t i = 0; i < m.nwrites; i++) {
			next = m;
			if (write_step(&next, i))
				search_add(s, &next);
		}
	}
}

/* ---- the model, on every interleaving ---- */

struct product {
	VEC(uint32_t) contents;
	uint8_t image[2 * PMT_LINE_BYTES];
};

static const uint64_t base = PMT_ADDR(1, 0);

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(bytes, ((struct product *)arg)->image + (addr - base), len_bytes);
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(((struct product *)arg)->image + (addr - base), bytes, len_bytes);
}

static void multiply(const struct model_choice *c, void *arg)
{
	struct product *p = arg;
	uint32_t shift = c->addr == base ? 0 : 8;
	size_t n = p->contents.n;

	for (size_t k = 0; k < c->ncontents; k++)
		for (size_t i = 0; i < n; i++) {
			const uint8_t *content = c->contents + k * c->len_bytes;
			uint32_t line = (uint32_t)content[0] | (uint32_t)content[8] << 4;
			uint32_t all = (p->contents.at[i] & ~(0xffu << shift)) | line << shift;

			*vec_add(&p->contents) = all;
		}
	memmove(p->contents.at, p->contents.at + n, (p->contents.n - n) * sizeof *p->contents.at);
	p->contents.n -= n;
}

static uint64_t word_addr(uint32_t word)
{
	return base + word / 2 * PMT_LINE_BYTES + word % 2 * 8;
}

static void collect(const struct model *m, struct product *p, struct contents *contents)
{
	p->contents.n = 0;
	*vec_add(&p->contents) = (uint32_t)p->image[0] | (uint32_t)p->image[8] << 4 | (uint32_t)p->image[64] << 8 |
				 (uint32_t)p->image[72] << 12;
	model_each_choice(m, multiply, p);
	for (size_t i = 0; i < p->contents.n; i++)
		contents_add(contents, p->contents.at[i]);
}

/* Runs the interleaving in which bit i of `order` says which thread comes at step i, and asks after each step. */
static void model_run(const struct program *program, uint32_t order, struct product *p, struct contents *contents)
{
	struct model *m = model_new(platforms[0], &(struct model_image){ image_read, image_write, p });
	uint32_t n = program->nops[0] + program->nops[1], pc[NTHREADS] = { 0 };

	memset(p->image, 0, sizeof p->image);
	collect(m, p, contents);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = order >> i & 1;
		const struct op *op = &program->ops[t][pc[t]];
		uint8_t bytes[16] = { [0] = op_value(t, pc[t]), [8] = op_value(t, pc[t]) };
		struct trace_event ev = { .seq = i + 1, .kind = op->kind, .thread = t, .addr = word_addr(op->word) };

		if (is_store(op)) {
			ev.data = bytes;
			ev.size_bytes = ev.data_len = 8u * op->nwords;
		}
		pc[t]++;
		model_step(m, &ev);
		collect(m, p, contents);
	}
	model_free(m);
}

static void model_run_all(const struct program *program, struct product *p, struct contents *contents)
{
	uint32_t n = program->nops[0] + program->nops[1];

	for (uint32_t order = 0; order < 1u << n; order++)
		if (__builtin_popcount(order) == program->nops[1])
			model_run(program, order, p, contents);
}

/* ---- the comparison ---- */

static void program_print(const struct program *p)
{
	for (uint32_t t = 0; t < NTHREADS; t++)
		for (uint32_t i = 0; i < p->nops[t]; i++)
			print_message("T%u %s word %u (%u words) value %u\n", t, trace_kinds[p->ops[t][i].kind].name,
				      p->ops[t][i].word, p->ops[t][i].nwords, op_value(t, i));
}

/* Fails if a has a content that b lacks. */
static void check_subset(const struct program *p, uint64_t seed, const struct contents *a, const struct contents *b, const char *who)
{
	for (size_t i = 0; i < a->all.n; i++) {
		if (b->has[a->all.at[i]])
			continue;
		program_print(p);
		fail_msg("seed %llu: content %04x (word 0 is the last digit) is reached only by the %s", (unsigned long long)seed,
			 a->all.at[i], who);
	}
}

static void check_program(struct search *s, struct product *product, struct contents *contents, uint64_t seed)
{
	struct program p;

	program_random(&p, seed);
	contents_clear(contents);
	contents_clear(&s->contents);
	s->program = &p;
	machine_run(s);
	model_run_all(&p, product, contents);
	check_subset(&p, seed, contents, &s->contents, "model");
	check_subset(&p, seed, &s->contents, contents, "machine");
}

static void interleavings_equal_store_buffers(void **state)
{
	const char *only = getenv("PMEND_SEED"), *count = getenv("PMEND_BUFFER_PROGRAMS");
	uint64_t first = only ? strtoull(only, NULL, 0) : 1;
	uint64_t n = only ? 1 : count ? strtoull(count, NULL, 0) : NPROGRAMS, ncontents = 0, nsteps = 0;
	struct contents *contents = xcalloc(1, sizeof *contents);
	struct search *s = xcalloc(1, sizeof *s);
	struct product product = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++) {
		check_program(s, &product, contents, seed);
		ncontents += contents->all.n;
		nsteps += s->nseen;
	}
	print_message("%llu programs from seed %llu, %llu crash states, %llu machine states\n", (unsigned long long)n,
		      (unsigned long long)first, (unsigned long long)ncontents, (unsigned long long)nsteps);
	vec_release(&contents->all);
	vec_release(&s->contents.all);
	vec_release(&s->todo);
	free(contents);
	free(s);
	vec_release(&product.contents);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(interleavings_equal_store_buffers) };

	return cmocka_run_group_tests_name("model against store buffers", tests, NULL, NULL);
}
