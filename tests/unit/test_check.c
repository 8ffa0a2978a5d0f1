/* The frame around the oracles and those that need more than a recorded program: assert-ordered against brute force, evidence from
 * recovery runs, sets of bytes and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "check/check.h"
#include "check/word_table.h"

#define POOL_BYTES 128u
#define MAX_EVENTS 12u
#define PM(offset) PMT_ADDR(1, offset)

struct program {
	struct trace_event events[MAX_EVENTS];
	uint8_t data[MAX_EVENTS][64];
	uint32_t n;
};

static struct trace_event *add(struct program *p, enum pmt_kind kind, uint32_t thread, uint64_t offset, uint32_t size_bytes)
{
	struct trace_event *ev = &p->events[p->n];

	*ev = (struct trace_event){ .seq = p->n + 1, .kind = kind, .thread = thread, .addr = PM(offset), .size_bytes = size_bytes };
	memset(p->data[p->n], (int)p->n + 1, sizeof p->data[0]); /* each store has its own value */
	ev->data = p->data[p->n];
	p->n++;
	return ev;
}

/* Runs a program, twice if wanted; gives how often that kind was found. */
static uint64_t judge(const struct program *p, const struct check_options *o, const char *kind)
{
	struct error err;
	struct check *c = check_new(o, &err);
	uint64_t n = 0;

	assert_non_null(c);
	for (uint32_t i = 0; i < p->n; i++)
		check_event(c, &p->events[i]);
	check_finish(c);
	if (check_wants_again(c)) {
		check_again(c);
		for (uint32_t i = 0; i < p->n; i++)
			check_event(c, &p->events[i]);
		check_finish_again(c);
	}
	for (size_t i = 0; i < check_nfindings(c); i++)
		n += strcmp(check_finding(c, i)->kind, kind) == 0 ? check_finding(c, i)->count : 0;
	check_free(c);
	return n;
}

/* ---- assert-ordered: the model's crash states at every moment, looked at one by one ---- */

struct brute {
	uint8_t image[POOL_BYTES]; /* durable for good */
	uint8_t newest[POOL_BYTES];
	uint8_t now[POOL_BYTES]; /* a state */
	const struct trace_event *assertion;
	bool is_wrong;
};

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	const struct brute *b = arg;

	for (uint32_t i = 0; i < len_bytes; i++)
		bytes[i] = PMT_OFFSET(addr) + i < POOL_BYTES ? b->image[PMT_OFFSET(addr) + i] : 0;
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	struct brute *b = arg;

	for (uint32_t i = 0; i < len_bytes; i++)
		if (PMT_OFFSET(addr) + i < POOL_BYTES)
			b->image[PMT_OFFSET(addr) + i] = bytes[i];
}

/* Is there a byte in the range whose newest value is (not) the one in this state? */
static bool has_byte(const struct brute *b, uint64_t addr, uint64_t len_bytes, bool is_newest)
{
	for (uint64_t i = PMT_OFFSET(addr); i < PMT_OFFSET(addr) + len_bytes; i++)
		if (b->newest[i] && (b->now[i] == b->newest[i]) == is_newest)
			return true;
	return false;
}

struct choices {
	struct model_choice at[2];
	uint8_t contents[2][1u << 17];
	size_t n;
};

static void keep_choice(const struct model_choice *c, void *arg)
{
	struct choices *all = arg;

	assert_true(all->n < 2 && c->ncontents * c->len_bytes <= sizeof all->contents[0]);
	all->at[all->n] = *c;
	memcpy(all->contents[all->n++], c->contents, c->ncontents * c->len_bytes);
}

/* All states: those of the first line times those of the second. */
static void look(struct brute *b, const struct choices *all, size_t line)
{
	if (line == all->n) {
		const uint64_t *arg = b->assertion->arg;

		b->is_wrong |= has_byte(b, arg[1], arg[2], true) && has_byte(b, b->assertion->addr, arg[0], false);
		return;
	}
	for (size_t k = 0; k < all->at[line].ncontents; k++) {
		for (uint32_t i = 0; i < all->at[line].len_bytes; i++)
			if (PMT_OFFSET(all->at[line].addr) + i < POOL_BYTES)
				b->now[PMT_OFFSET(all->at[line].addr) + i] = all->contents[line][k * all->at[line].len_bytes + i];
		look(b, all, line + 1);
	}
}

static bool is_wrong_by_brute_force(const struct program *p, const struct platform *platform)
{
	static struct choices all;
	struct brute b = { .assertion = &p->events[p->n - 1] };
	struct model_image image = { image_read, image_write, &b };
	struct model *m = model_new(platform, &image);

	for (uint32_t i = 0; i < p->n; i++)
		if (trace_kinds[p->events[i].kind].carries & PMT_HAS_VALUE)
			memset(b.newest + PMT_OFFSET(p->events[i].addr), (int)i + 1, p->events[i].size_bytes);
	for (uint32_t i = 0; i < p->n && !b.is_wrong; i++) {
		model_step(m, &p->events[i]);
		all.n = 0;
		memcpy(b.now, b.image, sizeof b.now);
		model_each_choice(m, keep_choice, &all);
		look(&b, &all, 0);
	}
	model_free(m);
	return b.is_wrong;
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

static void make_program(struct program *p, uint64_t *seed)
{
	static const enum pmt_kind kinds[] = { PMT_STORE, PMT_STORE, PMT_STORE,	 PMT_STORE_NT, PMT_STORE_RMW, PMT_CLWB,
					       PMT_CLWB,  PMT_CLWB,  PMT_SFENCE, PMT_SFENCE,   PMT_CLFLUSH,   PMT_MSYNC };
	uint32_t n = 2 + random_below(seed, 9);
	struct trace_event *ev;

	p->n = 0;
	while (p->n < n) {
		enum pmt_kind kind = kinds[random_below(seed, sizeof kinds / sizeof kinds[0])];
		uint32_t thread = 1 + random_below(seed, 2), line = random_below(seed, 2), word = random_below(seed, 3);
		uint32_t size_bytes = kind == PMT_STORE && random_below(seed, 3) == 0 ? 16 : 8;

		if (kind == PMT_STORE && random_below(seed, 8) == 0)
			ev = add(p, kind, thread, 60, 8); /* across the lines */
		else if (trace_kinds[kind].carries & PMT_HAS_VALUE)
			ev = add(p, kind, thread, 64 * line + 8 * word, size_bytes);
		else
			ev = add(p, kind, thread, 64 * line, 64);
		if (kind == PMT_MSYNC) {
			ev->arg[0] = 128;
			ev->arg[1] = MS_SYNC;
		}
	}
	ev = add(p, PMT_ASSERT_ORDERED, 1, 64 * random_below(seed, 2) + 4 * random_below(seed, 6), 0);
	ev->arg[0] = 4 * (1 + random_below(seed, 8));
	ev->arg[1] = PM(64 * random_below(seed, 2) + 4 * random_below(seed, 6));
	ev->arg[2] = 4 * (1 + random_below(seed, 8));
}

#ifdef __SANITIZE_ADDRESS__
enum { NPROGRAMS = 4000 }; /* ten times slower; the other build has them all */
#else
enum { NPROGRAMS = 20000 };
#endif

static void ordered_is_what_brute_force_says(void **state)
{
	const char *only[] = { "ordered", NULL };
	uint64_t seed = 20260101, nwrong = 0, nright = 0;
	struct program p;

	(void)state;
	for (int i = 0; i < NPROGRAMS; i++) {
		make_program(&p, &seed);
		for (size_t k = 0; platforms[k]; k++) {
			struct check_options o = { .platform = platforms[k], .only = only };
			bool is_wrong = is_wrong_by_brute_force(&p, platforms[k]);

			if (is_wrong != (judge(&p, &o, "assert-ordered") + judge(&p, &o, "porting") == 1)) {
				for (uint32_t e = 0; e < p.n; e++)
					print_error("%s T%u +%u %u\n", trace_kinds[p.events[e].kind].name, p.events[e].thread,
						    (unsigned)PMT_OFFSET(p.events[e].addr), p.events[e].size_bytes);
				print_error("a: %u bytes; b: +%u %u bytes\n", (unsigned)p.events[p.n - 1].arg[0],
					    (unsigned)PMT_OFFSET(p.events[p.n - 1].arg[1]), (unsigned)p.events[p.n - 1].arg[2]);
				fail_msg("program %d on %s is %s", i, platforms[k]->name, is_wrong ? "wrong" : "right");
			}
			nwrong += is_wrong;
			nright += !is_wrong;
		}
	}
	assert_true(nwrong > NPROGRAMS / 4 && nright > NPROGRAMS / 4);
}

static void ordered_names_both_stores(void **state)
{
	static const struct trace_site sites[] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	struct check_options o = { .platform = platforms[0] };
	struct program p = { .n = 0 };
	const struct finding *f;
	struct trace_event *ev;
	struct error err;
	struct check *c = check_new(&o, &err);

	(void)state;
	add(&p, PMT_STORE, 1, 0, 8)->site = &sites[0];
	add(&p, PMT_STORE, 1, 64, 8)->site = &sites[1];
	ev = add(&p, PMT_ASSERT_ORDERED, 1, 0, 0);
	ev->site = &sites[2];
	ev->arg[0] = ev->arg[2] = 8;
	ev->arg[1] = PM(64);
	for (uint32_t i = 0; i < p.n; i++)
		check_event(c, &p.events[i]);
	assert_int_equal(check_nfindings(c), 0); /* not before the second reading */
	assert_true(check_wants_again(c));
	check_again(c);
	for (uint32_t i = 0; i < p.n; i++)
		check_event(c, &p.events[i]);
	assert_int_equal(check_nfindings(c), 1);
	f = check_finding(c, 0);
	assert_int_equal(f->nplaces, 3);
	assert_string_equal(f->places[0].role, "assert");
	assert_ptr_equal(f->places[0].site, &sites[2]);
	assert_string_equal(f->places[1].role, "lost");
	assert_ptr_equal(f->places[1].site, &sites[0]);
	assert_string_equal(f->places[2].role, "survived");
	assert_ptr_equal(f->places[2].site, &sites[1]);
	check_free(c);
}

/* ---- transient-in-pm: evidence from recovery runs ---- */

static void what_recovery_never_reads_is_transient(void **state)
{
	struct check_options o = { .platform = platforms[0] };
	struct ranges unread = { 0 };
	struct program p = { .n = 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		add(&p, PMT_STORE, 1, 0, 8);
		add(&p, PMT_STORE, 1, 64, 8);
	}
	assert_int_equal(judge(&p, &o, "transient-in-pm"), 0);
	assert_int_equal(judge(&p, &o, "missing-flush-fence"), 2);
	ranges_add(&unread, PM(0), 8);
	o.unread = &unread;
	assert_int_equal(judge(&p, &o, "transient-in-pm"), 1);
	assert_int_equal(judge(&p, &o, "missing-flush-fence"), 1);
	ranges_release(&unread);
}

/* ---- what writes back ---- */

static void add_msync(struct program *p, uint64_t flags)
{
	struct trace_event *ev = add(p, PMT_MSYNC, 1, 0, 0);

	ev->arg[0] = POOL_BYTES;
	ev->arg[1] = flags;
}

/* How often that kind is found in a program that ends with msync. */
static uint64_t judge_synced(struct program p, const char *platform, uint64_t flags, const char *kind)
{
	add_msync(&p, flags);
	return judge(&p, &(struct check_options){ .platform = platform_find(platform) }, kind);
}

static void add_declared(struct program *p)
{
	add(p, PMT_IGNORE, 1, 0, 0)->arg[0] = 8;
	for (int i = 0; i < 3; i++)
		add(p, PMT_STORE, 1, 0, 8);
}

static void add_outside(struct program *p)
{
	static const struct trace_site inside = { .id = 1 }, outside = { .id = 2 };

	add(p, PMT_TX_BEGIN, 1, 0, 0);
	add(p, PMT_TX_ADD, 1, 0, 0)->arg[0] = 8;
	add(p, PMT_STORE, 1, 0, 8)->site = &inside;
	add(p, PMT_CLWB, 1, 0, 64);
	add(p, PMT_SFENCE, 1, 0, 0);
	add(p, PMT_TX_END, 1, 0, 0);
	add(p, PMT_STORE, 1, 0, 8)->site = &outside;
}

/* The model says so, and the oracles do. */
static void msync_without_waiting_writes_nothing_back(void **state)
{
	struct program unmapped = { .n = 0 }, declared = { .n = 0 }, outside = { .n = 0 };

	(void)state;
	add(&unmapped, PMT_STORE, 1, 0, 8);
	add(&unmapped, PMT_UNMAP, 1, 0, 0)->arg[1] = POOL_BYTES;
	add_declared(&declared);
	add_outside(&outside);
	assert_int_equal(judge_synced(unmapped, "msync", MS_SYNC, "missing-flush-fence"), 0);
	assert_int_equal(judge_synced(unmapped, "msync", MS_ASYNC, "missing-flush-fence"), 1);
	assert_int_equal(judge_synced(declared, "x86-adr", MS_SYNC, "transient-in-pm"), 0);
	assert_int_equal(judge_synced(declared, "x86-adr", MS_ASYNC, "transient-in-pm"), 1);
	assert_int_equal(judge_synced(outside, "x86-adr", MS_SYNC, "tx-store-outside"), 0);
	assert_int_equal(judge_synced(outside, "x86-adr", MS_ASYNC, "tx-store-outside"), 1);
}

static void add_unmap(struct program *p)
{
	add(p, PMT_UNMAP, 1, 0, 0)->arg[1] = POOL_BYTES;
}

/* A program that maps its file for each operation loses the same store with each mapping. */
static void a_store_loses_its_mapping_once(void **state)
{
	struct program p = { .n = 0 };

	(void)state;
	add(&p, PMT_STORE, 1, 508, 8); /* in two sectors: two pieces */
	for (int i = 0; i < 3; i++)
		add_unmap(&p);
	assert_int_equal(judge_synced(p, "msync", MS_ASYNC, "missing-flush-fence"), 2);
	add_msync(&p, MS_SYNC);
	add_unmap(&p);
	assert_int_equal(judge_synced(p, "msync", MS_ASYNC, "missing-flush-fence"), 0);
	add(&p, PMT_STORE, 1, 508, 8);
	add_unmap(&p);
	add_unmap(&p);
	assert_int_equal(judge_synced(p, "msync", MS_ASYNC, "missing-flush-fence"), 2);
}

/* Nor does dc cvac, where it is not enough. */
static void cleaned_to_coherency_is_not_written_back(void **state)
{
	struct program p = { .n = 0 }, outside = { .n = 0 };

	(void)state;
	add_declared(&p);
	add(&p, PMT_DC_CVAC, 1, 0, 64);
	assert_int_equal(judge(&p, &(struct check_options){ .platform = platform_find("arm64") }, "transient-in-pm"), 1);
	assert_int_equal(judge(&p, &(struct check_options){ .platform = platform_find("arm64-poc") }, "transient-in-pm"), 0);
	add_outside(&outside);
	add(&outside, PMT_DC_CVAC, 1, 0, 64);
	assert_int_equal(judge(&outside, &(struct check_options){ .platform = platform_find("arm64") }, "tx-store-outside"), 1);
	assert_int_equal(judge(&outside, &(struct check_options){ .platform = platform_find("arm64-poc") }, "tx-store-outside"), 0);
}

/* A flush of a longer line writes back all of it, and says for all of it that it did too little. */
static void longer_lines_are_flushed_whole(void **state)
{
	struct check_options o = { .platform = platform_find("arm64") };
	struct program p = { .n = 0 }, declared = { .n = 0 }, shorter = { .n = 0 };

	(void)state;
	add(&p, PMT_STORE, 1, 64, 8);
	add(&p, PMT_DC_CVAP, 1, 0, 128);
	add(&p, PMT_DSB, 1, 0, 0)->arg[0] = 15;
	assert_int_equal(judge(&p, &o, "flush-clean"), 0);
	assert_int_equal(judge(&p, &o, "missing-flush"), 0);
	add_declared(&declared);
	add(&declared, PMT_DC_CVAP, 1, 64, 128);
	assert_int_equal(judge(&declared, &o, "transient-in-pm"), 0);
	add(&shorter, PMT_STORE, 1, 64, 8);
	add(&shorter, PMT_DC_CVAC, 1, 0, 128);
	assert_int_equal(judge(&shorter, &o, "missing-flush"), 1);
}

/* Where only msync makes durable, a non-temporal store waits for no fence; and what was synced needs no fence of the program's own. */
static void sync_needs_no_fence(void **state)
{
	static const struct trace_object libc = { .path = (char *)"/lib/libc.so.6" };
	static const struct trace_site runtime = { .id = 1, .object = &libc };
	struct program nt = { .n = 0 }, flushed = { .n = 0 };

	(void)state;
	add(&nt, PMT_STORE_NT, 1, 0, 8);
	add(&nt, PMT_SFENCE, 1, 0, 0)->site = &runtime;
	add(&flushed, PMT_STORE, 1, 0, 8);
	add(&flushed, PMT_CLWB, 1, 0, 64);
	add(&flushed, PMT_SFENCE, 1, 0, 0)->site = &runtime;
	assert_int_equal(judge_synced(nt, "x86-adr", MS_ASYNC, "missing-fence"), 1);
	assert_int_equal(judge_synced(nt, "x86-adr", MS_SYNC, "missing-fence"), 0);
	assert_int_equal(judge_synced(nt, "msync", MS_SYNC, "missing-fence"), 0);
	assert_int_equal(judge_synced(flushed, "x86-adr", MS_ASYNC, "missing-fence"), 1);
	assert_int_equal(judge_synced(flushed, "x86-adr", MS_SYNC, "missing-fence"), 0);
}

/* ---- sets ---- */

static void ranges_tell_bytes(void **state)
{
	struct ranges r = { 0 };

	(void)state;
	ranges_add(&r, 10, 4);
	ranges_add(&r, 20, 1);
	assert_int_equal(ranges_mask(&r, 8, 16), 0x103c);
	assert_int_equal(ranges_mask(&r, 12, 1), 1);
	assert_int_equal(ranges_mask(&r, 14, 6), 0);
	assert_int_equal(ranges_find(&r, 13)->from, 10);
	assert_int_equal(ranges_find(&r, 14)->from, 20);
	assert_null(ranges_find(&r, 21));
	assert_int_equal(range_in_file(PM(5), UINT64_MAX).to, PMT_ADDR(2, 0));
	ranges_release(&r);
}

static void words_tell_bytes(void **state)
{
	struct words w = { 0 };

	(void)state;
	assert_false(words_touch(&w, 0, 64));
	for (uint64_t addr = 0; addr < 8000; addr += 16)
		words_note(&w, addr + 6, 4, (uint32_t)addr, NULL);
	assert_true(words_touch(&w, 166, 1) && words_touch(&w, 169, 1));
	assert_false(words_touch(&w, 165, 1) || words_touch(&w, 170, 6));
	assert_int_equal(words_find(&w, 168)->tx, 160);
	words_forget(&w, 160, 7);
	assert_false(words_touch(&w, 160, 7));
	assert_true(words_touch(&w, 167, 1));
	words_forget(&w, 160, UINT64_MAX);
	assert_false(words_touch(&w, 160, 7840));
	assert_true(words_touch(&w, 150, 4));
	assert_null(words_find(&w, 168));
	words_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordered_is_what_brute_force_says),
		cmocka_unit_test(ordered_names_both_stores),
		cmocka_unit_test(what_recovery_never_reads_is_transient),
		cmocka_unit_test(msync_without_waiting_writes_nothing_back),
		cmocka_unit_test(a_store_loses_its_mapping_once),
		cmocka_unit_test(cleaned_to_coherency_is_not_written_back),
		cmocka_unit_test(longer_lines_are_flushed_whole),
		cmocka_unit_test(sync_needs_no_fence),
		cmocka_unit_test(ranges_tell_bytes),
		cmocka_unit_test(words_tell_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
