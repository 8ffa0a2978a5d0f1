/* Random programs for arm64: the model's crash states are those that the architecture's own words allow.
 *
 * The machine here is written from the formal text of Arm's manual (aarch64hwreqs.cat: barrier-ordered-before, locally-ordered-before; single-copy atomicity as
 * docs/model.md cites it), not from model/. A program becomes effects: reads, writes that are single-copy atomic, barriers. The manual's
 * relations are made between all pairs of effects, one by one, and closed. Of each line, every subset of its writes is tried: a crash can leave it if it
 * holds all that was cleaned and waited for, and with each write those ordered before it.
 *
 * PMEND_PROPERTY_PROGRAMS=N sets the number of programs, PMEND_SEED=N repeats one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/internal.h"

#if defined(__SANITIZE_ADDRESS__)
#define NPROGRAMS 3000u
#else
#define NPROGRAMS 60000u
#endif

#define OPS_MAX 9u
#define NTHREADS 2u
#define NLINES 2u
#define LINE 64u
#define WRITES_MAX 10u /* of a line */
#define EFFECTS_MAX 64u

static const uint64_t base = PMT_ADDR(1, 0);

/* ---- programs ---- */

enum what { STR, STP, ST1, STRQ, STLR, STXR, SWP, SWPA, SWPL, SWPAL, LDAR, STLR_ELSEWHERE, SWPAL_ELSEWHERE, CASAL_FAILS, CVAC, CVAP, BARRIER };

struct op {
	enum what what;
	uint32_t thread;
	uint32_t at, size_bytes;
	uint8_t value;
	bool is_dsb;
	bool is_other; /* of two instructions of amd64 that are alike */
	uint32_t option;
};

struct program {
	uint64_t seed;
	const struct platform *platform;
	bool has_lse2;
	bool is_ported; /* recorded on amd64 */
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

static bool op_stores(const struct op *op)
{
	return op->what <= SWPAL;
}

static void op_random(struct op *op, uint64_t *seed)
{
	static const uint8_t whats[] = { STR, STR, STR, STR, STR, STR, STP, ST1, STRQ, STLR, STLR, STXR, SWP, SWPA, SWPL, SWPAL, LDAR, LDAR, STLR_ELSEWHERE,
					 SWPAL_ELSEWHERE, CASAL_FAILS, CVAC, CVAP, CVAP, BARRIER, BARRIER, BARRIER };
	static const uint8_t options[] = { 1, 2, 3, 5, 6, 7, 9, 10, 10, 11, 11, 11, 13, 14, 15, 15 };
	static const uint8_t sizes[] = { 8, 8, 8, 4, 4, 1, 2 };

	*op = (struct op){ .what = whats[pick(seed, sizeof whats)], .thread = pick(seed, NTHREADS), .value = (uint8_t)(1 + pick(seed, 3)),
			   .is_dsb = pick(seed, 2), .option = options[pick(seed, sizeof options)] };
	op->size_bytes = sizes[pick(seed, sizeof sizes)];
	op->at = pick(seed, NLINES) * LINE + op->size_bytes * pick(seed, 3);
	if (op->what == STP || op->what == ST1 || op->what == STRQ) {
		op->size_bytes = op->what != STRQ && pick(seed, 2) ? 8 : 16;
		op->at = pick(seed, NLINES) * LINE + 8 * pick(seed, 3);
		if (pick(seed, 3) == 0)
			op->at += 1 + pick(seed, 7); /* not aligned, or to less */
	} else if (op->what >= STXR && op->what <= SWPAL && pick(seed, 3) == 0) {
		op->size_bytes = 16;
		op->at = pick(seed, NLINES) * LINE + 16 * pick(seed, 2);
	} else if (op->what == STR && op->size_bytes <= 4 && pick(seed, 3) == 0) {
		op->at += 1; /* not aligned, and across a block of 16 bytes, or a line */
		if (pick(seed, 2))
			op->at = (pick(seed, 2) ? 16 : LINE) - op->size_bytes / 2;
	}
}

/* The nearest that amd64 has. */
static void op_port(struct op *op, uint64_t *seed)
{
	op->is_other = pick(seed, 2);
	op->is_dsb = true;
	op->option = 15;
	if (op->what == STP || op->what == ST1 || (op->what >= STLR && op->what <= SWPL))
		op->what = op->size_bytes == 16 ? STRQ : STR;
	else if (op->what >= LDAR && op->what <= CASAL_FAILS)
		op->what = SWPAL_ELSEWHERE;
	else if (op->what == CVAC)
		op->what = CVAP;
	if (op->what == STRQ)
		op->size_bytes = 16;
}

/* ---- effects ---- */

enum effect_kind { READ, WRITE, FENCE };

struct effect {
	enum effect_kind kind;
	uint32_t op, thread;
	uint32_t at, size_bytes; /* of a write */
	bool is_acquire, is_release, is_amo;
	uint32_t option;
};

struct machine {
	const struct program *program;
	struct effect effects[EFFECTS_MAX];
	uint32_t n;
	bool before[EFFECTS_MAX][EFFECTS_MAX];
};

static struct effect *effect_add(struct machine *m, uint32_t i, enum effect_kind kind)
{
	if (m->n == EFFECTS_MAX)
		return NULL;
	m->effects[m->n] = (struct effect){ .kind = kind, .op = i, .thread = m->program->ops[i].thread };
	return &m->effects[m->n++];
}

static bool add_write(struct machine *m, uint32_t i, uint32_t at, uint32_t size_bytes)
{
	const struct op *op = &m->program->ops[i];
	struct effect *w = effect_add(m, i, WRITE);

	if (!w)
		return false;
	w->at = at;
	w->size_bytes = size_bytes;
	w->is_release = op->what == STLR || op->what == SWPL || op->what == SWPAL;
	w->is_amo = op->what >= SWP;
	return true;
}

static bool is_in_block(uint32_t at, uint32_t size_bytes)
{
	return at / 16 == (at + size_bytes - 1) / 16;
}

static uint32_t element_bytes(const struct op *op)
{
	return op->what == STP ? op->size_bytes / 2 : op->what == ST1 ? 4 : op->what == STRQ ? 8 : op->size_bytes;
}

/* One access: whole if it is aligned, or, with LSE2, in one block of 16 bytes; else each byte. */
static bool add_access(struct machine *m, uint32_t i, uint32_t at, uint32_t size_bytes, bool has_lse2)
{
	if (at % size_bytes == 0 || (has_lse2 && is_in_block(at, size_bytes)))
		return add_write(m, i, at, size_bytes);
	for (uint32_t k = 0; k < size_bytes; k++)
		if (!add_write(m, i, at + k, 1))
			return false;
	return true;
}

/* What is single-copy atomic. A pair is one access if LSE2 makes it so, else one for each register. A vector register of 16 bytes is two, and LSE2 does not
 * help it. Returns false if the machine has no room. */
static bool add_writes(struct machine *m, uint32_t i)
{
	const struct op *op = &m->program->ops[i];
	uint32_t element = element_bytes(op);

	if (op->what >= STLR || (op->what == STP && m->program->has_lse2 && is_in_block(op->at, op->size_bytes)))
		return add_write(m, i, op->at, op->size_bytes);
	for (uint32_t at = 0; at < op->size_bytes; at += element)
		if (!add_access(m, i, op->at + at, element, m->program->has_lse2 && op->what != STRQ))
			return false;
	return true;
}

/* The model takes unaligned elements of one block together, where LSE2 keeps some of them whole: it then has fewer contents. */
static bool is_coarse(const struct program *p)
{
	for (uint32_t i = 0; i < p->nops; i++)
		if (p->has_lse2 && (p->ops[i].what == STP || p->ops[i].what == ST1) && p->ops[i].at % element_bytes(&p->ops[i]) != 0 &&
		    !(p->ops[i].what == STP && is_in_block(p->ops[i].at, p->ops[i].size_bytes)))
			return true;
	return false;
}

static bool is_read(enum what w)
{
	return w == SWP || w == SWPA || w == SWPL || w == SWPAL || w == LDAR || w == SWPAL_ELSEWHERE || w == CASAL_FAILS;
}

static bool make_effects(struct machine *m)
{
	m->n = 0;
	for (uint32_t i = 0; i < m->program->nops; i++) {
		const struct op *op = &m->program->ops[i];
		struct effect *e;

		if (is_read(op->what)) {
			if (!(e = effect_add(m, i, READ)))
				return false;
			e->is_acquire = op->what != SWP && op->what != SWPL;
			e->is_amo = op->what != LDAR;
		}
		if (op_stores(op) && !add_writes(m, i))
			return false;
		if (op->what == STLR_ELSEWHERE || op->what == SWPAL_ELSEWHERE) {
			if (!(e = effect_add(m, i, WRITE)))
				return false;
			e->is_release = true;
			e->is_amo = op->what == SWPAL_ELSEWHERE;
			e->at = UINT32_MAX;
		}
		if (op->what == BARRIER) {
			if (!(e = effect_add(m, i, FENCE)))
				return false;
			e->option = op->option;
		}
	}
	return true;
}

/* aarch64fences.cat, as of the manual's issue M.b: the domain does not matter to the order of memory effects. */
static bool is_full(const struct effect *e)
{
	return e->kind == FENCE && (e->option & 3) == 3;
}

static bool overlap(const struct effect *x, const struct effect *y)
{
	return x->kind == WRITE && y->kind == WRITE && x->at < y->at + y->size_bytes && y->at < x->at + x->size_bytes;
}

static bool is_both(const struct machine *m, const struct effect *w)
{
	for (uint32_t k = 0; k < m->n; k++)
		if (m->effects[k].op == w->op && m->effects[k].kind == READ && m->effects[k].is_acquire)
			return w->kind == WRITE && w->is_amo && w->is_release;
	return false;
}

static bool fence_between(const struct machine *m, uint32_t i, uint32_t k)
{
	const struct effect *x = &m->effects[i], *y = &m->effects[k];

	for (uint32_t f = i + 1; f < k; f++) {
		const struct effect *e = &m->effects[f];

		if (e->kind != FENCE || e->thread != x->thread)
			continue;
		if (is_full(e) || ((e->option & 3) == 2 && x->kind == WRITE && y->kind == WRITE) || ((e->option & 3) == 1 && x->kind == READ))
			return true;
	}
	return false;
}

/* Effects i and k, i first. */
static bool is_ordered(const struct machine *m, uint32_t i, uint32_t k)
{
	const struct effect *x = &m->effects[i], *y = &m->effects[k];

	if (x->kind == FENCE || y->kind == FENCE)
		return false;
	if (x->thread != y->thread) /* the recorded order, where it can matter: in a line */
		return x->kind == WRITE && y->kind == WRITE && x->at / LINE == y->at / LINE && x->at != UINT32_MAX;
	if (x->op == y->op)
		return x->kind == READ && y->kind == WRITE; /* rmw */
	return overlap(x, y) ||				 /* lws */
	       fence_between(m, i, k) ||		 /* po; [dmb.full]; po | [W]; po; [dmb.st]; po; [W] | [R]; po; [dmb.ld]; po */
	       is_both(m, x) ||				 /* [range([A]; amo; [L])]; po */
	       (x->is_release && y->is_acquire) ||	 /* [L]; po; [A] */
	       (x->kind == READ && x->is_acquire) ||	 /* [A]; po */
	       (y->kind == WRITE && y->is_release);	 /* po; [L] */
}

static void make_order(struct machine *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t k = 0; k < m->n; k++)
			m->before[i][k] = i < k && is_ordered(m, i, k);
	for (uint32_t via = 0; via < m->n; via++)
		for (uint32_t i = 0; i < via; i++)
			for (uint32_t k = via + 1; m->before[i][via] && k < m->n; k++)
				m->before[i][k] |= m->before[via][k];
}

/* ---- what is durable ---- */

static bool flushes(const struct program *p, const struct op *op)
{
	return op->what == CVAP || (op->what == CVAC && p->platform->is_coherency_enough);
}

/* A dsb for all accesses that promises completion in every issue of the manual: not nsh. */
static bool waits(const struct op *op)
{
	return op->what == BARRIER && op->is_dsb && (op->option & 3) == 3 && op->option >> 2 != 1;
}

/* A clean of its line after it, and a dsb by the thread that cleaned. */
static bool is_durable_adr(const struct machine *m, const struct effect *w)
{
	const struct program *p = m->program;

	for (uint32_t i = w->op + 1; i < p->nops; i++)
		for (uint32_t k = i + 1; flushes(p, &p->ops[i]) && p->ops[i].at / LINE == w->at / LINE && k < p->nops; k++)
			if (waits(&p->ops[k]) && p->ops[k].thread == p->ops[i].thread)
				return true;
	return false;
}

static bool arrives(const struct op *op)
{
	return op->what == STLR || op->what == SWPL || op->what == SWPAL || op->what == STLR_ELSEWHERE || op->what == SWPAL_ELSEWHERE ||
	       (op->what == BARRIER && (op->option & 2));
}

/* The cache survives. A store is there when its thread ordered it (a release counts as a barrier), or when another thread stored later. */
static bool is_durable_eadr(const struct machine *m, const struct effect *w)
{
	for (uint32_t i = w->op; i < m->program->nops; i++) {
		const struct op *op = &m->program->ops[i];

		if (op->thread == w->thread ? arrives(op) : op_stores(op))
			return true;
	}
	return false;
}

static bool is_durable(const struct machine *m, const struct effect *w)
{
	return m->program->platform->is_cache_durable ? is_durable_eadr(m, w) : is_durable_adr(m, w);
}

/* ---- the contents of a line ---- */

struct line_states {
	uint8_t contents[1u << WRITES_MAX][LINE];
	uint32_t nlost[1u << WRITES_MAX];
	uint32_t n;
};

static void states_add(struct line_states *s, const uint8_t *bytes, uint32_t nlost)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (memcmp(s->contents[i], bytes, LINE) == 0) {
			s->nlost[i] = nlost < s->nlost[i] ? nlost : s->nlost[i];
			return;
		}
	memcpy(s->contents[s->n], bytes, LINE);
	s->nlost[s->n++] = nlost;
}

static uint32_t writes_of(const struct machine *m, uint32_t line, uint32_t *which)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n && n <= WRITES_MAX; i++)
		if (m->effects[i].kind == WRITE && m->effects[i].at != UINT32_MAX && m->effects[i].at / LINE == line)
			which[n++] = i;
	return n;
}

static bool is_possible(const struct machine *m, const uint32_t *which, uint32_t n, uint32_t set)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!(set >> i & 1)) {
			if (is_durable(m, &m->effects[which[i]]))
				return false;
			continue;
		}
		for (uint32_t k = 0; k < i; k++)
			if (m->before[which[k]][which[i]] && !(set >> k & 1))
				return false;
	}
	return true;
}

static void line_run(const struct machine *m, uint32_t line, struct line_states *out)
{
	uint32_t which[WRITES_MAX + 1], n = writes_of(m, line, which);

	out->n = 0;
	for (uint32_t set = 0; set < 1u << n; set++) {
		uint8_t bytes[LINE] = { 0 };

		if (!is_possible(m, which, n, set))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (set >> i & 1)
				memset(bytes + m->effects[which[i]].at % LINE, m->program->ops[m->effects[which[i]].op].value, m->effects[which[i]].size_bytes);
		states_add(out, bytes, n - (uint32_t)__builtin_popcount(set));
	}
}

/* ---- the model ---- */

struct image {
	uint8_t bytes[NLINES * LINE + LINE];
};

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(bytes, ((struct image *)arg)->bytes + (addr - base), len_bytes);
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(((struct image *)arg)->bytes + (addr - base), bytes, len_bytes);
}

static void step_meta(struct model *m, const char *text)
{
	model_step(m, &(struct trace_event){ .kind = PMT_META, .data = (const uint8_t *)text, .data_len = (uint32_t)strlen(text) });
}

static void event_ported(const struct op *op, struct trace_event *ev)
{
	static const enum pmt_kind kinds[][2] = {
		[STR] = { PMT_STORE, PMT_STORE_NT }, [STRQ] = { PMT_STORE, PMT_STORE_NT }, [SWPAL] = { PMT_STORE_RMW, PMT_STORE_RMW },
		[SWPAL_ELSEWHERE] = { PMT_RMW_FENCE, PMT_RMW_FENCE }, [CVAP] = { PMT_CLWB, PMT_CLFLUSH }, [BARRIER] = { PMT_SFENCE, PMT_MFENCE },
	};

	ev->kind = kinds[op->what][op->is_other];
	ev->arg[0] = 0;
}

static void event_of(const struct program *p, const struct op *op, struct trace_event *ev)
{
	static const struct {
		enum pmt_kind kind;
		uint64_t arg;
	} kinds[] = {
		[STR] = { PMT_STORE, 0 }, [STP] = { PMT_STORE_PAIR, 0 }, [ST1] = { PMT_STORE_VECTOR, 4 }, [STRQ] = { PMT_STORE_VECTOR, 16 },
		[STLR] = { PMT_STORE_ORDERED, 2 }, [STXR] = { PMT_STORE_ORDERED, 0 }, [SWP] = { PMT_STORE_ORDERED, 4 },
		[SWPA] = { PMT_STORE_ORDERED, 5 }, [SWPL] = { PMT_STORE_ORDERED, 6 }, [SWPAL] = { PMT_STORE_ORDERED, 7 },
		[LDAR] = { PMT_ORDER, 1 }, [STLR_ELSEWHERE] = { PMT_ORDER, 2 }, [SWPAL_ELSEWHERE] = { PMT_ORDER, 7 },
		[CASAL_FAILS] = { PMT_ORDER, 1 }, [CVAC] = { PMT_DC_CVAC, 0 }, [CVAP] = { PMT_DC_CVAP, 0 }, [BARRIER] = { PMT_DMB, 0 },
	};

	ev->kind = op->what == BARRIER && op->is_dsb ? PMT_DSB : kinds[op->what].kind;
	ev->arg[0] = op->what == BARRIER ? op->option : kinds[op->what].arg;
	ev->thread = op->thread;
	ev->addr = base + op->at;
	if (p->is_ported)
		event_ported(op, ev);
}

static struct model *model_run(const struct program *p, struct image *image, uint32_t line_stores)
{
	struct model *m = model_new(p->platform, &(struct model_image){ image_read, image_write, image });
	uint8_t bytes[PMT_STORE_MAX_BYTES];

	memset(image, 0, sizeof *image);
	m->line_stores = line_stores;
	if (!p->is_ported)
		step_meta(m, "isa=arm64");
	if (p->has_lse2 && !p->is_ported)
		step_meta(m, "lse2=1");
	for (uint32_t i = 0; i < p->nops; i++) {
		struct trace_event ev = { .seq = i + 1, .data = bytes };

		event_of(p, &p->ops[i], &ev);
		if (op_stores(&p->ops[i])) {
			memset(bytes, p->ops[i].value, p->ops[i].size_bytes);
			ev.size_bytes = ev.data_len = p->ops[i].size_bytes;
		}
		model_step(m, &ev);
	}
	return m;
}

/* ---- the comparison ---- */

struct comparison {
	const struct program *program;
	const struct line_states *states;
	uint32_t line;
	struct model *model;
	bool is_forgetful, is_seen;
	uint64_t asked; /* bytes */
};

static void print_program(const struct program *p)
{
	print_message("seed %llu, %s%s\n", (unsigned long long)p->seed, p->platform->name, p->has_lse2 ? ", LSE2" : "");
	for (uint32_t i = 0; i < p->nops; i++) {
		struct trace_event ev = { 0 };

		event_of(p, &p->ops[i], &ev);
		print_message("T%u %s a+%u 0x%02x (%u bytes) arg %llu\n", p->ops[i].thread, trace_kinds[ev.kind].name, p->ops[i].at, p->ops[i].value,
			      p->ops[i].size_bytes, (unsigned long long)ev.arg[0]);
	}
}

#define wrong(c, fmt, ...)                                                                                                         \
	do {                                                                                                                       \
		print_program((c)->program);                                                                                       \
		fail_msg("seed %llu, line %u: " fmt, (unsigned long long)(c)->program->seed, (c)->line, ##__VA_ARGS__);            \
	} while (0)

static void count_lost(const struct model_lost *s, void *arg)
{
	(void)s;
	++*(uint32_t *)arg;
}

static void compare_content(struct comparison *c, const uint8_t *content, uint32_t nlost)
{
	uint32_t nstores = 0;

	for (uint32_t i = 0; i < c->states->n; i++) {
		if (memcmp(c->states->contents[i], content, LINE) != 0)
			continue;
		if (!c->is_forgetful && (c->states->nlost[i] != nlost || !model_each_lost(c->model, base + c->line * LINE, content, count_lost, &nstores) ||
					 nstores > nlost || (nlost > 0 && nstores == 0)))
			wrong(c, "%u writes lost, the model says %u of %u stores", c->states->nlost[i], nlost, nstores);
		return;
	}
	wrong(c, "the model makes a content up");
}

static void compare_choice(const struct model_choice *choice, void *arg)
{
	struct comparison *c = arg;

	if (choice->addr != base + c->line * LINE)
		return;
	c->is_seen = true;
	assert_false(choice->is_partial);
	for (size_t i = 0; i < choice->ncontents; i++)
		compare_content(c, choice->contents + i * LINE, choice->nlost[i]);
	if (!c->is_forgetful && choice->ncontents != c->states->n)
		wrong(c, "%u contents, the model has %zu", c->states->n, choice->ncontents);
}

static void count_value(const uint8_t *value, void *arg)
{
	(void)value;
	++*(uint32_t *)arg;
}

/* The values of some bytes are those of the contents. */
static void compare_values(struct comparison *c, uint64_t *seed)
{
	uint32_t from = pick(seed, 48), len = 1 + pick(seed, 8), want = 0, have = 0;

	for (uint32_t i = 0; i < c->states->n; i++) {
		bool is_new = true;

		for (uint32_t k = 0; k < i; k++)
			is_new &= memcmp(c->states->contents[k] + from, c->states->contents[i] + from, len) != 0;
		want += is_new;
	}
	assert_true(model_each_value(c->model, base + c->line * LINE + from, len, count_value, &have));
	if (have != want)
		wrong(c, "%u values of %u bytes at %u, the model has %u", want, len, from, have);
}

static bool is_alike(const uint8_t *a, const uint8_t *b, uint64_t mask)
{
	for (uint32_t i = 0; i < LINE; i++)
		if (mask >> i & 1 && a[i] != b[i])
			return false;
	return true;
}

static uint64_t asked_of(uint64_t addr, void *arg)
{
	(void)addr;
	return ((struct comparison *)arg)->asked;
}

/* One of the contents for each value of the asked bytes: the one that loses least. */
static void compare_asked(const struct model_choice *choice, void *arg)
{
	struct comparison *c = arg;
	uint32_t want = 0;

	if (choice->addr != base + c->line * LINE)
		return;
	c->is_seen = true;
	assert_true((choice->asked & c->asked) == c->asked);
	for (uint32_t i = 0; i < c->states->n; i++) {
		bool is_new = true;

		for (uint32_t k = 0; k < i; k++)
			is_new &= !is_alike(c->states->contents[k], c->states->contents[i], c->asked);
		want += is_new;
	}
	if (choice->ncontents != want)
		wrong(c, "%u values of the bytes 0x%llx, the model has %zu", want, (unsigned long long)c->asked, choice->ncontents);
	for (size_t i = 0; i < choice->ncontents; i++) {
		const uint8_t *content = choice->contents + i * LINE;

		compare_content(c, content, choice->nlost[i]);
		for (size_t k = 0; k < i; k++)
			assert_false(is_alike(content, choice->contents + k * LINE, c->asked));
		for (uint32_t k = 0; k < c->states->n; k++)
			if (is_alike(c->states->contents[k], content, c->asked) && c->states->nlost[k] < choice->nlost[i])
				wrong(c, "a content that loses %u writes, where %u are enough", choice->nlost[i], c->states->nlost[k]);
	}
}

static void compare_line(struct comparison *c, const struct image *image, uint64_t *seed)
{
	c->is_seen = false;
	model_each_choice(c->model, compare_choice, c);
	if (!c->is_seen && (c->states->n != 1 || memcmp(c->states->contents[0], image->bytes + c->line * LINE, LINE) != 0) && !c->is_forgetful)
		wrong(c, "%u contents, the model has one", c->states->n);
	if (c->is_forgetful)
		return;
	compare_values(c, seed);
	c->asked = (mix(*seed) | mix(*seed + 1)) & ~((uint64_t)1 << pick(seed, LINE));
	c->asked &= pick(seed, 2) ? ~(uint64_t)0 : (uint64_t)0xff << 8 * pick(seed, 4);
	c->is_seen = false;
	model_each_asked(c->model, 0, asked_of, compare_asked, c);
	if (!c->is_seen && c->states->n != 1)
		wrong(c, "the model does not tell of it");
}

/* False: too large. */
static bool make_program(struct machine *m, struct program *p, uint64_t *seed)
{
	uint32_t which[WRITES_MAX + 1];

	p->nops = 1 + pick(seed, OPS_MAX);
	for (uint32_t i = 0; i < p->nops; i++)
		op_random(&p->ops[i], seed);
	for (uint32_t i = 0; p->is_ported && i < p->nops; i++)
		op_port(&p->ops[i], seed);
	m->program = p;
	if (!make_effects(m))
		return false;
	for (uint32_t line = 0; line <= NLINES; line++)
		if (writes_of(m, line, which) > WRITES_MAX)
			return false;
	return true;
}

static uint64_t check_program(uint64_t number)
{
	static const char *const names[] = { "arm64", "arm64", "arm64", "arm64-poc", "eadr" };
	static struct machine machine;
	static struct line_states states;
	struct program p = { .seed = number };
	uint64_t seed = mix(number * 2 + 1), total = 0;
	struct image image;

	p.platform = platform_find(names[pick(&seed, 5)]);
	p.is_ported = p.platform->is_weak && pick(&seed, 4) == 0;
	p.has_lse2 = p.is_ported || pick(&seed, 2);
	while (!make_program(&machine, &p, &seed))
		;
	make_order(&machine);
	for (int is_forgetful = 0; is_forgetful < 2; is_forgetful++) {
		struct comparison c = { .program = &p, .states = &states, .is_forgetful = is_forgetful || is_coarse(&p) };

		c.model = model_run(&p, &image, is_forgetful ? 2 : MODEL_LINE_STORES);
		for (c.line = 0; c.line <= NLINES; c.line++) { /* an unaligned store may reach one more */
			line_run(&machine, c.line, &states);
			total += states.n;
			compare_line(&c, &image, &seed);
		}
		model_free(c.model);
	}
	return total;
}

static void model_is_the_architecture(void **state)
{
	const char *only = getenv("PMEND_SEED"), *count = getenv("PMEND_PROPERTY_PROGRAMS");
	uint64_t first = only ? strtoull(only, NULL, 0) : 1, n = only ? 1 : count ? strtoull(count, NULL, 0) : NPROGRAMS, total = 0;

	(void)state;
	for (uint64_t i = first; i < first + n; i++)
		total += check_program(i);
	print_message("%llu programs from seed %llu, %llu contents of lines\n", (unsigned long long)n, (unsigned long long)first, (unsigned long long)total);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(model_is_the_architecture) };

	return cmocka_run_group_tests_name("arm64 model against the architecture", tests, NULL, NULL);
}
