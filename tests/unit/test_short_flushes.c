/* Which flushes seem to have covered less than they were given, by small traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account/causes/short_flushes.h"
#include "trace/writer.h"

/* "S3:1.8": site 3 stores to offset 8 of line 1; "F4:1.8" flushes it; "|" is a fence. "2" in front:
 * by the second thread. */
static void put(struct writer *w, const char *word)
{
	struct writer_event ev = { .thread = *word == '2' ? 2 : 1 };
	uint64_t value = 1;
	unsigned site, line, offset;
	enum pmt_kind kind;

	word += *word == '2';
	kind = *word == 'S' ? PMT_STORE : *word == 'F' ? PMT_CLWB : PMT_SFENCE;
	if (kind == PMT_SFENCE)
		site = 99;
	else if (sscanf(word + 1, "%u:%u.%u", &site, &line, &offset) == 3)
		ev.addr = PMT_ADDR(1, line * 64 + offset);
	else
		fail_msg("%s", word);
	ev.site = writer_site(w, 0, 0x1000 + site, kind, kind == PMT_SFENCE ? 0 : 8);
	if (kind == PMT_STORE)
		ev.data = &value;
	writer_event(w, &ev);
}

/* "stuck 1 2, call 5": how, and the lines that were left out. */
static void expect(const char *text, const char *wanted)
{
	static const char *const names[] = { "stuck", "steps", "helper", "calls", "call", "size" };
	char path[] = "/tmp/pmend-handed-XXXXXX", copy[512], found[512] = "", *rest, *word;
	struct report *r = report_new();
	handed_list list = { 0 };
	struct locator *l;
	struct writer *w;
	struct trace *t;
	struct error err;

	close(mkstemp(path));
	assert_int_equal(writer_open(&w, path, &err), 0);
	snprintf(copy, sizeof copy, "%s", text);
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		put(w, word);
	assert_int_equal(writer_close(w, &err), 0);
	assert_int_equal(trace_open(&t, path, &err), 0);
	l = locator_new(t, NULL);
	handed_find(&list, t, l, r);
	for (size_t i = 0; i < list.n; i++) {
		sprintf(found + strlen(found), "%s%s", i ? ", " : "", names[list.at[i].how]);
		for (size_t k = 0; k < list.at[i].lines.n; k++)
			sprintf(found + strlen(found), " %u", (unsigned)(PMT_OFFSET(list.at[i].lines.at[k].addr) / 64));
	}
	assert_string_equal(found, wanted);
	handed_release(&list);
	locator_free(l);
	report_free(r);
	trace_close(t);
	unlink(path);
}

static void a_loop_that_never_advances(void **state)
{
	(void)state;
	expect("S1:0.0 S2:1.0 S3:3.8 F4:0.0 F4:0.0 F4:0.0 F4:0.0 |", "stuck 1 3");
	expect("S1:0.0 S2:1.0 S3:3.8 F4:0.0 F4:0.0 F4:0.0 | S1:8.0 S2:9.0 F4:8.0 F4:8.0 |", "stuck 1 9"); /* as far as it was given */
	expect("S1:0.0 S2:1.0 F4:0.0 |", ""); /* once: of one line */
	expect("S1:0.0 S2:1.0 S2:2.0 F4:0.0 F4:0.0 F4:0.0 F4:0.0 |", ""); /* more often than there are lines */
	expect("S1:0.0 S2:1.0 F4:0.0 F4:0.0 | S1:4.0 F4:4.0 F4:5.0 |", ""); /* it does advance */
	expect("S1:0.0 S2:1.0 F4:0.0 F4:0.8 |", ""); /* word by word */
	expect("S1:0.0 2S2:1.0 F4:0.0 F4:0.0 |", ""); /* another thread's */
	expect("S1:0.0 S2:1.0 F4:0.0 F4:0.0 F5:1.0 |", ""); /* flushed elsewhere */
	expect("S1:0.0 S2:1.0 F4:0.0 F4:0.0 | S1:4.0 S2:5.0 S3:6.0 F4:4.0 F4:4.0 F4:4.0 |", "stuck 1 5 6");
}

static void a_loop_from_the_middle_of_a_line(void **state)
{
	(void)state;
	expect("S1:0.48 S1:1.0 S1:2.0 F4:0.48 F4:1.48 |", "steps 2");
	expect("S1:0.48 S1:1.0 S1:2.56 F4:0.48 F4:1.48 |", "call 2"); /* beyond what it was given */
	expect("S1:0.48 S1:1.0 S2:2.0 F4:0.48 F4:1.48 |", ""); /* another statement */
	expect("S1:0.0 S1:1.0 F4:0.0 F4:1.0 |", "");
}

static void a_call_with_a_short_length(void **state)
{
	(void)state;
	expect("S2:8.0 S2:9.0 F4:8.0 F4:9.0 | S1:0.0 S1:1.0 S1:2.0 F4:0.0 |", "call 1 2");
	expect("S1:0.0 S1:1.0 S1:2.0 F4:0.0 | S2:8.0 S2:9.0 F4:8.0 F4:9.0 |", "call 1 2"); /* whichever comes first */
	expect("S1:0.0 S1:1.0 S1:2.0 F4:0.0 |", "");	     /* nothing says that it takes a length */
	expect("S2:8.0 S2:9.0 F4:8.0 F4:9.0 | S1:0.0 S2:1.0 F4:0.0 |", ""); /* two statements */
	expect("S2:8.0 S2:9.0 F4:8.0 F4:9.0 | S1:0.0 S1:1.0 S1:2.0 F4:0.0 F5:1.0 F5:2.0 |", ""); /* the rest elsewhere */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_that_never_advances),
		cmocka_unit_test(a_loop_from_the_middle_of_a_line),
		cmocka_unit_test(a_call_with_a_short_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
