/* Which calls seccomp filters let pass: as the kernel would say. The filters are of the forms that programs have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "serve/sandbox.h"

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof *(list))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOWS(filter, ...) sandbox_allows(filter, COUNT(filter), (const int[]){ __VA_ARGS__ }, COUNT(((const int[]){ __VA_ARGS__ })))

static void test_refuses_one(void **state)
{
	const struct sock_filter filter[] = { LOAD(nr), IF_EQUAL(SYS_getppid, 0, 1), GIVE(SECCOMP_RET_ERRNO | EPERM), GIVE(SECCOMP_RET_ALLOW) };

	(void)state;
	assert_true(ALLOWS(filter, SYS_gettid, SYS_write));
	assert_false(ALLOWS(filter, SYS_gettid, SYS_getppid));
}

static void test_allows_few(void **state)
{
	const struct sock_filter filter[] = { LOAD(nr), IF_EQUAL(SYS_write, 2, 0), IF_EQUAL(SYS_exit_group, 1, 0), GIVE(SECCOMP_RET_KILL_PROCESS), GIVE(SECCOMP_RET_LOG) };

	(void)state;
	assert_true(ALLOWS(filter, SYS_write, SYS_exit_group));
	assert_false(ALLOWS(filter, SYS_write, SYS_gettid));
}

/* As libseccomp begins them; a filter for a third architecture lets nothing pass here. */
static void test_asks_for_the_architecture(void **state)
{
	struct sock_filter filter[] = { LOAD(arch), IF_EQUAL(AUDIT_ARCH_X86_64, 1, 0), GIVE(SECCOMP_RET_KILL_PROCESS), GIVE(SECCOMP_RET_ALLOW) };

	(void)state;
	assert_true(ALLOWS(filter, SYS_gettid));
	filter[1].k = AUDIT_ARCH_AARCH64;
	assert_true(ALLOWS(filter, SYS_gettid));
	filter[1].k = AUDIT_ARCH_S390X;
	assert_false(ALLOWS(filter, SYS_gettid));
}

/* A range of numbers, by a jump, arithmetic and memory. */
static void test_computes(void **state)
{
	const struct sock_filter filter[] = {
		LOAD(nr), BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 5), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_IMM, 100), BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, 3), BPF_STMT(BPF_JMP | BPF_JA, 1), GIVE(SECCOMP_RET_KILL_PROCESS), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_X, 0, 0, 1),
		GIVE(SECCOMP_RET_TRAP), GIVE(SECCOMP_RET_ALLOW),
	};

	(void)state;
	assert_true(ALLOWS(filter, 0, 94));
	assert_false(ALLOWS(filter, 95));
	assert_false(ALLOWS(filter, 300));
}

/* What the kernel would not take: it ends nowhere, or does not end. */
static void test_has_no_end(void **state)
{
	const struct sock_filter filter[] = { LOAD(nr), BPF_STMT(BPF_JMP | BPF_JA, 0xfffffffe) };

	(void)state;
	assert_false(ALLOWS(filter, SYS_gettid));
	assert_false(sandbox_allows(filter, 1, (const int[]){ SYS_gettid }, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_one), cmocka_unit_test(test_allows_few), cmocka_unit_test(test_asks_for_the_architecture),
		cmocka_unit_test(test_computes), cmocka_unit_test(test_has_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
