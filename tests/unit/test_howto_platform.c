/* The platform that docs/howto-add-platform.md adds: its row, cut out of that page, allows the states that the page says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "model/model.h"

#include "howto_platform.inc"

static const uint64_t a = PMT_ADDR(1, 0);

static void step(struct model *m, enum pmt_kind kind, uint64_t seq, uint64_t addr, uint64_t value)
{
	model_step(m, &(struct trace_event){ .seq = seq,
					     .kind = kind,
					     .thread = 1,
					     .addr = addr,
					     .size_bytes = kind == PMT_STORE ? sizeof value : 0,
					     .arg = { PMT_PAGE_BYTES, MS_SYNC },
					     .data = (const uint8_t *)&value });
}

static void the_page_is_right(void **state)
{
	const struct platform *of_today = platform_find("msync");
	struct model *m = model_new(&dax_msync, NULL), *other = model_new(of_today, NULL);

	(void)state;
	step(m, PMT_STORE, 1, a, 1);
	step(m, PMT_STORE, 2, a + 64, 2);
	assert_int_equal(model_nstates(m), 4);
	step(m, PMT_CLWB, 3, a, 0);
	step(m, PMT_SFENCE, 4, 0, 0);
	assert_int_equal(model_nstates(m), 4);
	step(m, PMT_MSYNC, 5, a, 0);
	assert_int_equal(model_nstates(m), 1);
	step(other, PMT_STORE, 1, a, 1);
	step(other, PMT_STORE, 2, a + 64, 2);
	assert_int_equal(model_nstates(other), 3);
	model_free(other);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_is_right) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
