/* Symbols of this very program: expectations are __LINE__ and __func__. */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/symbols.h"
#include "util/alloc.h"

/* The address after the instruction that asks for it, as a return address is. */
#if defined __x86_64__
#define HERE(pc) __asm__ volatile("lea 0(%%rip), %0" : "=r"(pc))
#elif defined __aarch64__
#define HERE(pc) __asm__ volatile("adr %0, . + 4" : "=r"(pc))
#endif

struct place {
	uint64_t pc;
	int line;	/* of HERE */
	int caller_line; /* of the call that was inlined */
};

__attribute__((noinline)) static void plain_function(struct place *p)
{
	HERE(p->pc); p->line = __LINE__;
}

static inline __attribute__((always_inline)) void inlined_function(struct place *p)
{
	HERE(p->pc); p->line = __LINE__;
}

static inline __attribute__((always_inline)) void inlined_twice(struct place *p)
{
	inlined_function(p); p->caller_line = __LINE__;
}

__attribute__((noinline)) static void outer_function(struct place *p)
{
	inlined_twice(p);
}

void mangled_function(struct place *p) __asm__("_ZN5shape4areaEi");
__attribute__((noinline)) void mangled_function(struct place *p)
{
	HERE(p->pc);
}

/* The mapping that holds pc. */
static struct trace_object object_of(uint64_t pc)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct trace_object object = { 0 };
	uint64_t start, end, offset;
	char line[4096], path[4096];

	assert_non_null(maps);
	while (fgets(line, sizeof line, maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]", &start, &end, &offset,
			   path) == 4 && start <= pc && pc < end) {
			object = (struct trace_object){ .va = start, .len_bytes = end - start, .offset = offset };
			object.path = xstrdup(path);
		}
	fclose(maps);
	assert_non_null(object.path);
	return object;
}

static void set_build_id(struct trace_object *object)
{
	int fd = open(object->path, O_RDONLY);
	const void *id;
	ssize_t len;
	Elf *elf;

	assert_true(fd >= 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	len = dwelf_elf_gnu_build_id(elf, &id);
	assert_in_range(len, 1, sizeof object->build_id);
	memcpy(object->build_id, id, (size_t)len);
	object->build_id_len = (uint32_t)len;
	elf_end(elf);
	close(fd);
}

static void assert_in_this_file(const struct symbol *symbol)
{
	assert_non_null(symbol->file);
	assert_non_null(strstr(symbol->file, "test_symbols.c"));
}

static void function_and_line(void **state)
{
	const struct symbol *list, *again;
	struct symbols *s = symbols_new();
	struct trace_object object;
	struct place p;

	(void)state;
	plain_function(&p);
	object = object_of(p.pc);
	assert_int_equal(symbols_find(s, &object, p.pc, true, &list), 1);
	assert_string_equal(list[0].function, "plain_function");
	assert_int_equal(list[0].line, p.line);
	assert_int_equal(list[0].function_line, p.line - 2);
	assert_true(list[0].column > 0);
	assert_in_this_file(&list[0]);
	assert_false(list[0].is_inlined);
	assert_string_equal(list[0].object, object.path);
	assert_int_equal(symbols_find(s, &object, p.pc, true, &again), 1);
	assert_ptr_equal(list, again);
	symbols_free(s);
	free(object.path);
}

static void inlined_functions_innermost_first(void **state)
{
	struct symbols *s = symbols_new();
	struct trace_object object;
	const struct symbol *list;
	struct place p;

	(void)state;
	outer_function(&p);
	object = object_of(p.pc);
	assert_int_equal(symbols_find(s, &object, p.pc, true, &list), 3);
	assert_string_equal(list[0].function, "inlined_function");
	assert_int_equal(list[0].line, p.line);
	assert_int_equal(list[0].function_line, p.line - 2);
	assert_true(list[0].is_inlined);
	assert_string_equal(list[1].function, "inlined_twice");
	assert_int_equal(list[1].line, p.caller_line);
	assert_int_equal(list[1].function_line, p.caller_line - 2);
	assert_true(list[1].is_inlined);
	assert_in_this_file(&list[1]);
	assert_string_equal(list[2].function, "outer_function");
	assert_false(list[2].is_inlined);
	symbols_free(s);
	free(object.path);
}

static void the_build_id_must_be_right(void **state)
{
	struct symbols *s = symbols_new();
	struct trace_object object;
	const struct symbol *list;
	struct place p;

	(void)state;
	plain_function(&p);
	object = object_of(p.pc);
	set_build_id(&object);
	symbols_find(s, &object, p.pc, true, &list);
	assert_string_equal(list[0].function, "plain_function");
	object.build_id[0] ^= 1;
	assert_int_equal(symbols_find(s, &object, p.pc, true, &list), 1);
	assert_null(list[0].function);
	assert_null(list[0].file);
	assert_string_equal(list[0].object, object.path);
	symbols_free(s);
	free(object.path);
}

static void cxx_names_are_demangled(void **state)
{
	struct symbols *s = symbols_new();
	struct trace_object object;
	const struct symbol *list;
	struct place p;

	(void)state;
	mangled_function(&p);
	object = object_of(p.pc);
	symbols_find(s, &object, p.pc, true, &list);
	assert_string_equal(list[0].function, "shape::area(int)");
	symbols_free(s);
	free(object.path);
}

static void shared_libraries(void **state)
{
	struct symbols *s = symbols_new();
	uint64_t pc = (uint64_t)(uintptr_t)&snprintf + 4;
	struct trace_object object = object_of(pc);
	const struct symbol *list;

	(void)state;
	symbols_find(s, &object, pc, false, &list);
	assert_non_null(list[0].object);
	if (strstr(object.path, "/libc")) { /* not a sanitizer's interceptor in this program */
		assert_non_null(list[0].function);
		assert_non_null(strstr(list[0].function, "snprintf"));
	}
	symbols_free(s);
	free(object.path);
}

static void nothing_known(void **state)
{
	struct trace_object gone = { .va = 0x1000, .len_bytes = 0x1000, .offset = 0x3000,
				     .path = (char *)"/nonexistent/lib.so" };
	struct symbols *s = symbols_new();
	const struct symbol *list;

	(void)state;
	assert_int_equal(symbols_find(s, NULL, 0x1234, false, &list), 1);
	assert_null(list[0].function);
	assert_null(list[0].object);
	assert_int_equal(list[0].offset, 0x1234);
	assert_int_equal(symbols_find(s, &gone, 0x1010, false, &list), 1);
	assert_null(list[0].function);
	assert_string_equal(list[0].object, "/nonexistent/lib.so");
	assert_int_equal(list[0].offset, 0x3010);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function_and_line),
		cmocka_unit_test(inlined_functions_innermost_first),
		cmocka_unit_test(the_build_id_must_be_right),
		cmocka_unit_test(cxx_names_are_demangled),
		cmocka_unit_test(shared_libraries),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
