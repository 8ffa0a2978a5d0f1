/* A walk that begins at a checkpoint comes to what a walk from the beginning comes to: random programs of several processes and threads, on several platforms, with a checkpoint at every failure point. And an index
 * that is damaged, or of something else, is refused. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/index/index.h"
#include "crash/states/states.h"
#include "trace/writer.h"
#include "util/hash.h"

#define NEVENTS 400u
#define FILE_BYTES (4 * 4096u)

static const struct index_limits everywhere = { .events = 1, .percent = 1000000 };

static uint64_t random_state;
static const struct platform *platform; /* of the program at hand */

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % n;
}

/* ---- random programs ---- */

static uint64_t random_addr(uint32_t size_bytes)
{
	const uint64_t line = random_below(12) * 320, at = random_below(64);

	return PMT_ADDR(1 + random_below(2), line + (random_below(2) ? at & ~(uint64_t)7 : at) % (FILE_BYTES - size_bytes));
}

static void put_store(struct writer *w, struct writer_event *ev, uint64_t pc)
{
	static const enum pmt_kind amd64[] = { PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE_NT, PMT_STORE_RMW, PMT_STORE_SYS, PMT_STORE_VECTOR };
	static const enum pmt_kind arm64[] = { PMT_STORE, PMT_STORE, PMT_STORE_PAIR, PMT_STORE_ORDERED, PMT_STORE_SYS };
	static const uint32_t sizes[] = { 1, 2, 4, 8, 8, 8, 16, 32, 64 };
	const enum pmt_kind kind = platform->is_weak ? arm64[random_below(5)] : amd64[random_below(platform->has_flush ? 7 : 3)]; /* without flushes, contents would be too many */
	const uint32_t size_bytes = kind == PMT_STORE_PAIR ? 16 : kind == PMT_STORE_RMW || kind == PMT_STORE_ORDERED || kind == PMT_STORE_NT ? 8 : kind == PMT_STORE_VECTOR || kind == PMT_STORE_SYS ? 16 : sizes[random_below(9)];
	uint8_t data[64];

	for (uint32_t i = 0; i < size_bytes; i++)
		data[i] = (uint8_t)random_below(3);
	ev->site = writer_site(w, 0, pc, kind, size_bytes);
	ev->addr = random_addr(size_bytes);
	if (kind == PMT_STORE_RMW || kind == PMT_STORE_ORDERED || kind == PMT_STORE_VECTOR)
		ev->addr &= ~(uint64_t)7;
	ev->arg[0] = kind == PMT_STORE_VECTOR ? (random_below(2) ? 8 : 16) : kind == PMT_STORE_ORDERED ? PMT_ORDER_RELEASE : 0;
	ev->data = data;
	writer_event(w, ev);
}

static void put_rare(struct writer *w, struct writer_event *ev)
{
	static const enum pmt_kind kinds[] = { PMT_SKIP_FAILURE_BEGIN, PMT_SKIP_FAILURE_END, PMT_FAILURE_POINT, PMT_OP_BEGIN, PMT_OP_END, PMT_SIZE, PMT_RENAME, PMT_TX_BEGIN, PMT_TX_END,
					       PMT_FALLOCATE, PMT_META };
	const enum pmt_kind kind = kinds[random_below(11)];

	ev->site = writer_site(w, 0, 0x9000 + kind, kind, 0);
	ev->arg[0] = 1 + random_below(2);
	ev->arg[1] = FILE_BYTES / 2 + random_below(FILE_BYTES / 2);
	ev->data = kind == PMT_META ? "key=value" : random_below(2) ? "/other" : "/name";
	ev->data_len = (uint32_t)strlen(ev->data);
	if (kind == PMT_FALLOCATE) {
		ev->arg[1] = 3; /* a hole */
		ev->arg[2] = random_below(3) * 4096;
		ev->arg[3] = 4096;
	}
	writer_event(w, ev);
}

static void put_event(struct writer *w)
{
	static const enum pmt_kind amd64[] = { PMT_CLWB, PMT_CLFLUSHOPT, PMT_CLFLUSH, PMT_SFENCE, PMT_SFENCE, PMT_MFENCE };
	static const enum pmt_kind arm64[] = { PMT_DC_CVAP, PMT_DC_CVAP, PMT_DC_CVAC, PMT_DSB, PMT_DSB, PMT_DMB };
	struct writer_event ev = { .thread = 1 + (uint32_t)random_below(3) };
	const uint64_t what = random_below(100);

	writer_select(w, (uint32_t)random_below(2));
	if (what < 45) {
		put_store(w, &ev, 0x1000 + random_below(40));
	} else if (what < 90) {
		const enum pmt_kind kind = (platform->is_weak ? arm64 : amd64)[random_below(6)];

		ev.site = writer_site(w, 0, 0x5000 + random_below(20), kind, kind == PMT_SFENCE || kind == PMT_MFENCE ? 0 : 64);
		ev.addr = random_addr(8);
		ev.arg[0] = kind == PMT_DSB || kind == PMT_DMB ? 15 : 0;
		writer_event(w, &ev);
	} else if (what < 93) {
		ev.site = writer_site(w, 0, 0x8000, PMT_MSYNC, 0);
		ev.addr = PMT_ADDR(1, random_below(3) * 4096);
		ev.arg[0] = 4096;
		ev.arg[1] = MS_SYNC;
		writer_event(w, &ev);
	} else {
		put_rare(w, &ev);
	}
}

static void write_program(const char *path, uint64_t seed)
{
	static const char isa[] = "isa=arm64";
	struct writer *w;
	struct error err;

	random_state = seed;
	if (writer_open(&w, path, &err) < 0)
		fail_msg("%s", err.msg);
	writer_set_chunk_bytes(w, 1024);
	if (platform->is_weak)
		writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_META, 0), .thread = 1, .data = isa, .data_len = sizeof isa - 1 });
	for (uint64_t file = 1; file <= 2; file++)
		writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0), .thread = 1,
							.arg = { file, FILE_BYTES, file == 2 ? PMT_FILE_CREATED : 0, 1, file }, .data = file == 1 ? "/p" : "/q", .data_len = 2 });
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 1, PMT_CONTENT, 0), .thread = 1, .addr = PMT_ADDR(1, 64), .data = "what was there", .data_len = 14 });
	writer_node(w, 0, 0x77, false);
	writer_fork(w, writer_site(w, 0, 2, PMT_FORK, 0), 1, 1);
	for (unsigned i = 0; i < NEVENTS; i++)
		put_event(w);
	if (writer_close(w, &err) < 0)
		fail_msg("%s", err.msg);
}

/* ---- what a walk has come to ---- */

static void add_bytes(uint64_t *h, const void *bytes, size_t n)
{
	*h = hash_mix(*h, pmt_hash_lanes(bytes, (uint32_t)n));
}

static void add_store(const struct model_store *s, void *arg)
{
	uint64_t *h = arg;
	const uint64_t numbers[] = { s->seq, s->site->id, s->addr, s->size_bytes, s->stream, s->thread, s->kind, s->state, s->is_overwritten, s->flush ? s->flush->id : 0, s->flush_seq, s->flush_thread };

	add_bytes(h, numbers, sizeof numbers);
}

/* All that a crash there could show, and why. */
static uint64_t digest(const struct walk *w)
{
	const struct states_asked nothing = { 0 }; /* of lines with very many contents on arm64 */
	struct state_set set = { 0 };
	uint64_t h = hash_mix(w->point, w->seq);

	h = hash_mix(hash_mix(hash_mix(h, w->nstores), w->recent_seq), w->is_lasting);
	for (size_t i = 1; i < w->image.files.n; i++) {
		const struct crash_file *f = &w->image.files.at[i];

		h = hash_mix(hash_mix(h, f->exists), f->size_bytes);
		if (f->path)
			add_bytes(&h, f->path, strlen(f->path));
		add_bytes(&h, f->bytes, f->room);
	}
	model_each(w->model, 0, UINT64_MAX, add_store, &h);
	if (model_nlines(w->model) <= 4) /* of many lines there are very many */
		states_collect(&set, w->model, &nothing);
	for (size_t i = 0; i < set.lines.n; i++) {
		h = hash_mix(hash_mix(h, set.lines.at[i].addr), set.lines.at[i].ncontents);
		add_bytes(&h, state_content(&set, &set.lines.at[i], 0), (size_t)set.lines.at[i].ncontents * set.line_bytes);
	}
	states_release(&set);
	return hash_mix(h, model_is_exact(w->model));
}

/* ---- the tests ---- */

struct indexed {
	char trace[40], path[48];
	struct plan *plan, *again; /* of the trace; of the index */
	struct index *index;
	VEC(uint64_t) digests;	   /* by failure point - 1 */
	VEC(uint64_t) seqs;
};

static void walk_once(struct indexed *x)
{
	struct walk w;

	walk_init(&w, x->plan, WALK_POINTS);
	while (walk_next(&w)) {
		*vec_add(&x->digests) = digest(&w);
		*vec_add(&x->seqs) = w.seq;
	}
	walk_release(&w);
}

static void indexed_init(struct indexed *x, uint64_t seed, const char *name, const struct index_limits *limits)
{
	const struct platform *p = platform_find(name);
	struct index_size size;
	struct trace *t;
	struct error err;

	memset(x, 0, sizeof *x);
	strcpy(x->trace, "/tmp/pmend-index-XXXXXX");
	close(mkstemp(x->trace));
	snprintf(x->path, sizeof x->path, "%s" INDEX_ENDING, x->trace);
	platform = p;
	write_program(x->trace, seed);
	x->plan = plan_new(x->trace, p, &err);
	assert_non_null(x->plan);
	assert_int_equal(index_make(x->plan, WALK_POINTS, limits, x->path, NULL, NULL, &size, &err), 0);
	walk_once(x);
	assert_int_equal(size.points, x->digests.n);
	assert_true(limits != &everywhere || size.checkpoints > size.points / 2);
	assert_int_equal(trace_open(&t, x->trace, &err), 0);
	x->index = index_open(x->path, t, p, false, &err);
	assert_non_null(x->index);
	x->again = index_plan(x->index, t, p, false, &err);
	assert_non_null(x->again);
	assert_true(index_fits(x->index, x->again, WALK_POINTS));
}

static void indexed_release(struct indexed *x)
{
	index_close(x->index);
	plan_free(x->plan);
	plan_free(x->again);
	unlink(x->trace);
	unlink(x->path);
	vec_release(&x->digests);
	vec_release(&x->seqs);
}

static void expect_here(const struct indexed *x, const struct walk *w, const char *how)
{
	if (w->point == 0 || w->point > x->digests.n || digest(w) != x->digests.at[w->point - 1])
		fail_msg("%s: failure point %" PRIu64 " is not what it is from the beginning", how, w->point);
}

static void go_to(const struct indexed *x, struct walk *w, uint64_t point)
{
	struct error err;

	assert_int_equal(index_seek_point(x->index, w, point, &err), 0);
	assert_true(w->point < point);
	while (w->point < point)
		assert_true(walk_next(w));
	expect_here(x, w, "after a jump");
}

/* To each failure point at once, and on from there. */
static void jump_everywhere(const struct indexed *x)
{
	for (uint64_t point = 1; point <= x->digests.n; point++) {
		struct walk w;

		walk_init(&w, x->again, WALK_POINTS);
		go_to(x, &w, point);
		for (unsigned i = 0; i < 6 && walk_next(&w); i++)
			expect_here(x, &w, "some way after a jump");
		walk_release(&w);
	}
}

/* From one to the next, with steps between. */
static void hop(const struct indexed *x)
{
	struct walk w;

	walk_init(&w, x->again, WALK_POINTS);
	for (uint64_t point = 1 + random_below(9); point <= x->digests.n; point = w.point + 1 + random_below(9)) {
		go_to(x, &w, point);
		for (uint64_t i = random_below(4); i > 0 && walk_next(&w); i--)
			expect_here(x, &w, "between two jumps");
	}
	walk_release(&w);
}

static void add_point(uint64_t seq, uint64_t cost, void *arg)
{
	VEC(uint64_t) *seqs = arg;

	assert_true(cost > 0);
	*vec_add(seqs) = seq;
}

static void compare_points(const struct indexed *x)
{
	VEC(uint64_t) seqs = { 0 };
	struct error err;

	assert_int_equal(index_each_point(x->index, add_point, &seqs, &err), 0);
	assert_int_equal(seqs.n, x->seqs.n);
	assert_memory_equal(seqs.at, x->seqs.at, seqs.n * sizeof *seqs.at);
	vec_release(&seqs);
}

static void compare_plans(const struct plan *a, const struct plan *b)
{
	assert_int_equal(a->nevents, b->nevents);
	assert_int_equal(a->operations.n, b->operations.n);
	for (size_t i = 0; i < a->operations.n; i++) {
		assert_int_equal(a->operations.at[i].begin_seq, b->operations.at[i].begin_seq);
		assert_int_equal(a->operations.at[i].end_seq, b->operations.at[i].end_seq);
		assert_string_equal(a->operations.at[i].name, b->operations.at[i].name);
	}
	assert_int_equal(a->never_persisted.n, b->never_persisted.n);
	for (size_t i = 0; i < a->never_persisted.n; i++)
		assert_int_equal(a->never_persisted.at[i], b->never_persisted.at[i]);
	assert_int_equal(a->sites.n, b->sites.n);
	for (size_t i = 0; i < a->sites.n; i++)
		assert_true(a->sites.at[i] ? b->sites.at[i] && a->sites.at[i]->pc == b->sites.at[i]->pc : !b->sites.at[i]);
	assert_int_equal(a->cut, b->cut);
	assert_int_equal(trace_nfiles(a->trace), trace_nfiles(b->trace));
	assert_string_equal(trace_file(a->trace, 1)->path, trace_file(b->trace, 1)->path);
	assert_true(!trace_damage(a->trace) == !trace_damage(b->trace));
}

static void test_random(void **state)
{
	static const char *const platform_names[] = { "x86-adr", "eadr", "msync", "arm64" };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct indexed x;

		indexed_init(&x, seed, platform_names[seed % 4], &everywhere);
		assert_true(x.digests.n > 3);
		compare_plans(x.plan, x.again);
		compare_points(&x);
		jump_everywhere(&x);
		for (unsigned i = 0; i < 10; i++)
			hop(&x);
		indexed_release(&x);
	}
}

/* An index is smaller than the trace by what is asked for, whatever the program does. */
static void test_size(void **state)
{
	struct index_size size;
	struct indexed x;
	struct error err;

	(void)state;
	indexed_init(&x, 77, "x86-adr", &index_usual);
	assert_int_equal(index_make(x.plan, WALK_POINTS, &(struct index_limits){ .events = 10, .percent = 0 }, x.path, NULL, NULL, &size, &err), 0);
	assert_int_equal(size.checkpoints, 0);
	assert_int_equal(size.points, x.digests.n);
	hop(&x);
	indexed_release(&x);
}

static void write_file(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Whatever is damaged is refused, or is not used; nothing is misread. */
static void try_damaged(const struct indexed *x)
{
	const struct platform *p = x->plan->platform;
	struct trace *t;
	struct index *ix;
	struct plan *plan;
	struct walk w;
	struct error err;
	bool is_whole = true;

	assert_int_equal(trace_open(&t, x->trace, &err), 0);
	ix = index_open(x->path, t, p, false, &err);
	if (!ix) {
		assert_true(err.msg[0]);
		trace_close(t);
		return;
	}
	plan = index_plan(ix, t, p, false, &err);
	for (uint64_t point = 1; plan && is_whole && point <= x->digests.n; point += 7) {
		walk_init(&w, plan, WALK_POINTS);
		is_whole = index_seek_point(ix, &w, point, &err) == 0;
		while (is_whole && w.point < point)
			assert_true(walk_next(&w));
		if (is_whole)
			expect_here(x, &w, "of a damaged index");
		walk_release(&w);
	}
	plan_free(plan);
	index_close(ix);
}

static void test_damage(void **state)
{
	static uint8_t bytes[1 << 21];
	struct indexed x;
	FILE *f;
	size_t n;

	(void)state;
	indexed_init(&x, 5, "x86-adr", &(struct index_limits){ .events = 20, .percent = 1000000 });
	f = fopen(x.path, "r");
	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	assert_true(n > 1000 && n < sizeof bytes);
	for (unsigned i = 0; i < 150; i++) {
		const size_t at = i < 32 ? i : random_below(n);
		const uint8_t before = bytes[at];

		bytes[at] ^= (uint8_t)(1 + random_below(255));
		write_file(x.path, bytes, n);
		try_damaged(&x);
		bytes[at] = before;
		write_file(x.path, bytes, random_below(n)); /* cut short */
		try_damaged(&x);
	}
	indexed_release(&x);
}

/* Where what was acknowledged is overtaken, an exploration with dumps has more failure points. Gives whether this trace has such. */
static bool has_overtaken(uint64_t seed)
{
	struct indexed x;
	struct walk w;
	uint64_t n = 0;
	bool fits;

	indexed_init(&x, seed, "x86-adr", &everywhere);
	walk_init(&w, x.plan, WALK_POINTS | WALK_OVERTAKEN);
	while (walk_next(&w))
		n++;
	walk_release(&w);
	fits = index_fits(x.index, x.again, WALK_POINTS | WALK_OVERTAKEN);
	assert_true(n > x.digests.n || (fits && n == x.digests.n));
	assert_true(n == x.digests.n || !fits);
	indexed_release(&x);
	return !fits;
}

static void test_overtaken(void **state)
{
	unsigned n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		n += has_overtaken(seed);
	assert_in_range(n, 1, 39);
}

static void test_other(void **state)
{
	const struct platform *adr = platform_find("x86-adr"), *eadr = platform_find("eadr");
	struct indexed x, other;
	struct trace *t, *u;
	struct error err;

	(void)state;
	indexed_init(&x, 1, "x86-adr", &everywhere);
	indexed_init(&other, 2, "x86-adr", &everywhere);
	assert_int_equal(trace_open(&t, other.trace, &err), 0);
	assert_int_equal(trace_open(&u, x.trace, &err), 0);
	assert_null(index_open(x.path, t, adr, false, &err));
	assert_non_null(strstr(err.msg, "another trace"));
	assert_null(index_open(x.path, u, eadr, false, &err));
	assert_non_null(strstr(err.msg, "other options"));
	assert_null(index_open(x.path, u, adr, true, &err));
	assert_null(index_open("/nowhere/at/all", u, adr, false, &err));
	assert_string_equal(err.msg, "");
	assert_null(index_open(x.trace, u, adr, false, &err));
	assert_non_null(strstr(err.msg, "no index"));
	assert_false(index_fits(x.index, x.again, WALK_POINTS | WALK_STORES));
	trace_close(t);
	trace_close(u);
	indexed_release(&x);
	indexed_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
