/* At which failure points one word, replaced at once, is all that a crash can lose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/races/lone_store.h"
#include "trace/writer.h"

static struct plan_commit variable = { .var = PMT_ADDR(1, 2048), .var_bytes = 8 };

/* Words a, b, c… are in lines of their own; A is in a's line, '@' in the middle of a. */
static uint64_t addr_of(char v)
{
	return PMT_ADDR(1, v == '@' ? 4 : v == 'A' ? 8 : (uint64_t)(v - 'a') * 256);
}

/* "a" stores a new value, "+a" one of 16 bytes, "~a" non-temporally; "!a" flushes, "|" fences, "?a" is an allocator that hands a out, "." a
 * failure point, and between "(" and ")" there is none. */
static void put(struct writer *w, const char *word, uint64_t value)
{
	static const struct { char first; enum pmt_kind kind; uint32_t size_bytes; } table[] = {
		{ '+', PMT_STORE, 16 }, { '~', PMT_STORE_NT, 8 }, { '!', PMT_CLWB, 8 }, { '|', PMT_SFENCE, 0 }, { '?', PMT_UNDEFINED, 0 }, { '.', PMT_FAILURE_POINT, 0 },
		{ '(', PMT_SKIP_FAILURE_BEGIN, 0 }, { ')', PMT_SKIP_FAILURE_END, 0 }, { 0, PMT_STORE, 8 },
	};
	const uint64_t data[2] = { value, value };
	size_t i = 0;
	struct writer_event ev = { .thread = 1 };

	while (table[i].first && table[i].first != word[0])
		i++;
	ev.site = writer_site(w, 0, 0x1000 + value, table[i].kind, table[i].size_bytes);
	if (word[table[i].first != 0])
		ev.addr = addr_of(word[table[i].first != 0]);
	if (table[i].kind == PMT_UNDEFINED)
		ev.arg[0] = 8;
	if (trace_is_store(table[i].kind))
		ev.data = data;
	writer_event(w, &ev);
}

static struct plan *plan_of(const char *text, bool is_new, const char *path)
{
	char copy[256], *rest;
	struct plan *p;
	struct writer *w;
	struct error err;
	uint64_t value = 1;

	if (writer_open(&w, path, &err) < 0)
		fail_msg("%s", err.msg);
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0), .thread = 1,
						.arg = { 1, 4096, is_new ? PMT_FILE_CREATED : 0, 1, 1 }, .data = "/p", .data_len = 2 });
	snprintf(copy, sizeof copy, "%s", text);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		put(w, word, value++);
	if (writer_close(w, &err) < 0)
		fail_msg("%s", err.msg);
	p = plan_new(path, platforms[0], &err);
	if (!p)
		fail_msg("%s", err.msg);
	plan_find_unkept(p);
	return p;
}

/* want: a letter for each failure point but the last, at the end: y if it is so there. */
static void expect(const char *text, const char *want, bool is_new, bool has_variable)
{
	char path[] = "/tmp/pmend-replaced-XXXXXX", found[64] = "";
	struct model_store store;
	struct walk w = { 0 };
	struct plan *p;
	uint64_t nstores = 0;
	size_t n = 0;

	close(mkstemp(path));
	p = plan_of(text, is_new, path);
	if (has_variable)
		*vec_add(&p->commits) = variable;
	walk_init(&w, p, WALK_POINTS);
	walk_add_shadow(&w);
	while (walk_next(&w) && !w.is_over && n + 1 < sizeof found) {
		found[n++] = lone_store_find(&w, nstores, &store) ? 'y' : '-';
		nstores = w.nstores;
	}
	walk_release(&w);
	plan_free(p);
	unlink(path);
	if (strcmp(found, want) != 0)
		fail_msg("%s: %s, not %s", text, found, want);
}

static void test_alone(void **state)
{
	(void)state;
	expect("a !a |", "y", false, false);
	expect("~a |", "y", false, false);
	expect("a !a | b !b |", "yy", false, false);
	expect("a !a | a !a |", "yy", false, false);
}

/* What else may be lost, or the word itself in parts. */
static void test_not_alone(void **state)
{
	(void)state;
	expect("a b !a !b |", "-", false, false);
	expect("a A !a |", "-", false, false);
	expect("a !a b !b | c !c |", "-y", false, false);
	expect("+a !a |", "-", false, false);
	expect("@ !@ |", "-", false, false);
	expect("a b !b | c !a | !c | a !a |", "--y", false, false);
}

/* Recovery does not run on what there was without it. */
static void test_not_seen_before(void **state)
{
	(void)state;
	expect("( b !b | ) a !a | a !a |", "-y", false, false);
}

/* It is overwritten before it is durable: who says that the first value was ever there? */
static void test_not_kept(void **state)
{
	(void)state;
	expect("a . !a |", "y", false, false);
	expect("a . a !a |", "--", false, false);
}

/* The old value must have been somebody's. */
static void test_content(void **state)
{
	(void)state;
	expect("a !a | a !a |", "---y", true, false); /* the first two are without the file, and when it is empty */
	expect("a !a | ?b a !a |", "y-", false, false);
}

static void test_commit_variables(void **state)
{
	(void)state;
	expect("a !a |", "-", false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_alone), cmocka_unit_test(test_not_alone), cmocka_unit_test(test_not_seen_before),
					    cmocka_unit_test(test_not_kept), cmocka_unit_test(test_content), cmocka_unit_test(test_commit_variables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
