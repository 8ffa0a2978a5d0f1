/* The tracer's own strtol() and its relatives (valgrind/tracer/preload/numbers.c) against the C library's: on what numbers look like, at the limits, and on noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "valgrind/tracer/preload/numbers.c"

static void compare(const char *text, int base)
{
	const bool has_end = base == 0 || (base >= 2 && base <= 36); /* else it stays what it was; ASan's strtol() leaves garbage there */
	char *end = NULL, *own_end = NULL;
	unsigned long u, own_u;
	long s, own_s;
	int e, own_e;

	errno = 0;
	s = strtol(text, &end, base);
	e = errno;
	errno = 0;
	own_s = REPLACES(strtol)(text, &own_end, base);
	own_e = errno;
	if (!has_end)
		end = NULL;
	if (s != own_s || end != own_end || e != own_e)
		fail_msg("strtol(\"%s\", %d): %ld, %td, errno %d; should be %ld, %td, errno %d", text, base, own_s, own_end - text, own_e, s, end - text, e);
	errno = 0;
	u = strtoul(text, &end, base);
	e = errno;
	errno = 0;
	own_u = REPLACES(strtoul)(text, &own_end, base);
	own_e = errno;
	if (!has_end)
		end = NULL;
	if (u != own_u || end != own_end || e != own_e)
		fail_msg("strtoul(\"%s\", %d): %lu, %td, errno %d; should be %lu, %td, errno %d", text, base, own_u, own_end - text, own_e, u, end - text, e);
}

static void test_known(void **state)
{
	static const char *const texts[] = { "", "0", "-0", "+7", " \t\n\v\f\r12x", "+-3", "- 3", "0x", "0xg", "0x1F", "-0X1f", "00x1", "08", "077", "zz", "Zz9",
					     "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
					     "18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
					     "000000000000000000000000000000000000012", "99999999999999999999999999999999", "7fffffffffffffff", "8000000000000000",
					     "1111111111111111111111111111111111111111111111111111111111111111" };
	static const int bases[] = { 0, 2, 8, 10, 16, 36, 1, 37, -1 };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		for (size_t k = 0; k < sizeof bases / sizeof bases[0]; k++)
			compare(texts[i], bases[k]);
	assert_int_equal(REPLACES(atoi)(" -42 "), -42);
	assert_int_equal(REPLACES(atol)("12345678901"), 12345678901);
}

static void test_noise(void **state)
{
	static const char letters[] = "0123456789+- \tabfxzXZ";
	unsigned seed = 1;
	char text[32];

	(void)state;
	for (unsigned turn = 0; turn < 20000; turn++) {
		size_t n = (size_t)rand_r(&seed) % (sizeof text - 1);

		for (size_t i = 0; i < n; i++)
			text[i] = letters[(unsigned)rand_r(&seed) % (turn % 2 ? 10 : sizeof letters - 1)];
		text[n] = '\0';
		compare(text, (int)(turn % 37));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_known), cmocka_unit_test(test_noise) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
