/* Stores that lose their mapping: random programs, beside the plain way, which looks at all stores of the range at each unmap and at all
 * orphans at each sync. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "check/orphans.h"
#include "model/model.h"

enum { FILES = 3, PAGES = 40 };
#define FILE_BYTES ((uint64_t)PAGES * PMT_PAGE_BYTES)

struct piece {
	uint64_t seq, addr, len_bytes;
};

struct plain {
	VEC(struct piece) known, list;
};

struct world {
	struct model *m;
	struct orphans orphans;
	struct plain plain;
	uint64_t seq, random;
	uint32_t pages; /* of a file that stores go to */
};

static uint32_t below(struct world *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % n;
}

static bool judge(const struct model_store *s, struct finding *f, void *arg)
{
	(void)arg;
	*f = (struct finding){ .first_seq = s->seq };
	return !s->is_overwritten;
}

static void plain_store(const struct model_store *s, void *arg)
{
	struct plain *p = arg;
	const struct piece piece = { s->seq, s->addr, s->size_bytes };

	for (size_t i = 0; i < p->known.n; i++)
		if (p->known.at[i].seq == piece.seq && p->known.at[i].addr == piece.addr)
			return;
	if (s->is_overwritten)
		return;
	*vec_add(&p->known) = piece;
	*vec_add(&p->list) = piece;
}

static void plain_forget(struct plain *p, struct range synced)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.at[i].addr < synced.from || p->list.at[i].addr + p->list.at[i].len_bytes > synced.to)
			p->list.at[kept++] = p->list.at[i];
	p->list.n = kept;
}

/* Some pages of a file, or all of it. */
static struct range some_pages(struct world *w)
{
	const uint64_t file = PMT_ADDR(1 + below(w, FILES), 0);
	const uint32_t first = below(w, PAGES), n = 1 + below(w, 3);

	if (below(w, 3) == 0)
		return (struct range){ file, file + FILE_BYTES };
	return (struct range){ file + (uint64_t)first * PMT_PAGE_BYTES, file + (uint64_t)(first + n) * PMT_PAGE_BYTES };
}

static void step(struct world *w, enum pmt_kind kind, uint64_t addr, uint32_t size_bytes)
{
	static uint8_t data[64];
	struct trace_event ev = { .seq = ++w->seq, .kind = kind, .thread = 1, .addr = addr, .size_bytes = (uint8_t)size_bytes, .data = data };

	memset(data, (int)w->seq, sizeof data);
	ev.data_len = size_bytes;
	if (trace_is_store(kind))
		orphans_note_store(&w->orphans, w->m, &ev);
	model_step(w->m, &ev);
}

static void random_step(struct world *w)
{
	const uint64_t addr = PMT_ADDR(1 + below(w, FILES), below(w, w->pages * PMT_PAGE_BYTES - 64));
	struct range r;

	switch (below(w, 40)) {
	case 0:
		r = some_pages(w);
		model_each(w->m, r.from, r.to - r.from, plain_store, &w->plain);
		orphans_unmap(&w->orphans, w->m, r.from, r.to - r.from, judge, NULL);
		break;
	case 1:
		r = below(w, 9) ? some_pages(w) : (struct range){ 0, UINT64_MAX };
		plain_forget(&w->plain, r);
		orphans_forget(&w->orphans, r);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
	case 6: step(w, PMT_CLFLUSH, addr & -64ull, 64); break;
	case 7: step(w, PMT_STORE, addr, 1 + below(w, 64)); break;
	default: step(w, PMT_STORE, addr & -8ull, 8); break;
	}
}

static int by_store(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct piece));
}

static void compare(struct world *w)
{
	VEC(struct piece) ours = { 0 };

	orphans_forget_gone(&w->orphans);
	for (size_t i = 0; i < w->orphans.list.n; i++) {
		const struct orphan *o = &w->orphans.list.at[i];

		assert_false(o->is_gone);
		assert_true(o->finding.first_seq == o->seq);
		*vec_add(&ours) = (struct piece){ o->seq, o->addr, o->len_bytes };
	}
	assert_int_equal(ours.n, w->plain.list.n);
	if (ours.n) {
		qsort(ours.at, ours.n, sizeof *ours.at, by_store);
		qsort(w->plain.list.at, w->plain.list.n, sizeof *ours.at, by_store);
		assert_memory_equal(ours.at, w->plain.list.at, ours.n * sizeof *ours.at);
	}
	vec_release(&ours);
}

static void run(const char *platform, uint32_t pages, uint64_t seed, uint32_t nsteps)
{
	const struct platform *p = platform_find(platform);
	struct world w = { .random = seed, .pages = pages };

	assert_non_null(p);
	w.m = model_new(p, NULL);
	w.orphans.line_bytes = p->line_bytes;
	for (uint32_t i = 0; i < nsteps; i++) {
		random_step(&w);
		if (i % 97 == 0)
			compare(&w);
	}
	compare(&w);
	assert_true(w.plain.known.n > 0);
	orphans_release(&w.orphans);
	vec_release(&w.plain.known);
	vec_release(&w.plain.list);
	model_free(w.m);
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		run(seed % 2 ? "x86-adr" : "msync", seed % 3 ? PAGES : 1, seed, 1000);
}

/* Nothing is unmapped for a long time: the file's list is given up, with lines in it that are stored to only once. */
static void test_given_up(void **state)
{
	struct world w = { .random = 5, .pages = 1 };
	const struct range file = { PMT_ADDR(1, 0), PMT_ADDR(1, FILE_BYTES) };

	(void)state;
	w.m = model_new(platform_find("x86-adr"), NULL);
	w.orphans.line_bytes = 64;
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 300; i++)
			step(&w, PMT_STORE, PMT_ADDR(1, (uint64_t)i * 64), 8);
		for (uint32_t i = 0; i < 1000; i++)
			step(&w, PMT_STORE, PMT_ADDR(1, 20000 + i % 2 * 64), 8);
		/* first without the first lines, which stay in the list */
		model_each(w.m, file.from + 256, file.to - file.from - 256, plain_store, &w.plain);
		orphans_unmap(&w.orphans, w.m, file.from + 256, file.to - file.from - 256, judge, NULL);
		compare(&w);
		model_each(w.m, file.from, file.to - file.from, plain_store, &w.plain);
		orphans_unmap(&w.orphans, w.m, file.from, file.to - file.from, judge, NULL);
		compare(&w);
		plain_forget(&w.plain, file);
		orphans_forget(&w.orphans, file);
		compare(&w);
	}
	orphans_release(&w.orphans);
	vec_release(&w.plain.known);
	vec_release(&w.plain.list);
	model_free(w.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_given_up) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
