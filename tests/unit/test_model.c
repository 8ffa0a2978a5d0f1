/* The model's answers to questions other than crash states, and that its memory is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "model/model.h"
#include "util/vec.h"

static const uint64_t a = PMT_ADDR(1, 0), b = PMT_ADDR(1, 64), c = PMT_ADDR(1, 4096);
static const struct trace_site store_site = { .id = 1 }, flush_site = { .id = 2 }, other_site = { .id = 3 };

struct fixture {
	struct model *model;
	uint64_t seq;
	VEC(struct model_store) stores; /* that model_each() named */
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	f->model = model_new(platforms[0], NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	model_free(f->model);
	vec_release(&f->stores);
	free(f);
	return 0;
}

static void step(struct fixture *f, enum pmt_kind kind, uint32_t thread, uint64_t addr, uint64_t value)
{
	bool is_store = kind == PMT_STORE || kind == PMT_STORE_NT || kind == PMT_STORE_RMW;

	model_step(f->model, &(struct trace_event){ .seq = ++f->seq,
						    .site = is_store ? &store_site : &flush_site,
						    .kind = kind,
						    .thread = thread,
						    .addr = addr,
						    .size_bytes = is_store ? 8 : 0,
						    .data = (uint8_t *)&value,
						    .data_len = is_store ? 8 : 0 });
}

static void note_store(const struct model_store *s, void *arg)
{
	struct fixture *f = arg;

	*vec_add(&f->stores) = *s;
}

static size_t stores_in(struct fixture *f, uint64_t addr, uint64_t len_bytes)
{
	f->stores.n = 0;
	model_each(f->model, addr, len_bytes, note_store, f);
	return f->stores.n;
}

/* ---- stores ---- */

static void store_is_dirty_then_pending_then_gone(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a, 1);
	assert_int_equal(stores_in(f, a, 8), 1);
	assert_int_equal(f->stores.at[0].state, MODEL_DIRTY);
	assert_ptr_equal(f->stores.at[0].site, &store_site);
	assert_int_equal(f->stores.at[0].seq, 1);
	assert_int_equal(f->stores.at[0].size_bytes, 8);
	assert_null(f->stores.at[0].flush);
	step(f, PMT_CLWB, 2, a, 0);
	assert_int_equal(stores_in(f, a, 8), 1);
	assert_int_equal(f->stores.at[0].state, MODEL_PENDING);
	assert_ptr_equal(f->stores.at[0].flush, &flush_site);
	assert_int_equal(f->stores.at[0].flush_seq, 2);
	assert_int_equal(f->stores.at[0].flush_thread, 2);
	assert_int_equal(f->stores.at[0].thread, 1);
	step(f, PMT_SFENCE, 2, 0, 0);
	assert_int_equal(stores_in(f, a, 8), 0);
	assert_int_equal(model_nlines(f->model), 0);
}

static void store_after_flush_is_dirty(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a, 1);
	step(f, PMT_CLWB, 1, a, 0);
	step(f, PMT_STORE, 1, a + 8, 2);
	assert_int_equal(stores_in(f, a, 64), 2);
	assert_int_equal(f->stores.at[0].state, MODEL_PENDING);
	assert_int_equal(f->stores.at[1].state, MODEL_DIRTY);
	step(f, PMT_SFENCE, 1, 0, 0);
	assert_int_equal(stores_in(f, a, 64), 1);
	assert_int_equal(f->stores.at[0].addr, a + 8);
}

static void last_flush_is_named(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a, 1);
	step(f, PMT_CLWB, 1, a, 0);
	step(f, PMT_CLWB, 2, a, 0);
	assert_int_equal(stores_in(f, a, 8), 1);
	assert_int_equal(f->stores.at[0].flush_thread, 2);
	step(f, PMT_CLWB, 1, a, 0);
	stores_in(f, a, 8);
	assert_int_equal(f->stores.at[0].flush_thread, 1);
}

static void non_temporal_waits_for_its_own_thread(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE_NT, 3, a, 1);
	step(f, PMT_CLWB, 1, a, 0);
	assert_int_equal(stores_in(f, a, 8), 1);
	assert_int_equal(f->stores.at[0].state, MODEL_PENDING);
	assert_int_equal(f->stores.at[0].flush_thread, 3);
	assert_null(f->stores.at[0].flush);
}

static void overwritten_store_is_named_while_a_crash_shows_it(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a, 1);
	step(f, PMT_STORE, 1, a + 4, 2);
	assert_int_equal(stores_in(f, a, 8), 2);
	assert_false(f->stores.at[0].is_overwritten);
	step(f, PMT_STORE, 1, a, 3);
	assert_int_equal(stores_in(f, a, 8), 3);
	assert_true(f->stores.at[0].is_overwritten);
	assert_false(f->stores.at[1].is_overwritten);
	step(f, PMT_CLFLUSH, 1, a, 0);
	assert_int_equal(stores_in(f, a, 8), 0);
}

static void only_stores_of_the_range_are_named(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, c, 1);
	step(f, PMT_STORE, 1, a + 60, 1);
	step(f, PMT_STORE, 1, a, 1);
	assert_int_equal(stores_in(f, a, 8), 1);
	assert_int_equal(stores_in(f, a + 8, 52), 0);
	assert_int_equal(stores_in(f, a + 63, 1), 1);
	assert_int_equal(f->stores.at[0].size_bytes, 4);
	assert_int_equal(stores_in(f, b, 4), 1);
	assert_int_equal(stores_in(f, b + 4, 4), 0);
	assert_int_equal(stores_in(f, 0, UINT64_MAX), 4);
	assert_int_equal(f->stores.at[0].addr, a + 60);
	assert_int_equal(f->stores.at[1].addr, a);
	assert_int_equal(f->stores.at[2].addr, b);
	assert_int_equal(f->stores.at[3].addr, c);
	assert_int_equal(stores_in(f, a, 0), 0);
}

static void durable_is_by_byte(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a + 8, 1);
	assert_true(model_is_durable(f->model, a, 8));
	assert_false(model_is_durable(f->model, a, 9));
	assert_false(model_is_durable(f->model, a + 15, 1));
	assert_true(model_is_durable(f->model, a + 16, 1000));
	assert_false(model_is_durable(f->model, 0, UINT64_MAX));
}

/* ---- what a flush or fence would do ---- */

static enum model_use flush_use(const struct model *m, uint32_t stream, uint32_t thread, uint64_t addr)
{
	return model_flush_use(m, &(struct trace_event){ .kind = PMT_CLWB, .stream = stream, .thread = thread, .addr = addr, .size_bytes = 64 });
}

static void flush_use_follows_the_line(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(flush_use(f->model, 0, 1, a), MODEL_NOTHING);
	step(f, PMT_STORE, 1, a, 1);
	assert_int_equal(flush_use(f->model, 0, 1, a + 63), MODEL_USEFUL);
	assert_int_equal(flush_use(f->model, 0, 1, b), MODEL_NOTHING);
	step(f, PMT_CLWB, 1, a, 0);
	assert_int_equal(flush_use(f->model, 0, 1, a), MODEL_REDUNDANT);
	assert_int_equal(flush_use(f->model, 0, 2, a), MODEL_USEFUL);
	assert_int_equal(flush_use(f->model, 1, 1, a), MODEL_USEFUL);
	step(f, PMT_STORE, 2, a + 8, 1);
	assert_int_equal(flush_use(f->model, 0, 1, a), MODEL_USEFUL);
	step(f, PMT_CLFLUSH, 2, a, 0);
	assert_int_equal(flush_use(f->model, 0, 1, a), MODEL_NOTHING);
}

static void flush_of_non_temporal_store_is_useless(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE_NT, 1, a, 1);
	assert_int_equal(flush_use(f->model, 0, 1, a), MODEL_NOTHING);
}

/* A line of 128 bytes is written back whole, wherever the flush points. */
static void flush_of_a_longer_line(void **state)
{
	struct fixture f = { .model = model_new(platform_find("arm64"), NULL) };
	struct trace_event dc = { .seq = 9, .kind = PMT_DC_CVAP, .thread = 1, .addr = a, .size_bytes = 128 };

	(void)state;
	assert_int_equal(model_flush_use(f.model, &dc), MODEL_NOTHING);
	step(&f, PMT_STORE, 1, b, 1);
	assert_int_equal(model_flush_use(f.model, &dc), MODEL_USEFUL);
	model_step(f.model, &dc);
	assert_int_equal(model_flush_use(f.model, &dc), MODEL_REDUNDANT);
	step(&f, PMT_STORE, 1, c, 1);
	dc.addr = c + 64;
	assert_int_equal(model_flush_use(f.model, &dc), MODEL_USEFUL);
	model_free(f.model);
}

/* ---- bounds ---- */

static void counter_without_flush_stays_small(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < MODEL_LINE_STORES; i++)
		step(f, PMT_STORE, 1, a, i + 1);
	assert_true(model_is_exact(f->model));
	assert_int_equal(model_nstates(f->model), MODEL_LINE_STORES + 1);
	for (uint64_t i = 0; i < 1000000; i++)
		step(f, PMT_STORE, 1, a, i);
	assert_false(model_is_exact(f->model));
	assert_in_range(stores_in(f, a, 8), 1, MODEL_LINE_STORES);
	assert_int_equal(f->stores.at[f->stores.n - 1].seq, f->seq);
	step(f, PMT_CLFLUSH, 1, a, 0);
	assert_int_equal(model_nlines(f->model), 0);
}

static void every_site_stays_named(void **state)
{
	struct fixture *f = *state;
	uint64_t value = 7;
	bool is_other_named = false;

	step(f, PMT_STORE, 1, a, 1);
	model_step(f->model, &(struct trace_event){ .seq = ++f->seq, .site = &other_site, .kind = PMT_STORE, .thread = 1,
						    .addr = a + 8, .size_bytes = 8, .data = (uint8_t *)&value });
	for (uint64_t i = 0; i < 100000; i++)
		step(f, PMT_STORE, 1, a + 8 * (i % 8), i);
	assert_in_range(stores_in(f, a, 64), 2, MODEL_LINE_STORES);
	for (size_t i = 0; i < f->stores.n; i++)
		is_other_named |= f->stores.at[i].site == &other_site;
	assert_true(is_other_named);
}

static void forgetting_respects_a_pending_flush(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a, 1);
	step(f, PMT_CLWB, 1, a, 0);
	for (uint64_t i = 0; i < 1000; i++)
		step(f, PMT_STORE, 1, a + 8, i);
	step(f, PMT_SFENCE, 1, 0, 0);
	assert_true(model_is_durable(f->model, a, 8));
	assert_false(model_is_durable(f->model, a + 8, 8));
}

/* A run of stores that are kept together loses its last one: the others end the run, not what comes after it. */
static void forgetting_survives_the_end_of_a_run(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < MODEL_LINE_STORES; i++)
		step(f, PMT_STORE, 1, a + 8 * (i % 2), i + 1);
	step(f, PMT_STORE, 1, a + 16, 1);
	assert_false(model_is_exact(f->model));
	assert_int_equal(model_nstates(f->model), 3);
	step(f, PMT_STORE_NT, 2, a + 8, 1000);
	step(f, PMT_SFENCE, 2, 0, 0);
	assert_int_equal(stores_in(f, a, 64), 2);
	assert_int_equal(model_nstates(f->model), 3);
}

static void line_is_gone_when_what_is_left_was_overtaken(void **state)
{
	struct fixture *f = *state;

	step(f, PMT_STORE, 1, a, 1);
	step(f, PMT_STORE_NT, 2, a, 2);
	step(f, PMT_SFENCE, 2, 0, 0);
	assert_int_equal(model_nlines(f->model), 0);
}

static void non_temporal_without_fence_stays_small(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 100000; i++)
		step(f, PMT_STORE_NT, 1, a + 8 * (i % 8), i);
	assert_false(model_is_exact(f->model));
	assert_in_range(stores_in(f, a, 64), 8, MODEL_LINE_STORES);
	assert_int_equal(model_nstates(f->model), UINT64_MAX);
	step(f, PMT_SFENCE, 1, 0, 0);
	assert_int_equal(model_nlines(f->model), 0);
}

static void too_many_states_saturate(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 100; i++)
		step(f, PMT_STORE, 1, a + 64 * i, 1);
	assert_int_equal(model_nstates(f->model), UINT64_MAX);
	assert_true(model_is_exact(f->model));
}

/* ---- the table of lines, and the image ---- */

#define NLINES 4096u

struct image {
	uint8_t bytes[NLINES][PMT_LINE_BYTES];
	uint64_t nwritten;
};

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(bytes, ((struct image *)arg)->bytes[(addr - a) / PMT_LINE_BYTES], len_bytes);
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	struct image *image = arg;

	memcpy(&image->bytes[(addr - a) / PMT_LINE_BYTES][(addr - a) % PMT_LINE_BYTES], bytes, len_bytes);
	image->nwritten++;
}

/* Lines come and go; in the end all that was stored is in the image. */
static void durable_content_reaches_the_image(void **state)
{
	struct image *image = xcalloc(1, sizeof *image);
	uint64_t *want = xcalloc(NLINES, sizeof *want), x = 88172645463325252u;
	struct fixture f = { .model = model_new(platforms[0], &(struct model_image){ image_read, image_write, image }) };

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t line;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		line = x % NLINES;
		want[line] = x;
		step(&f, PMT_STORE, 1, a + line * PMT_LINE_BYTES, x);
		step(&f, x >> 60 & 1 ? PMT_CLFLUSH : PMT_CLWB, 1, a + (x >> 20) % NLINES * PMT_LINE_BYTES, 0);
		if ((x >> 40) % 16 == 0)
			step(&f, PMT_SFENCE, 1, 0, 0);
	}
	model_step(f.model, &(struct trace_event){ .seq = ++f.seq, .kind = PMT_FSYNC, .thread = 1, .arg = { 1 } });
	assert_int_equal(model_nlines(f.model), 0);
	for (uint32_t i = 0; i < NLINES; i++)
		assert_memory_equal(image->bytes[i], &want[i], 8);
	model_free(f.model);
	free(image);
	free(want);
}

static void eadr_writes_through(void **state)
{
	struct image *image = xcalloc(1, sizeof *image);
	struct fixture f = { .model = model_new(platform_find("eadr"), &(struct model_image){ image_read, image_write, image }) };

	(void)state;
	step(&f, PMT_STORE, 1, a + 8, 5);
	assert_int_equal(image->bytes[0][8], 5);
	assert_int_equal(model_nlines(f.model), 0);
	assert_int_equal(flush_use(f.model, 0, 1, a), MODEL_NOTHING);
	model_free(f.model);
	free(image);
}

static void platforms_are_found(void **state)
{
	(void)state;
	assert_string_equal(platforms[0]->name, "x86-adr");
	assert_ptr_equal(platform_find("msync"), platforms[2]);
	assert_null(platform_find("vax"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(store_is_dirty_then_pending_then_gone),
		T(store_after_flush_is_dirty),
		T(last_flush_is_named),
		T(non_temporal_waits_for_its_own_thread),
		T(overwritten_store_is_named_while_a_crash_shows_it),
		T(only_stores_of_the_range_are_named),
		T(durable_is_by_byte),
		T(flush_use_follows_the_line),
		T(flush_of_non_temporal_store_is_useless),
		cmocka_unit_test(flush_of_a_longer_line),
		T(counter_without_flush_stays_small),
		T(every_site_stays_named),
		T(forgetting_respects_a_pending_flush),
		T(forgetting_survives_the_end_of_a_run),
		T(line_is_gone_when_what_is_left_was_overtaken),
		T(non_temporal_without_fence_stays_small),
		T(too_many_states_saturate),
		cmocka_unit_test(durable_content_reaches_the_image),
		cmocka_unit_test(eadr_writes_through),
		cmocka_unit_test(platforms_are_found),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
