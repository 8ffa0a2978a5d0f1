/* Dealing out failure points: every one goes to exactly one shard, each shard costs about the same, and it is the same for whoever deals. Base64, in which parts are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crash/workers/share.h"
#include "util/base64.h"

static uint64_t cost_of(uint64_t i, uint64_t seed)
{
	const uint64_t x = (i + seed) * 0x9e3779b97f4a7c15u;

	return 1 + (x >> 60) + (i % 1000 == 0 ? 100 : 0);
}

static void deal(struct shard shard, uint64_t n, uint64_t seed, struct share *own)
{
	struct dealer d;

	*own = (struct share){ 0 };
	dealer_init(&d, shard);
	for (uint64_t i = 1; i <= n; i++)
		dealer_add(&d, cost_of(i, seed), own);
	dealer_release(&d);
}

/* The most that a shard costs, in percent of the mean. */
static uint64_t check_partition(uint64_t n, uint32_t of, uint64_t seed)
{
	uint8_t *seen = calloc(n + 1, 1);
	uint64_t most = 0, total = 0, nseen = 0;

	for (uint32_t index = 1; index <= of; index++) {
		uint64_t cost = 0, last = 0;
		struct share own;

		deal((struct shard){ index, of }, n, seed, &own);
		for (uint64_t i = 0; i < own.n; i++) {
			const uint64_t at = share_at(&own, i);

			assert_true(at > last && at <= n && !seen[at]);
			seen[at] = 1;
			last = at;
			cost += cost_of(at, seed);
		}
		nseen += own.n;
		total += cost;
		most = cost > most ? cost : most;
		share_release(&own);
	}
	assert_int_equal(nseen, n);
	free(seen);
	return n ? most * of * 100 / total : 100;
}

static void test_partition(void **state)
{
	(void)state;
	for (uint32_t of = 1; of <= 9; of += 2)
		for (uint64_t n = 0; n < 40; n++)
			check_partition(n, of, n);
	assert_int_equal(check_partition(1000, 1, 3), 100);
}

static void test_balance(void **state)
{
	static const uint32_t parts[] = { 2, 7, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (uint64_t seed = 0; seed < 3; seed++)
			assert_true(check_partition(100000, parts[i], seed) <= 115);
}

/* A share of a long trace is few spans. */
static void test_spans(void **state)
{
	struct share own;

	(void)state;
	deal((struct shard){ 3, 7 }, 1000000, 1, &own);
	assert_true(own.spans.n < 1000);
	share_release(&own);
	deal((struct shard){ 0 }, 1000, 1, &own);
	assert_int_equal(own.spans.n, 1);
	assert_int_equal(own.n, 1000);
	share_release(&own);
}

static void test_base64(void **state)
{
	static const char *const texts[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" }; /* RFC 4648, section 10 */
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Z===", "====", "Zm9v Zm9", "Zm9vZg==Zm9v", "Zm9?" };
	uint8_t bytes[300];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *text = base64_encode((const uint8_t *)"foobar", i);
		uint8_t *back = base64_decode(texts[i], &n);

		assert_string_equal(text, texts[i]);
		assert_non_null(back);
		assert_int_equal(n, i);
		assert_memory_equal(back, "foobar", i);
		free(text);
		free(back);
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t len = 0; len < sizeof bytes; len++) {
		char *text = base64_encode(bytes, len);
		uint8_t *back = base64_decode(text, &n);

		assert_int_equal(n, len);
		assert_memory_equal(back, bytes, len);
		free(text);
		free(back);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_null(base64_decode(bad[i], &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_partition), cmocka_unit_test(test_balance), cmocka_unit_test(test_spans),
					    cmocka_unit_test(test_base64) };

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
