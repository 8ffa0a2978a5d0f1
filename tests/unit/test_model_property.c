/* Random small programs: the model's crash states are those of a machine that executes the program step by step.
 *
 * The machine has a memory, a write queue for each line of the cache, and a write-combining buffer for each thread. Between
 * two operations any write may leave for memory: from a cache line only those of its oldest store, from a buffer any. Each
 * byte of memory knows when it was stored, and refuses older writes. A flush marks writes; a fence waits for the thread's
 * marks and buffer, a clflush for its line and what the thread's buffer has of it. All choices are tried; what is in memory when the program has ended is a crash state.
 *
 * PMEND_PROPERTY_PROGRAMS=N sets the number of programs, PMEND_SEED=N repeats one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "model/internal.h"

#if defined(__SANITIZE_ADDRESS__)
#define NPROGRAMS 5000u /* several times slower */
#else
#define NPROGRAMS 100000u
#endif

#define OPS_MAX 8u
#define NTHREADS 3u
#define NLINES 3u
#define LINE_MAX_BYTES 512u
#define WRITES_MAX 13u /* of a program: at most 2^13 of them have reached memory or not */
#define SET_ROOM (4u << WRITES_MAX)

static const uint64_t base = PMT_ADDR(1, 0);

/* ---- programs ---- */

struct op {
	enum pmt_kind kind;
	uint32_t thread; /* 0… */
	uint32_t at, size_bytes;
	uint8_t value;
	uint8_t element_bytes; /* of PMT_STORE_VECTOR: a string instruction, or 16: a vector register */
};

struct program {
	uint64_t seed;
	const struct platform *platform;
	struct op ops[OPS_MAX];
	uint32_t nops;
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

static bool is_store(enum pmt_kind kind)
{
	return kind == PMT_STORE || kind == PMT_STORE_NT || kind == PMT_STORE_RMW || kind == PMT_STORE_SYS || kind == PMT_STORE_VECTOR;
}

/* Whole elements in one line, as they are recorded. */
static void string_random(struct op *op, uint64_t *seed, uint8_t element_bytes)
{
	uint32_t most;

	op->element_bytes = element_bytes;
	op->at = op->at / 64 * 64 + element_bytes * pick(seed, 32u / element_bytes);
	most = (64 - op->at % 64) / element_bytes;
	op->size_bytes = element_bytes * (element_bytes == 16 ? 1 : 1 + pick(seed, most < 12 ? most : 12));
}

static void op_random(struct op *op, uint64_t *seed, uint32_t line_bytes)
{
	static const enum pmt_kind kinds[] = {
		PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE_NT, PMT_STORE_NT, PMT_STORE_NT,
		PMT_STORE_RMW, PMT_STORE_SYS, PMT_STORE_VECTOR, PMT_STORE_VECTOR, PMT_CLWB, PMT_CLWB, PMT_CLWB, PMT_CLFLUSHOPT, PMT_CLFLUSH, PMT_SFENCE,
		PMT_SFENCE, PMT_SFENCE, PMT_MFENCE, PMT_RMW_FENCE, PMT_LFENCE, PMT_MSYNC, PMT_LOAD,
	};
	static const uint8_t elements[] = { 1, 2, 4, 8, 16 };
	static const uint8_t sizes[] = { 8, 8, 8, 8, 8, 4, 4, 1, 16, 16, 32 };
	uint32_t line = pick(seed, NLINES);

	op->kind = kinds[pick(seed, sizeof kinds / sizeof *kinds)];
	op->thread = pick(seed, NTHREADS);
	op->value = (uint8_t)(1 + pick(seed, 4));
	op->size_bytes = sizes[pick(seed, sizeof sizes)];
	if (op->kind == PMT_STORE_RMW && op->size_bytes > 16)
		op->size_bytes = 16;
	switch (pick(seed, 8)) {
	case 0: /* across the end of the line */
		op->at = (line % 2) * line_bytes + line_bytes - 1 - pick(seed, 7);
		break;
	case 1:
		op->at = line * line_bytes + pick(seed, 17);
		break;
	case 2:
		op->at = line * line_bytes;
		if (op->kind == PMT_STORE_NT)
			op->size_bytes = 64;
		break;
	default:
		op->at = line * line_bytes + 8 * pick(seed, 3);
		break;
	}
	if (op->kind == PMT_STORE_VECTOR)
		string_random(op, seed, elements[pick(seed, sizeof elements)]);
}

/* ---- the machine ---- */

struct write {
	uint32_t at, size_bytes; /* bytes of memory */
	uint32_t op;		 /* which stored it, also the time */
	uint32_t older;		 /* bits of the writes of the same line that must leave first */
};

struct machine {
	uint32_t pc, left;	   /* the next operation; bits of the writes that are in memory */
	uint32_t line[NLINES];	   /* bits of all writes that ever went into the cache line */
	uint32_t marked[NTHREADS]; /* by clwb and clflushopt since the thread's last fence */
	uint32_t buffer[NTHREADS]; /* all writes that ever went into the write-combining buffer */
};

struct run {
	const struct program *program;
	struct write writes[OPS_MAX * 12];
	uint32_t first_write[OPS_MAX + 1]; /* of each operation */
	uint8_t memory[NLINES * LINE_MAX_BYTES], stored_at[NLINES * LINE_MAX_BYTES];
	uint64_t hash; /* of memory */
	uint8_t seen[OPS_MAX + 1][1u << WRITES_MAX]; /* by pc and left, which decide all the rest */
	uint64_t nseen;
	uint64_t states[SET_ROOM]; /* hashes of memory, 0 is free */
	uint32_t used[SET_ROOM], nstates;
};

#define EMPTY_HASH 0x5bd1e995u /* of a memory of zeros */

static uint64_t byte_hash(uint32_t at, uint8_t value)
{
	return value ? mix((uint64_t)at << 8 | value) : 0;
}

/* Where the state is, or where it goes. */
static uint32_t state_find(const struct run *r, uint64_t hash)
{
	uint32_t i = (uint32_t)hash & (SET_ROOM - 1);

	while (r->states[i] && r->states[i] != hash)
		i = (i + 1) & (SET_ROOM - 1);
	return i;
}

static void state_add(struct run *r)
{
	uint32_t i = state_find(r, r->hash);

	if (r->states[i])
		return;
	r->states[i] = r->hash;
	r->used[r->nstates++] = i;
}

/* Intel: "unaligned 16-, 32-, and 64-bit accesses to cached memory that fit within a cache line". AMD: "naturally aligned", or "contained entirely within a naturally
 * aligned quadword"; with AVX, "naturally aligned" up to 16 bytes. Intel, with AVX: MOVAPS and the like, 16 bytes. */
static bool is_guaranteed(const struct op *op, const struct platform *p)
{
	const uint32_t last = op->at + op->size_bytes - 1;
	const bool is_intel = op->at / 64 == last / 64 && op->size_bytes <= 8;
	const bool is_amd = op->at / 8 == last / 8;
	const bool is_aligned_16 = op->size_bytes == 16 && op->at % 16 == 0, is_movaps = op->kind == PMT_STORE_VECTOR && op->element_bytes == 16;

	switch (p->units) {
	case UNITS_BOTH: return (is_intel && is_amd) || (is_aligned_16 && is_movaps);
	case UNITS_INTEL: return is_intel || (is_aligned_16 && is_movaps);
	case UNITS_AMD: return is_amd || (is_aligned_16 && (is_movaps || op->kind == PMT_STORE));
	}
	return false;
}

/* How the machine cuts a store into writes that it performs at once. */
static uint32_t cut(const struct op *op, const struct platform *p, struct write *w)
{
	uint32_t end = op->at + op->size_bytes, n = 0, next, unit_bytes = 8;
	bool is_string = op->kind == PMT_STORE_VECTOR && op->element_bytes <= 8;
	bool is_special = (op->kind == PMT_STORE_RMW && op->size_bytes <= 16) ||
			  (op->kind == PMT_STORE_NT && op->size_bytes == 64 && op->at % 64 == 0);

	if (is_string)
		unit_bytes = op->element_bytes;
	else if (is_guaranteed(op, p) || (is_special && op->at / 64 == (end - 1) / 64)) {
		w[0] = (struct write){ .at = op->at, .size_bytes = op->size_bytes };
		return 1;
	}
	for (uint32_t at = op->at; at < end; at = next) {
		next = (at / unit_bytes + 1) * unit_bytes;
		if (next > end)
			next = end;
		w[n++] = (struct write){ .at = at, .size_bytes = next - at };
	}
	return n;
}

static uint32_t program_cut(struct run *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->program->nops; i++) {
		r->first_write[i] = n;
		if (is_store(r->program->ops[i].kind)) {
			uint32_t k = cut(&r->program->ops[i], r->program->platform, &r->writes[n]);

			for (; k > 0; k--, n++)
				r->writes[n].op = i;
		}
	}
	return r->first_write[r->program->nops] = n;
}

static void explore(struct run *r, struct machine m);

static bool is_new(struct run *r, uint32_t pc, uint32_t left)
{
	if (r->seen[pc][left])
		return false;
	r->nseen++;
	r->seen[pc][left] = 1;
	return true;
}

static void explore_write(struct run *r, struct machine m, uint32_t i)
{
	const struct write *w = &r->writes[i];
	uint8_t value = r->program->ops[w->op].value, old[64], old_time[64], time = (uint8_t)(w->op + 1);
	uint8_t *memory = r->memory + w->at, *stored_at = r->stored_at + w->at;
	uint64_t old_hash = r->hash;

	m.left |= 1u << i;
	if (!is_new(r, m.pc, m.left))
		return;
	memcpy(old, memory, w->size_bytes);
	memcpy(old_time, stored_at, w->size_bytes);
	for (uint32_t k = 0; k < w->size_bytes; k++) {
		if (stored_at[k] > time)
			continue;
		r->hash ^= byte_hash(w->at + k, memory[k]) ^ byte_hash(w->at + k, value);
		memory[k] = value;
		stored_at[k] = time;
	}
	explore(r, m);
	memcpy(memory, old, w->size_bytes);
	memcpy(stored_at, old_time, w->size_bytes);
	r->hash = old_hash;
}

static void issue_store(struct run *r, struct machine *m, const struct op *op)
{
	uint32_t line_bytes = r->program->platform->line_bytes, first = r->first_write[m->pc], end = r->first_write[m->pc + 1];

	for (uint32_t i = first; i < end; i++) {
		uint32_t line = r->writes[i].at / line_bytes;

		r->writes[i].older = 0;
		if (op->kind == PMT_STORE_NT && r->program->platform->has_flush) {
			m->buffer[op->thread] |= 1u << i;
		} else {
			r->writes[i].older = m->line[line] & ((1u << first) - 1);
			m->line[line] |= 1u << i;
		}
	}
}

/* Of all writes, those in this line. */
static uint32_t writes_in(const struct run *r, uint32_t line)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < r->first_write[r->program->nops]; i++)
		bits |= (uint32_t)(r->writes[i].at / r->program->platform->line_bytes == line) << i;
	return bits;
}

/* Executes one operation; false if it must wait for writes to leave. */
static bool execute(struct run *r, struct machine *m)
{
	const struct op *op = &r->program->ops[m->pc];
	const struct platform *p = r->program->platform;
	uint32_t wait = 0;
	bool is_fence = op->kind == PMT_SFENCE || op->kind == PMT_MFENCE || op->kind == PMT_RMW_FENCE || op->kind == PMT_STORE_RMW;

	if (op->kind == PMT_MSYNC)
		wait = m->line[0] | m->line[1] | m->line[2] | m->buffer[op->thread];
	if (op->kind == PMT_CLFLUSH && p->has_flush) /* "no write to memory may be reordered" with it */
		wait = m->line[op->at / p->line_bytes] | (m->buffer[op->thread] & writes_in(r, op->at / p->line_bytes));
	if (is_fence && p->has_flush)
		wait = m->marked[op->thread] | m->buffer[op->thread];
	if (p->is_cache_durable) /* the cache is memory: nothing else happens before all writes are there */
		wait |= m->line[0] | m->line[1] | m->line[2];
	if (wait & ~m->left)
		return false;
	if (is_fence)
		m->marked[op->thread] = 0;
	if (op->kind == PMT_CLWB || op->kind == PMT_CLFLUSHOPT)
		m->marked[op->thread] |= m->line[op->at / p->line_bytes];
	if (is_store(op->kind))
		issue_store(r, m, op);
	m->pc++;
	return true;
}

/* The writes of the last operation, if it is a copy that may have come halfway: a string instruction, or the kernel's. */
static uint32_t halfway(const struct run *r)
{
	const uint32_t nops = r->program->nops, first = r->first_write[nops - 1], end = r->first_write[nops];
	const struct op *last = &r->program->ops[nops - 1];
	const bool is_copy = last->kind == PMT_STORE_SYS || (last->kind == PMT_STORE_VECTOR && last->element_bytes <= 8);

	return is_copy && end - first > 1 ? (uint32_t)(((uint64_t)1 << end) - ((uint64_t)1 << first)) : 0;
}

static void explore(struct run *r, struct machine m)
{
	struct machine after = m;
	uint32_t cached = m.line[0] | m.line[1] | m.line[2], issued = r->first_write[m.pc];
	bool is_visible = !r->program->platform->is_cache_durable || !(cached & ~m.left & ~halfway(r));

	if (m.pc == r->program->nops) {
		if (is_visible)
			state_add(r);
	} else if (execute(r, &after) && is_new(r, after.pc, after.left)) {
		explore(r, after);
	}
	for (uint32_t i = 0; i < issued; i++)
		if (!(m.left >> i & 1) && !(r->writes[i].older & ~m.left))
			explore_write(r, m, i);
}

/* ---- the model ---- */

struct product {
	VEC(uint64_t) hashes;
	uint64_t unmentioned; /* hash of the image without the lines that have choices */
	uint8_t image[NLINES * LINE_MAX_BYTES];
};

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(bytes, ((struct product *)arg)->image + (addr - base), len_bytes);
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(((struct product *)arg)->image + (addr - base), bytes, len_bytes);
}

static uint64_t bytes_hash(uint32_t at, const uint8_t *bytes, uint32_t len_bytes)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < len_bytes; i++)
		hash ^= byte_hash(at + i, bytes[i]);
	return hash;
}

static void multiply(const struct model_choice *c, void *arg)
{
	struct product *p = arg;
	uint32_t at = (uint32_t)(c->addr - base);
	size_t n = p->hashes.n;

	assert_false(c->is_partial);
	p->unmentioned ^= bytes_hash(at, p->image + at, c->len_bytes);
	for (size_t k = c->ncontents; k-- > 0;) {
		uint64_t hash = bytes_hash(at, c->contents + k * c->len_bytes, c->len_bytes);

		for (size_t i = 0; i < n; i++) {
			uint64_t old = p->hashes.at[i];

			if (k)
				*vec_add(&p->hashes) = old ^ hash;
			else
				p->hashes.at[i] ^= hash;
		}
	}
}

/* False if the model forgot states. */
static bool model_run(const struct program *program, struct product *p, uint32_t line_stores)
{
	struct model *m = model_new(program->platform, &(struct model_image){ image_read, image_write, p });
	uint8_t bytes[PMT_STORE_MAX_BYTES];
	bool is_exact;

	m->line_stores = line_stores;
	memset(p->image, 0, NLINES * program->platform->line_bytes);
	for (uint32_t i = 0; i < program->nops; i++) {
		const struct op *op = &program->ops[i];
		struct trace_event ev = { .seq = i + 1, .kind = op->kind, .thread = op->thread, .addr = base + op->at };

		if (is_store(op->kind)) {
			memset(bytes, op->value, op->size_bytes);
			ev.data = bytes;
			ev.size_bytes = ev.data_len = op->size_bytes;
			ev.arg[0] = op->element_bytes;
		}
		if (op->kind == PMT_MSYNC) {
			ev.arg[0] = NLINES * LINE_MAX_BYTES;
			ev.arg[1] = MS_SYNC;
		}
		model_step(m, &ev);
	}
	p->hashes.n = 0;
	*vec_add(&p->hashes) = 0;
	p->unmentioned = EMPTY_HASH ^ bytes_hash(0, p->image, NLINES * program->platform->line_bytes);
	model_each_choice(m, multiply, p);
	assert_int_equal(p->hashes.n, model_nstates(m));
	if (model_is_durable(m, base, NLINES * program->platform->line_bytes))
		assert_int_equal(p->hashes.n, 1);
	is_exact = model_is_exact(m);
	model_free(m);
	return is_exact;
}

/* ---- the comparison ---- */

static void program_random(struct run *r, struct program *p)
{
	uint64_t seed = mix(p->seed * 2 + 1);
	uint32_t nothers = 0;

	while (!platforms[nothers + 1]->is_weak) /* those of arm64 have a machine of their own */
		nothers++;
	p->platform = platforms[pick(&seed, 10) < 8 ? 0 : 1 + pick(&seed, nothers)]; /* the first has most rules */
	p->nops = 1 + pick(&seed, OPS_MAX);
	r->program = p;
	do {
		for (uint32_t i = 0; i < p->nops; i++)
			op_random(&p->ops[i], &seed, p->platform->line_bytes);
	} while (program_cut(r) > WRITES_MAX);
}

static void program_print(const struct program *p)
{
	print_message("seed %llu, platform %s\n", (unsigned long long)p->seed, p->platform->name);
	for (uint32_t i = 0; i < p->nops; i++)
		print_message("T%u %s a+%u 0x%02x (%u bytes)\n", p->ops[i].thread, trace_kinds[p->ops[i].kind].name, p->ops[i].at,
			      p->ops[i].value, p->ops[i].size_bytes);
}

static void run_init(struct run *r)
{
	uint32_t nwrites = r->first_write[r->program->nops];

	for (uint32_t pc = 0; pc <= r->program->nops; pc++)
		memset(r->seen[pc], 0, (size_t)1 << nwrites);
	while (r->nstates)
		r->states[r->used[--r->nstates]] = 0;
	memset(r->memory, 0, NLINES * r->program->platform->line_bytes);
	memset(r->stored_at, 0, NLINES * r->program->platform->line_bytes);
	r->hash = EMPTY_HASH;
}

static uint32_t count_unreachable(const struct run *r, const struct product *product)
{
	uint32_t n = 0;

	for (size_t i = 0; i < product->hashes.n; i++)
		n += !r->states[state_find(r, product->hashes.at[i] ^ product->unmentioned)];
	return n;
}

/* Also with a model that forgets states from the third store in a line on: what is left must be reachable. */
static void check_program(struct run *r, struct product *product, uint64_t seed)
{
	struct program p = { .seed = seed };
	uint32_t nunreachable;

	program_random(r, &p);
	run_init(r);
	explore(r, (struct machine){ 0 });
	assert_true(model_run(&p, product, MODEL_LINE_STORES));
	nunreachable = count_unreachable(r, product);
	if (nunreachable || r->nstates != product->hashes.n) {
		program_print(&p);
		fail_msg("seed %llu: the machine reaches %u states; the model has %zu, %u of them unreachable",
			 (unsigned long long)seed, r->nstates, product->hashes.n, nunreachable);
	}
	if (model_run(&p, product, 2))
		return;
	nunreachable = count_unreachable(r, product);
	if (nunreachable) {
		program_print(&p);
		fail_msg("seed %llu: a model that forgets states made up %u", (unsigned long long)seed, nunreachable);
	}
}

static void model_equals_machine(void **state)
{
	const char *only = getenv("PMEND_SEED"), *count = getenv("PMEND_PROPERTY_PROGRAMS");
	uint64_t first = only ? strtoull(only, NULL, 0) : 1;
	uint64_t n = only ? 1 : count ? strtoull(count, NULL, 0) : NPROGRAMS, nstates = 0;
	struct run *r = xcalloc(1, sizeof *r);
	struct product product = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++) {
		check_program(r, &product, seed);
		nstates += r->nstates;
	}
	print_message("%llu programs from seed %llu, %llu crash states, %llu machine states\n", (unsigned long long)n,
		      (unsigned long long)first, (unsigned long long)nstates, (unsigned long long)r->nseen);
	vec_release(&product.hashes);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(model_equals_machine) };

	return cmocka_run_group_tests_name("model against machine", tests, NULL, NULL);
}
