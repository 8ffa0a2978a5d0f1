/* pmend's annotations and pmemcheck's requests arrive as events, in order with the stores around them. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"
#include "pmend.h"

#include <valgrind/valgrind.h>

/* pmemcheck's ABI, counted from VG_USERREQ_TOOL_BASE('P', 'C'). */
enum {
	PMC_REGISTER = VG_USERREQ_TOOL_BASE('P', 'C'),
	PMC_REGISTER_FILE,
	PMC_REMOVE,
	PMC_CHECK_IS,
	PMC_PRINT,
	PMC_DO_FLUSH,
	PMC_DO_FENCE,
	PMC_SET_CLEAN = PMC_REGISTER + 17,
	PMC_START_TX,
	PMC_START_TX_N,
	PMC_END_TX,
	PMC_END_TX_N,
	PMC_ADD,
	PMC_ADD_N,
	PMC_REMOVE_FROM_TX,
	PMC_REMOVE_FROM_TX_N,
	PMC_ADD_THREAD,
	PMC_REMOVE_THREAD,
	PMC_ADD_IGNORE,
	PMC_EMIT_LOG = PMC_REGISTER + 30,
};

static uint64_t request(unsigned long number, uint64_t a, uint64_t b, uint64_t c)
{
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, number, a, b, c, 0, 0);
}

#define PM_ADDR(file, offset) ((uint64_t)(file) << 44 | (offset))

static void named(const char *kind, const char *name)
{
	expect_begin(kind);
	expect_key_text("text", name);
	expect_end();
}

static void ours(char *p)
{
	PMEND_ROI_BEGIN();
	expect_event("roi-begin", 0, NULL);
	STORE(p, 8, *(volatile uint64_t *)p = 1);
	PMEND_FAILURE_POINT();
	expect_event("failure-point", 0, NULL);
	PMEND_OP_BEGIN("insert");
	named("op-begin", "insert");
	PMEND_SKIP_FAILURE_BEGIN();
	expect_event("skip-failure-begin", 0, NULL);
	STORE(p + 8, 8, *(volatile uint64_t *)(p + 8) = 2);
	PMEND_SKIP_FAILURE_END();
	expect_event("skip-failure-end", 0, NULL);
	PMEND_SKIP_CHECK_BEGIN();
	expect_event("skip-check-begin", 0, NULL);
	PMEND_SKIP_CHECK_END();
	expect_event("skip-check-end", 0, NULL);
	PMEND_COMMIT_VAR(p + 64, 8);
	ARGS("commit-var", p + 64, 8);
	PMEND_COMMIT_RANGE(p + 64, p + 128, 100);
	ARGS("commit-range", p + 64, PM_ADDR(1, 128), 100);
	PMEND_ASSERT_DURABLE(p, 16);
	ARGS("assert-durable", p, 16);
	PMEND_ASSERT_ORDERED(p, 8, p + 8, 4);
	ARGS("assert-ordered", p, 8, PM_ADDR(1, 8), 4);
	PMEND_IGNORE(p + 512, 64);
	ARGS("ignore", p + 512, 64);
	PMEND_OP_END("insert");
	named("op-end", "insert");
	CHECK(!PMEND_IN_RECOVERY());
	PMEND_DONE();
	expect_event("done", 0, NULL);
	PMEND_ROI_END();
	expect_event("roi-end", 0, NULL);
}

static void pmemchecks(char *p)
{
	uint64_t a = (uint64_t)p;

	if (RUNNING_ON_VALGRIND) {
		CHECK(request(PMC_CHECK_IS, a, 4096, 0) != 0);
		CHECK(request(PMC_CHECK_IS, (uint64_t)expect_buf, 64, 0) == 0);
	}
	request(PMC_REGISTER, a, 4096, 0);
	ARGS("is-pm", p, 4096);
	request(PMC_SET_CLEAN, a + 64, 128, 0);
	ARGS("set-clean", p + 64, 128);
	request(PMC_START_TX, 0, 0, 0);
	ARGS("tx-begin", NULL, 0);
	request(PMC_ADD, a + 8, 16, 0);
	ARGS("tx-add", p + 8, 16, 0);
	STORE(p + 8, 8, *(volatile uint64_t *)(p + 8) = 3);
	request(PMC_REMOVE_FROM_TX, a + 8, 8, 0);
	ARGS("tx-remove", p + 8, 8, 0);
	request(PMC_END_TX, 0, 0, 0);
	ARGS("tx-end", NULL, 0);
	request(PMC_START_TX_N, 77, 0, 0);
	ARGS("tx-begin", NULL, 77);
	request(PMC_ADD_N, 77, a + 256, 32);
	ARGS("tx-add", p + 256, 32, 77);
	request(PMC_REMOVE_FROM_TX_N, 77, a + 256, 8);
	ARGS("tx-remove", p + 256, 8, 77);
	request(PMC_ADD_THREAD, 77, 0, 0);
	ARGS("tx-join", NULL, 77);
	request(PMC_REMOVE_THREAD, 77, 0, 0);
	ARGS("tx-leave", NULL, 77);
	request(PMC_END_TX_N, 77, 0, 0);
	ARGS("tx-end", NULL, 77);
	request(PMC_ADD_IGNORE, a + 1024, 24, 0);
	ARGS("tx-ignore", p + 1024, 24);
	request(PMC_EMIT_LOG, (uint64_t) "a marker", 0, 0);
	named("log", "a marker");
	/* They mirror instructions that we see ourselves: no flush and no fence of their own. */
	FLUSH(FLUSH_KIND, p, flush_line(p));
	request(PMC_DO_FLUSH, a, 64, 0);
	FENCE(FENCE_KIND, fence());
	request(PMC_DO_FENCE, 0, 0, 0);
	STORE(p + 16, 8, *(volatile uint64_t *)(p + 16) = 4);
	request(PMC_REMOVE, a, 4096, 0);
	ARGS("not-pm", p, 4096);
}

/* Memory that is no file becomes PM by registering it. */
static void registered(void)
{
	static uint64_t memory[512] __attribute__((aligned(4096)));

	memory[1] = 1; /* not yet */
	request(PMC_REGISTER, (uint64_t)memory, sizeof(memory), 0);
	expect_begin("is-pm");
	expect_text(",\"offset\":0,\"args\":[4096]");
	expect_end();
	*(volatile uint64_t *)&memory[2] = 2;
	expect_begin("store");
	expect_text(",\"offset\":16,\"size\":8,\"data\":\"0200000000000000\"");
	expect_end();
}

int main(int argc, char **argv)
{
	char *pool;

	CHECK(argc == 2);
	pool = pool_map(pool_path(argv[1], "pool"), 4096);
	ours(pool);
	pmemchecks(pool);
	registered();
	return 0;
}
