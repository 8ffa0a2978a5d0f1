/* The points-to analysis: exact sets for small pieces of IR. Objects are named by where they come from: "main.x" is a variable of
 * main, "malloc" a call; "+8" a field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <llvm-c/IRReader.h>

#include "source/alias/internal.h"

#define DECLARED                                                                                          \
	"declare i8* @malloc(i64)\ndeclare i8* @mmap(i8*, i64, i32, i32, i32, i64)\n"                     \
	"declare i8* @realloc(i8*, i64)\ndeclare i8* @memcpy(i8*, i8*, i64)\ndeclare i8* @secret(i8*)\n" \
	"declare i32 @pthread_create(i64*, i8*, i8* (i8*)*, i8*)\ndeclare i8* @pmemobj_direct(i64, i64)\n" \
	"declare i64 @__isoc23_strtol(i8*, i8**, i32)\n"                                                  \
	"declare void @llvm.va_start(i8*)\ndeclare void @llvm.va_copy(i8*, i8*)\n"                       \
	"declare i8* @strchr(i8*, i32)\n%pair = type { i8*, i8* }\n"

static void add_module(struct alias *a, const char *ir)
{
	char *text = xasprintf("%s%s", DECLARED, ir), *why = NULL;
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "ir");
	LLVMModuleRef m;

	if (LLVMParseIRInContext(a->context, buffer, &m, &why))
		fail_msg("%s", why);
	free(text);
	alias_add(a, m);
}

static struct alias *analyse(const char *ir, const char *other)
{
	struct alias *a = alias_new();

	add_module(a, ir);
	if (other)
		add_module(a, other);
	alias_solve(a);
	return a;
}

static uint32_t node_of(struct alias *a, const char *function, const char *value)
{
	for (size_t i = 0; i < a->functions.n; i++) {
		LLVMValueRef f = a->functions.at[i].value;
		size_t len;

		if (strcmp(a->functions.at[i].name, function) != 0 || !a->functions.at[i].is_defined)
			continue;
		for (LLVMValueRef p = LLVMGetFirstParam(f); p; p = LLVMGetNextParam(p))
			if (strcmp(LLVMGetValueName2(p, &len), value) == 0)
				return ir_node(a, p);
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
				if (strcmp(LLVMGetValueName2(v, &len), value) == 0)
					return ir_node(a, v);
	}
	fail_msg("there is no %s in %s", value, function);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* "main.x malloc+8": sorted. */
static void points(struct alias *a, const char *function, const char *value, const char *expected)
{
	char names[32][64], text[2048] = "";
	const uint32_t *locations;
	size_t n = solver_locations(a->solver, node_of(a, function, value), &locations);

	assert_true(n <= 32);
	for (size_t i = 0; i < n; i++) {
		int64_t offset;
		uint32_t object = solver_object_of(a->solver, locations[i], &offset);

		snprintf(names[i], sizeof names[i], offset ? "%s+%d" : "%s", solver_name(a->solver, object), (int)offset);
	}
	qsort(names, n, sizeof names[0], by_text);
	for (size_t i = 0; i < n; i++) {
		strcat(text, i ? " " : "");
		strcat(text, names[i]);
	}
	assert_string_equal(text, expected);
}

static void test_loads_and_stores(void **state)
{
	struct alias *a = analyse("define void @main() {\n"
				  "%x = alloca i8\n%y = alloca i8\n%p = alloca i8*\n%q = alloca i8*\n"
				  "store i8* %x, i8** %p\n%l = load i8*, i8** %p\nstore i8* %l, i8** %q\n"
				  "store i8* %y, i8** %q\n%m = load i8*, i8** %q\nret void\n}\n", NULL);

	(void)state;
	points(a, "main", "l", "main.x");
	points(a, "main", "m", "main.x main.y");
	alias_close(a);
}

static void test_fields(void **state)
{
	struct alias *a = analyse("define void @main(i64 %i) {\n%x = alloca i8\n%y = alloca i8\n%s = alloca [4 x %pair]\n"
				  "%a = getelementptr [4 x %pair], [4 x %pair]* %s, i64 0, i64 %i, i32 0\n"
				  "%b = getelementptr [4 x %pair], [4 x %pair]* %s, i64 0, i64 3, i32 1\n"
				  "store i8* %x, i8** %a\nstore i8* %y, i8** %b\n"
				  "%e = getelementptr [4 x %pair], [4 x %pair]* %s, i64 0, i64 0\n"
				  "%c = getelementptr %pair, %pair* %e, i64 0, i32 1\n%l = load i8*, i8** %c\n"
				  "%copy = alloca %pair\n%d8 = bitcast %pair* %copy to i8*\n%s8 = bitcast %pair* %e to i8*\n"
				  "%r = call i8* @memcpy(i8* %d8, i8* %s8, i64 16)\n"
				  "%f = getelementptr %pair, %pair* %copy, i64 0, i32 1\n%m = load i8*, i8** %f\nret void\n}\n", NULL);

	(void)state;
	points(a, "main", "a", "main.s");
	points(a, "main", "b", "main.s+8");
	points(a, "main", "l", "main.y"); /* elements are one, fields are not */
	points(a, "main", "m", "main.y"); /* copied as a whole, read by field */
	points(a, "main", "r", "main.copy");
	alias_close(a);
}

static void test_field_in_front_makes_flat(void **state)
{
	struct alias *a = analyse("define void @main() {\n%x = alloca i8\n%y = alloca i8\n%s = alloca %pair\n"
				  "%a = getelementptr %pair, %pair* %s, i64 0, i32 0\n%b = getelementptr %pair, %pair* %s, i64 0, i32 1\n"
				  "store i8* %x, i8** %a\nstore i8* %y, i8** %b\n%s8 = bitcast %pair* %s to i8*\n"
				  "%g = getelementptr i8, i8* %s8, i64 -8\n%gp = bitcast i8* %g to i8**\n%l = load i8*, i8** %gp\nret void\n}\n", NULL);

	(void)state;
	points(a, "main", "l", "main.x main.y");
	alias_close(a);
}

/* The listing of HIPPOCRATES: the innermost function gets both. */
static void test_calls(void **state)
{
	struct alias *a = analyse("define void @update(i8* %addr) {\n%p = getelementptr i8, i8* %addr, i64 8\n%inside = getelementptr i8, i8* %addr, i64 3\nstore i8 1, i8* %p\nret void\n}\n"
				  "define void @modify(i8* %addr) {\ncall void @update(i8* %addr)\nret void\n}\n"
				  "define void @foo() {\n%vol = alloca i8\n"
				  "%pm = call i8* @mmap(i8* null, i64 1, i32 3, i32 1, i32 7, i64 0)\n"
				  "call void @modify(i8* %vol)\ncall void @modify(i8* %pm)\nret void\n}\n", NULL);

	(void)state;
	points(a, "foo", "pm", "mmap");
	points(a, "modify", "addr", "foo.vol mmap");
	points(a, "update", "p", "foo.vol+8 mmap+8");
	points(a, "update", "inside", "foo.vol mmap"); /* no member that holds a pointer is there */
	alias_close(a);
}

static void test_function_pointers(void **state)
{
	struct alias *a = analyse("@table = global [2 x i8* (i8*)*] [i8* (i8*)* @one, i8* (i8*)* @two]\n"
				  "define i8* @one(i8* %p) {\nret i8* %p\n}\ndefine i8* @two(i8* %q) {\n%z = alloca i8\nret i8* %z\n}\n"
				  "define i8* @never(i8* %n) {\nret i8* %n\n}\n"
				  "define void @main(i64 %i) {\n%x = alloca i8\n"
				  "%s = getelementptr [2 x i8* (i8*)*], [2 x i8* (i8*)*]* @table, i64 0, i64 %i\n"
				  "%f = load i8* (i8*)*, i8* (i8*)** %s\n%r = call i8* %f(i8* %x)\n"
				  "%t = call i32 @pthread_create(i64* null, i8* null, i8* (i8*)* @thread, i8* %x)\nret void\n}\n"
				  "define i8* @thread(i8* %arg) {\nret i8* null\n}\n", NULL);

	(void)state;
	points(a, "main", "f", "one two");
	points(a, "main", "r", "main.x two.z");
	points(a, "one", "p", "main.x");
	points(a, "never", "n", "");
	points(a, "thread", "arg", "main.x");
	alias_close(a);
}

static void test_modules(void **state)
{
	struct alias *a = analyse("@shared = global i8* null\ndefine i8* @give() {\n%p = call i8* @malloc(i64 8)\nstore i8* %p, i8** @shared\n"
				  "ret i8* %p\n}\ndefine internal i8* @own() {\n%o = alloca i8\nret i8* %o\n}\n",
				  "@shared = external global i8*\ndeclare i8* @give()\ndefine internal i8* @own() {\nret i8* null\n}\n"
				  "define void @main() {\n%p = call i8* @give()\n%s = load i8*, i8** @shared\n%n = call i8* @own()\nret void\n}\n");

	(void)state;
	points(a, "main", "p", "malloc");
	points(a, "main", "s", "malloc");
	points(a, "main", "n", ""); /* its own, not the other module's */
	alias_close(a);
}

static void test_values(void **state)
{
	struct alias *a = analyse("define void @main(i1 %c, i64 %off) {\n%x = alloca i8\n%y = alloca i8\nbr i1 %c, label %t, label %e\n"
				  "t:\nbr label %e\ne:\n%phi = phi i8* [ %x, %0 ], [ %y, %t ]\n%sel = select i1 %c, i8* %x, i8* null\n"
				  "%int = ptrtoint i8* %x to i64\n%sum = add i64 %int, %off\n%back = inttoptr i64 %sum to i8*\n"
				  "%pair = insertvalue { i8*, i64 } undef, i8* %y, 0\n%out = extractvalue { i8*, i64 } %pair, 0\n"
				  "%slot = alloca i8*\n%old = atomicrmw xchg i64* null, i64 %int seq_cst\n"
				  "%big = call i8* @realloc(i8* %x, i64 9)\n%s = call i8* @strchr(i8* %y, i32 1)\nret void\n}\n", NULL);

	(void)state;
	points(a, "main", "phi", "main.x main.y");
	points(a, "main", "sel", "main.x");
	points(a, "main", "back", "main.x");
	points(a, "main", "out", "main.y");
	points(a, "main", "big", "realloc");
	points(a, "main", "s", "main.y");
	alias_close(a);
}

static void test_externals(void **state)
{
	struct alias *a = analyse("define void @main() {\n%x = alloca i8*\n%x8 = bitcast i8** %x to i8*\n%r = call i8* @secret(i8* %x8)\n"
				  "%in = load i8*, i8** %x\n%a = call i8* @pmemobj_direct(i64 1, i64 2)\n%b = call i8* @pmemobj_direct(i64 3, i64 4)\n"
				  "%v = call i8* @mmap(i8* null, i64 1, i32 3, i32 34, i32 -1, i64 0)\n"
				  "%text = alloca i8\n%end = alloca i8*\n%n = call i64 @__isoc23_strtol(i8* %text, i8** %end, i32 0)\n"
				  "%e = load i8*, i8** %end\nret void\n}\n", NULL);
	const uint32_t *objects;

	(void)state;
	points(a, "main", "r", "main.x secret");  /* may be anything it was given */
	points(a, "main", "in", "main.x secret"); /* and may be kept there */
	points(a, "main", "a", "pmemobj");
	points(a, "main", "b", "pmemobj");
	points(a, "main", "e", "main.text"); /* strtol under glibc 2.38's name */
	assert_int_equal(solver_objects(a->solver, node_of(a, "main", "v"), &objects), 1);
	assert_int_equal(solver_kind(a->solver, objects[0]), SOLVE_HEAP); /* anonymous */
	alias_close(a);
}

static void test_varargs(void **state)
{
	struct alias *a = analyse("%list = type { i32, i32, i8*, i8* }\n"
				  "define i8* @last(i32 %n, ...) {\n%ap = alloca [1 x %list]\n"
				  "%l = getelementptr [1 x %list], [1 x %list]* %ap, i64 0, i64 0\n%l8 = bitcast %list* %l to i8*\n"
				  "call void @llvm.va_start(i8* %l8)\n%area = getelementptr %list, %list* %l, i64 0, i32 2\n"
				  "%at = load i8*, i8** %area\n%slot = bitcast i8* %at to i8**\n%v = load i8*, i8** %slot\nret i8* %v\n}\n"
				  "define i8* @copied(i32 %n, ...) {\n%ap = alloca %list\n%aq = alloca %list\n"
				  "%p8 = bitcast %list* %ap to i8*\n%q8 = bitcast %list* %aq to i8*\n"
				  "call void @llvm.va_start(i8* %p8)\ncall void @llvm.va_copy(i8* %q8, i8* %p8)\n"
				  "%area = getelementptr %list, %list* %aq, i64 0, i32 2\n%at = load i8*, i8** %area\n"
				  "%slot = bitcast i8* %at to i8**\n%v = load i8*, i8** %slot\nret i8* %v\n}\n"
				  "define void @main() {\n%x = alloca i8\n%y = alloca i8\n"
				  "%r = call i8* (i32, ...) @last(i32 2, i8* %x, i8* %y)\n"
				  "%s = call i8* (i32, ...) @copied(i32 1, i8* %y)\nret void\n}\n", NULL);

	(void)state;
	points(a, "main", "r", "main.x main.y");
	points(a, "main", "s", "main.y");
	alias_close(a);
}

/* A list that is walked in a circle of copies, and a recursive function. */
static void test_circles(void **state)
{
	struct alias *a = analyse("%node = type { i64, %node* }\n"
				  "define %node* @walk(%node* %n, i1 %c) {\n%h = getelementptr %node, %node* %n, i64 0, i32 1\n"
				  "%next = load %node*, %node** %h\n%r = call %node* @walk(%node* %next, i1 %c)\n"
				  "%s = select i1 %c, %node* %r, %node* %n\nret %node* %s\n}\n"
				  "define void @main(i1 %c) {\n%a = alloca %node\n%b = alloca %node\n"
				  "%an = getelementptr %node, %node* %a, i64 0, i32 1\n%bn = getelementptr %node, %node* %b, i64 0, i32 1\n"
				  "store %node* %b, %node** %an\nstore %node* %a, %node** %bn\n%other = alloca %node\n"
				  "%r = call %node* @walk(%node* %a, i1 %c)\nret void\n}\n", NULL);

	(void)state;
	points(a, "walk", "n", "main.a main.b");
	points(a, "main", "r", "main.a main.b");
	alias_close(a);
}

/* ---- questions by place ---- */

#define PLACES                                                                                                          \
	"!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"              \
	"!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n!1 = !DIFile(filename: \"a.c\", directory: \"/no\")\n" \
	"!4 = !DISubroutineType(types: !5)\n!5 = !{}\n"                                                                  \
	"!3 = distinct !DISubprogram(name: \"f\", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)\n"   \
	"!6 = distinct !DISubprogram(name: \"g\", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)\n"   \
	"!10 = !DILocation(line: 10, column: 7, scope: !3)\n!11 = !DILocation(line: 11, column: 2, scope: !6)\n"          \
	"!12 = !DILocation(line: 12, column: 2, scope: !6)\n!13 = !DILocation(line: 13, column: 2, scope: !6)\n"          \
	"!14 = !DILocation(line: 11, column: 2, scope: !3)\n"

static struct alias_counts count(struct alias *a, uint32_t line, const char *callee)
{
	struct alias_place store = { "/no/a.c", 10, 1, 10, 9, NULL }, p = { "/no/a.c", line, 1, line, 9, callee };
	struct alias_counts c;

	alias_count(a, &p, callee ? &store : NULL, &c);
	return c;
}

static void test_places(void **state)
{
	struct alias *a = analyse("define void @set(i8* %to, i8* %from) !dbg !3 {\nstore i8 1, i8* %to, !dbg !10\nret void\n}\n"
				  "define void @none(i64 %n) {\nret void\n}\n"
				  "define void @f() !dbg !6 {\n%x = alloca i8\n%other = alloca i8\n"
				  "%pm = call i8* @mmap(i8* null, i64 1, i32 3, i32 1, i32 7, i64 0)\n"
				  "call void @set(i8* %x, i8* %other), !dbg !11\ncall void @set(i8* %pm, i8* %other), !dbg !12\n"
				  "call void @none(i64 3), !dbg !13\nret void\n}\n" PLACES, NULL);

	(void)state;
	assert_true(count(a, 10, NULL).npm == 1 && count(a, 10, NULL).nvolatile == 1);
	assert_true(count(a, 11, "set").npm == 0 && count(a, 11, "set").nvolatile == 1);
	assert_true(count(a, 12, "set").npm == 1 && count(a, 12, "set").nvolatile == 0); /* %other leads nowhere */
	assert_true(count(a, 13, "none").is_found && !count(a, 13, "none").has_pointers);
	assert_false(count(a, 14, "set").is_found);
	alias_close(a);
}

/* What comes from unseen code is persistent if the trace saw a store there. */
static void test_seeds(void **state)
{
	struct alias *a = analyse("define void @f() !dbg !3 {\n%x = alloca i8\n%p = call i8* @secret(i8* null)\nstore i8 1, i8* %p, !dbg !10\n"
				  "store i8 1, i8* %x, !dbg !14\nret void\n}\n" PLACES, NULL);
	const struct alias_place on_heap = { "/no/a.c", 11, 2, 11, 2, NULL }, hit = { "/no/a.c", 10, 7, 10, 7, NULL };

	(void)state;
	assert_true(count(a, 10, NULL).npm == 0 && count(a, 10, NULL).nvolatile == 0);
	alias_seed(a, &on_heap);
	assert_true(count(a, 11, NULL).nvolatile == 1); /* a variable stays one */
	alias_seed(a, &hit);
	assert_true(count(a, 10, NULL).npm == 1);
	alias_close(a);
}

/* A store that is explained by persistent memory which is known says nothing about the rest. */
static void test_seeds_that_are_explained(void **state)
{
	struct alias *a = analyse("define void @f(i1 %c) !dbg !3 {\n%p = call i8* @secret(i8* null)\n"
				  "%pm = call i8* @mmap(i8* null, i64 1, i32 3, i32 1, i32 7, i64 0)\n"
				  "%q = select i1 %c, i8* %pm, i8* %p\nstore i8 1, i8* %q, !dbg !10\nstore i8 1, i8* %p, !dbg !14\nret void\n}\n" PLACES, NULL);
	const struct alias_place hit = { "/no/a.c", 10, 7, 10, 7, NULL };

	(void)state;
	assert_true(count(a, 10, NULL).npm == 1);
	alias_seed(a, &hit);
	assert_true(count(a, 10, NULL).npm == 1);
	assert_true(count(a, 11, NULL).npm == 0);
	alias_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_and_stores), cmocka_unit_test(test_fields),	 cmocka_unit_test(test_field_in_front_makes_flat),
		cmocka_unit_test(test_calls),		 cmocka_unit_test(test_function_pointers), cmocka_unit_test(test_modules),
		cmocka_unit_test(test_values),		 cmocka_unit_test(test_externals), cmocka_unit_test(test_varargs),
		cmocka_unit_test(test_circles),		 cmocka_unit_test(test_places),	   cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_seeds_that_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
