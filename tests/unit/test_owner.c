/* Whose code a frame is, by the paths that compilers and packages make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "trace/owner.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void paths_tell(void **state)
{
	static const struct {
		const char *object, *file, *function;
		enum owner owner;
	} cases[] = {
		{ "/home/u/app", "/home/u/app.c", "f", OWNER_USER },
		{ "/home/u/app", NULL, "f", OWNER_USER },
		{ NULL, NULL, NULL, OWNER_USER },
		{ "/usr/local/lib/libown.so", "/src/own.c", "f", OWNER_USER },
		{ "/home/u/app", "/usr/include/c++/12/bits/atomic_base.h", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/atomic_base.h", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/usr/bin/../include/c++/v1/atomic", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/usr/bin/../include/string.h", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/opt/gcc-13/include/c++/13/bits/stl_algobase.h", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/opt/llvm/lib/clang/16/include/emmintrin.h", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/rustc/59807616e1fa/library/core/src/ptr/mod.rs", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/usr/src/rustc-1.63.0/library/core/src/ptr/mod.rs", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/home/u/.cargo/registry/src/index/memmap2-0.5.7/src/lib.rs", "f", OWNER_SYSTEM },
		{ "/home/u/app", "/home/u/registry/src/lib.rs", "f", OWNER_USER },
		{ "/home/u/app", "/home/u/include/pmend.h", "f", OWNER_PMEND },
		{ "/home/u/app", "../include/x.h", "f", OWNER_USER },
		{ "/opt/pmdk/lib/libpmemobj.so.1", "obj.c", "f", OWNER_PMDK },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "./string/memset.S", "f", OWNER_RUNTIME },
		{ "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", NULL, NULL, OWNER_SYSTEM },
		{ "/opt/pmend/libexec/pmend/libpmend_rt.so", "runtime/strings.c", "memcmp", OWNER_PMEND },
		{ "/home/u/app", NULL, "__aarch64_ldadd8_relax", OWNER_RUNTIME },
		{ "/home/u/app", "/home/u/a.c", "__aarch64_mine", OWNER_USER },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (owner_of_code(NULL, cases[i].object, cases[i].file, cases[i].function) != cases[i].owner)
			fail_msg("case %zu: %s, %s", i, cases[i].object, cases[i].file);
}

static void globs_add(void **state)
{
	static const struct {
		const char *glob, *object, *file;
		bool is_library;
	} cases[] = {
		{ "alloc.c", "/home/u/app", "/home/u/src/alloc.c", true },
		{ "alloc.c", "/home/u/app", "/home/u/src/my_alloc.c", false },
		{ "libown*", "/home/u/libown.so.1", NULL, true },
		{ "third_party/*", "/home/u/app", "/home/u/third_party/x/y.h", true },
		{ "third_party/*", "/home/u/app", "third_party/y.h", true },
		{ "third_party/*", "/home/u/app", "/home/u/not_third_party/y.h", false },
		{ "/home/u/vendor/*", "/home/u/app", "/home/u/src/../vendor/y.c", true },
		{ "/vendor/*", "/home/u/app", "/home/u/vendor/y.c", false },
		{ "*/vendor/*", "/home/u/app", "/home/u/vendor/y.c", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct libraries l = { &cases[i].glob, 1 };

		if ((owner_of_code(&l, cases[i].object, cases[i].file, "f") == OWNER_LIBRARY) != cases[i].is_library)
			fail_msg("%s and %s", cases[i].glob, cases[i].file);
	}
}

static void libraries_decide_or_are_asked(void **state)
{
	static const char obj[] = "/usr/lib/x86_64-linux-gnu/libpmemobj.so.1.0.0", pmem[] = "/usr/lib/x86_64-linux-gnu/libpmem.so.1.0.0";

	(void)state;
	assert_string_equal(owner_decider(obj, "pmemobj_tx_commit"), "libpmemobj");
	assert_string_equal(owner_decider(obj, NULL), "libpmemobj");
	assert_null(owner_decider(obj, "pmemobj_persist"));
	assert_null(owner_decider(obj, "pmemobj_memcpy_persist"));
	assert_null(owner_decider(pmem, "pmem_persist"));
	assert_null(owner_decider("/home/u/libpmemobj_mine.so", "pmemobj_tx_commit"));
	assert_null(owner_decider(NULL, "pmemobj_tx_commit"));
	assert_true(owner_makes_pool(obj, "pmemobj_create"));
	assert_false(owner_makes_pool(obj, "pmemobj_open"));
	assert_false(owner_makes_pool("/home/u/app", "pmemobj_create"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_tell),
		cmocka_unit_test(globs_add),
		cmocka_unit_test(libraries_decide_or_are_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
