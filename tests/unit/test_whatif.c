/* The exact states that a crash can leave, as recorded and with a cure; and the search, with a rule in the place of recovery. */
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

#include "crash/cure.h"
#include "crash/search/verdict_cache.h"
#include "crash/states/states.h"
#include "trace/writer.h"

/* Variables a, b, c… of 8 bytes, each in a line of its own; values are digits. */
#define NVARS 6
static uint64_t addr_of(char v) { return PMT_ADDR(1, (uint64_t)(v - 'a') * 256); }

struct script {
	char path[32];
	struct plan *plan;
	uint32_t places[256]; /* by site: its number, so every line of the script is a place of its own */
	uint64_t seqs[64];    /* of the script's lines */
};

static void put(struct writer *w, struct script *s, const char *word, uint32_t line)
{
	uint32_t thread = (uint32_t)(word[0] - '0');
	struct writer_event ev = { .thread = thread };
	uint64_t value = word[1] == '=' || word[1] == '~' ? (uint64_t)(word[3] - '0') : 0;
	enum pmt_kind kind = word[1] == '=' ? PMT_STORE : word[1] == '~' ? PMT_STORE_NT : word[1] == 'f' ? PMT_CLWB :
			     word[1] == 's' ? PMT_SFENCE : word[1] == '[' ? PMT_TX_BEGIN : word[1] == ']' ? PMT_TX_END : word[1] == 'o' ? PMT_OLD :
			     word[1] == '+' ? PMT_TX_ADD : word[1] == 'x' ? PMT_EXIT : word[1] == '{' ? PMT_OP_BEGIN : word[1] == '}' ? PMT_OP_END : PMT_OUTPUT;

	ev.site = writer_site(w, 0, 0x1000 + line, kind, kind == PMT_SFENCE ? 0 : 8);
	if (kind == PMT_STORE || kind == PMT_STORE_NT || kind == PMT_CLWB || kind == PMT_OLD || kind == PMT_TX_ADD)
		ev.addr = addr_of(word[2]);
	if (kind == PMT_OLD || kind == PMT_TX_ADD)
		ev.arg[0] = 8;
	if (kind == PMT_STORE || kind == PMT_STORE_NT)
		ev.data = &value;
	if (kind == PMT_OUTPUT) {
		ev.data = "ok\n";
		ev.data_len = 3;
		ev.arg[1] = 3;
	}
	s->seqs[line] = writer_event(w, &ev);
	s->places[ev.site] = line;
}

/* "1=a1" thread 1 stores 1 to a; "1~a1" non-temporally; "1fa" flushes a; "1s" fences; "1[" and "1]" a transaction, to which "1+a" adds a; "1{" and "1}" an operation; "1x" the end of the program; "1oa" old bytes in a; "1!" output. */
static void script_init_on(struct script *s, const char *text, const char *platform)
{
	char copy[512], *rest, *word;
	uint32_t line = 1;
	struct writer *w;
	struct error err;
	int fd;

	memset(s, 0, sizeof *s);
	strcpy(s->path, "/tmp/pmend-whatif-XXXXXX");
	fd = mkstemp(s->path);
	close(fd);
	if (writer_open(&w, s->path, &err) < 0)
		fail_msg("%s", err.msg);
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0), .thread = 1,
						.arg = { 1, 4096, 0, 1, 1 }, .data = "/p", .data_len = 2 });
	snprintf(copy, sizeof copy, "%s", text);
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		put(w, s, word, line++);
	if (writer_close(w, &err) < 0)
		fail_msg("%s", err.msg);
	s->plan = plan_new(s->path, platform_find(platform), &err);
	if (!s->plan)
		fail_msg("%s", err.msg);
}

static void script_init(struct script *s, const char *text)
{
	script_init_on(s, text, "x86-adr");
}

static void script_release(struct script *s)
{
	plan_free(s->plan);
	unlink(s->path);
}

/* ---- states ---- */

typedef bool (*rule)(const char *values); /* does recovery cope? */

struct look {
	unsigned nvars;
	rule rule;
	bool is_bad;
	char found[4096]; /* "00 01 11" */
};

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_states(struct look *look, const struct walk *w, const struct state_set *set, uint8_t *bytes, size_t line, char words[][8], size_t *n)
{
	char values[NVARS + 1] = "";

	if (line < set->lines.n) {
		const struct state_line *l = &set->lines.at[line];

		for (uint32_t c = 0; c < l->ncontents; c++) {
			memcpy(bytes + PMT_OFFSET(l->addr), state_content(set, l, c), 64);
			add_states(look, w, set, bytes, line + 1, words, n);
		}
		return;
	}
	for (unsigned i = 0; i < look->nvars; i++)
		values[i] = bytes[i * 256] < 0x80 ? (char)('0' + bytes[i * 256]) : '#';
	look->is_bad |= look->rule && !look->rule(values);
	for (size_t i = 0; i < *n; i++)
		if (strcmp(words[i], values) == 0)
			return;
	assert_true(*n < 256);
	strcpy(words[(*n)++], values);
}

static void look_at(struct look *look, const struct walk *w)
{
	static uint8_t bytes[4096];
	struct state_set set = { 0 };
	char words[256][8], *sorted[256];
	size_t n = 0;

	states_collect(&set, w->model, NULL);
	image_read(&w->image, PMT_ADDR(1, 0), bytes, sizeof bytes);
	add_states(look, w, &set, bytes, 0, words, &n);
	for (size_t i = 0; i < n; i++)
		sorted[i] = words[i];
	qsort(sorted, n, sizeof *sorted, compare_words);
	for (size_t i = 0; i < n; i++) {
		strcat(look->found, i ? " " : *look->found ? " | " : "");
		strcat(look->found, sorted[i]);
	}
	states_release(&set);
}

/* The states of each failure point after the first, in order. */
static void expect(struct script *s, const struct whatif *w, unsigned nvars, const char *want)
{
	struct look look = { .nvars = nvars };
	struct walk walk;

	walk_init(&walk, s->plan, WALK_POINTS);
	if (w)
		walk_suppose(&walk, w);
	while (walk_next(&walk))
		look_at(&look, &walk);
	assert_string_equal(look.found, want);
	walk_release(&walk);
}

static struct whatif suppose(const struct script *s)
{
	return (struct whatif){ .places = s->places, .nplaces = 256 };
}

static int judge_by_rule(struct walk *w, void *arg, struct error *err)
{
	struct look *look = arg;

	(void)err;
	look->is_bad = false;
	look->found[0] = 0;
	look_at(look, w);
	return !look->is_bad;
}

/* ---- tests ---- */

static void a_barrier_orders(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1=b1 1fa 1fb 1s");
	w = suppose(&s);
	expect(&s, &w, 2, "00 01 10 11");
	*vec_add(&w.barriers) = (struct whatif_barrier){ 1, true, true, false };
	expect(&s, &w, 2, "00 10 | 10 11");
	w.barriers.at[0].has_fence = false; /* a flush alone orders nothing */
	expect(&s, &w, 2, "00 01 10 11");
	w.barriers.at[0] = (struct whatif_barrier){ 3, false, true, false }; /* after the flush of a, and after b */
	expect(&s, &w, 2, "00 01 10 11");
	whatif_release(&w);
	script_release(&s);
}

static void a_fence_comes_before(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1fa 1=b1 1fb 1s");
	w = suppose(&s);
	expect(&s, &w, 2, "00 01 10 11");
	*vec_add(&w.barriers) = (struct whatif_barrier){ 3, false, true, true };
	expect(&s, &w, 2, "00 10 | 10 11");
	w.barriers.at[0].place = 4; /* before the flush of b, which may be there already */
	expect(&s, &w, 2, "00 01 10 11");
	whatif_release(&w);
	script_release(&s);
}

static void a_barrier_is_its_own_threads(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 2=b1 1=c1 1fc 1s"); /* comes before c, not before b */
	w = suppose(&s);
	*vec_add(&w.barriers) = (struct whatif_barrier){ 1, true, true, false };
	expect(&s, &w, 3, "000 010 100 110 | 100 101 110 111");
	whatif_release(&w);
	script_release(&s);
}

static void an_interval_is_all_or_nothing(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1fa 1s 1=b1 1fb 1s 1=c1 1fc 1s");
	w = suppose(&s);
	expect(&s, &w, 3, "000 100 | 100 110 | 110 111");
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[4] };
	expect(&s, &w, 3, "000 | 110 | 110 111");
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[4], s.seqs[7] }; /* b is in both: they are one */
	expect(&s, &w, 3, "000 | 111");
	w.intervals.n = 1;
	w.intervals.at[0].last_seq = s.seqs[7];
	expect(&s, &w, 3, "000 | 111");
	whatif_release(&w);
	script_release(&s);
}

/* What is withheld is older than old bytes that come in between. */
static void an_interval_keeps_old_bytes(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1oa 1=b1 1fb 1s");
	w = suppose(&s);
	expect(&s, &w, 2, "00 10 | #0 #1");
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[3] };
	expect(&s, &w, 2, "00 | #0 | #1");
	whatif_release(&w);
	script_release(&s);
}

/* There, no flush is done at once, and only some fences complete one. */
static void the_same_on_arm64(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init_on(&s, "1=a1 1=b1 1fa 1fb 1s", "arm64");
	w = suppose(&s);
	*vec_add(&w.barriers) = (struct whatif_barrier){ 1, true, true, false };
	expect(&s, &w, 2, "00 10 | 10 11");
	whatif_release(&w);
	script_release(&s);
	script_init_on(&s, "1=a1 1fa 1s 1=b1 1fb 1s 1=c1 1fc 1s", "arm64");
	w = suppose(&s);
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[4] };
	expect(&s, &w, 3, "000 | 110 | 110 111");
	whatif_release(&w);
	script_release(&s);
}

static void an_interval_leaves_other_threads_alone(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 2=b1 2fb 2s 1~c1 1s");
	w = suppose(&s);
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[5] };
	expect(&s, &w, 3, "000 010 | 111");
	whatif_release(&w);
	script_release(&s);
}

/* ---- least changes ---- */

/* b is flushed, too, when the call for a comes: its fence completes nothing but its own flush. */
static void a_call_completes_no_other_flush(void **state)
{
	static const char *const on[] = { "x86-adr", "arm64" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct script s;
		struct whatif w;

		script_init_on(&s, "1=b1 1fb 1=a1 1=c1 1fa 1fc 1s", on[i]);
		w = suppose(&s);
		*vec_add(&w.barriers) = (struct whatif_barrier){ 3, true, true, false }; /* as a patch: the fence is one */
		expect(&s, &w, 3, "000 010 100 110 | 110 111");
		w.barriers.n = 0;
		*vec_add(&w.calls) = (struct whatif_call){ .after = 3, .of = { 3 } };
		expect(&s, &w, 3, "000 010 100 110 | 100 101 110 111");
		w.calls.at[0] = (struct whatif_call){ .after = 3, .of = { 1 } }; /* b's lines, there */
		expect(&s, &w, 3, "000 010 100 110 | 010 011 110 111");
		w.calls.at[0] = (struct whatif_call){ .before = 4, .of = { 1, 3 } }; /* one call for both */
		expect(&s, &w, 3, "000 010 100 110 | 110 111");
		whatif_release(&w);
		script_release(&s);
	}
}

/* Only what was flushed, as it was when it was flushed. */
static void a_fence_completes_the_flushes_of_its_lines(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1fa 1=b1 1fb 1=a2 1=c1 1fc 1s");
	w = suppose(&s);
	*vec_add(&w.calls) = (struct whatif_call){ .before = 6, .of = { 2 }, .is_fence = true };
	expect(&s, &w, 3, "000 010 100 110 200 210 | 100 101 110 111 200 201 210 211");
	w.calls.at[0].of[0] = 1; /* the lines of the store are the same */
	expect(&s, &w, 3, "000 010 100 110 200 210 | 100 101 110 111 200 201 210 211");
	w.calls.at[0].of[0] = 6; /* nothing was flushed of its lines by then */
	expect(&s, &w, 3, "000 001 010 011 100 101 110 111 200 201 210 211");
	w.calls.at[0].of[0] = 2;
	w.calls.at[0].is_fence = false; /* the line as it is then */
	expect(&s, &w, 3, "000 010 100 110 200 210 | 200 201 210 211");
	whatif_release(&w);
	script_release(&s);
	script_init(&s, "1~a1 1~b1 1=c1 1s"); /* non-temporal stores need no flush */
	w = suppose(&s);
	*vec_add(&w.calls) = (struct whatif_call){ .after = 2, .of = { 1 }, .is_fence = true };
	expect(&s, &w, 3, "000 010 100 110 | 100 101 110 111");
	whatif_release(&w);
	script_release(&s);
}

/* A flush of a line after one event; the program's own fence completes it, and nothing else changes. */
static void a_flush_comes_after_its_event(void **state)
{
	static const char *const on[] = { "x86-adr", "arm64" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct script s;
		struct whatif w;

		script_init_on(&s, "1=a1 1=b1 1fa 1s 1=c1 1fc 1s", on[i]);
		w = suppose(&s);
		expect(&s, &w, 3, "000 010 100 110 | 100 101 110 111");
		*vec_add(&w.flushes) = (struct whatif_flush){ s.seqs[3], addr_of('b') + 8, 0, 1, PMT_CLWB };
		expect(&s, &w, 3, "000 010 100 110 | 110 111");
		w.flushes.at[0].thread = 2; /* whose fence does not come */
		expect(&s, &w, 3, "000 010 100 110 | 100 101 110 111");
		w.flushes.at[0] = (struct whatif_flush){ s.seqs[1], addr_of('b'), 0, 1, PMT_CLWB }; /* before b is stored */
		expect(&s, &w, 3, "000 010 100 110 | 100 101 110 111");
		whatif_release(&w);
		script_release(&s);
	}
}

/* A call comes each time, for what its own thread did. */
static void a_call_comes_each_time(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1=b1 1=a2 2=c1 1=b2 1fb 1s");
	for (uint32_t site = 0; site < 256; site++)
		s.places[site] = s.places[site] == 3 ? 1 : s.places[site] == 5 ? 2 : s.places[site];
	w = suppose(&s);
	*vec_add(&w.calls) = (struct whatif_call){ .after = 1, .of = { 1 } };
	expect(&s, &w, 3, "000 100 | 100 101 110 111 200 201 210 211 | 200 201 210 211 220 221");
	whatif_release(&w);
	script_release(&s);
}

/* a and c change together; what b stores in between is there at once, also where it overwrites a. */
static void only_what_is_named_is_withheld(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1=b1 1fb 1s 1=c1 1fa 1fc 1s");
	w = suppose(&s);
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[5] };
	expect(&s, &w, 3, "000 | 111");
	*vec_add(&w.named) = 1;
	*vec_add(&w.named) = 5;
	expect(&s, &w, 3, "000 010 | 111");
	whatif_release(&w);
	script_release(&s);
	script_init(&s, "1=a1 1=a2 1fa 1s 1=c1 1fc 1s");
	w = suppose(&s);
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[5] };
	*vec_add(&w.named) = 1;
	*vec_add(&w.named) = 5;
	expect(&s, &w, 3, "000 200 | 201");
	whatif_release(&w);
	script_release(&s);
}

/* What is logged is as it was until the transaction ends, and then durable; what others stored is not. */
static void a_logged_range_is_durable_at_the_end(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1[ 1=a1 1=b1 1] 1=c1 1fc 1s");
	w = suppose(&s);
	*vec_add(&w.logged) = 2;
	expect(&s, &w, 3, "000 010 | 100 110 | 100 101 110 111");
	whatif_release(&w);
	script_release(&s);
	script_init(&s, "1=a1 1[ 1=b1 1] 1=c1 1fc 1s"); /* outside a transaction, nothing is logged */
	w = suppose(&s);
	*vec_add(&w.logged) = 1;
	expect(&s, &w, 3, "000 001 010 011 100 101 110 111");
	whatif_release(&w);
	script_release(&s);
}

/* So is what another place stores there later in that transaction; but not what it stores beside it. */
static void a_logged_range_is_of_all_stores(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1[ 1=a1 1=a2 1=b1 1] 1=c1 1fc 1s");
	w = suppose(&s);
	*vec_add(&w.logged) = 2;
	expect(&s, &w, 3, "000 010 | 200 210 | 200 201 210 211");
	whatif_release(&w);
	script_release(&s);
	script_init(&s, "1[ 1=a1 1] 1[ 1=a2 1] 1=c1 1fc 1s"); /* another transaction */
	w = suppose(&s);
	*vec_add(&w.logged) = 2;
	expect(&s, &w, 3, "000 | 100 | 100 101 200 201");
	whatif_release(&w);
	script_release(&s);
}

/* What was added is durable with the end of the operation, or of the program; what was not is not. The end that comes too late is left out. */
static void a_transaction_ends(void **state)
{
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1[ 1+a 1=a1 1=b1 1x 1!");
	w = suppose(&s);
	*vec_add(&w.ended) = 1;
	expect(&s, &w, 2, "00 01 10 11 | 10 11");
	whatif_release(&w);
	script_release(&s);
	script_init(&s, "1{ 1[ 1+a 1=a1 1} 1=b1 1] 1x");
	w = suppose(&s);
	*vec_add(&w.ended) = 2;
	expect(&s, &w, 2, "00 10 | 10 11");
	w.ended.at[0] = 3; /* no transaction begins there */
	expect(&s, &w, 2, "00 01 10 11");
	whatif_release(&w);
	script_release(&s);
	script_init(&s, "1[ 1{ 1+a 1=a1 1} 1=b1 1] 1x"); /* it began before the operation, and ends itself: no end is missing */
	w = suppose(&s);
	*vec_add(&w.ended) = 1;
	expect(&s, &w, 2, "00 01 10 11");
	whatif_release(&w);
	script_release(&s);
}

static size_t list_keys(struct script *s, const struct whatif *w, const struct allowed *allowed, uint64_t *keys)
{
	struct state_set set = { 0 };
	struct walk walk;
	size_t n = 0;

	walk_init(&walk, s->plan, WALK_POINTS);
	if (w)
		walk_suppose(&walk, w);
	while (walk_next(&walk) && n < 8) {
		states_collect(&set, walk.model, NULL);
		keys[n++] = verdict_cache_key(&set, &walk.image, allowed, 0);
	}
	states_release(&set);
	walk_release(&walk);
	return n;
}

/* What comes after an interval is as it was; what comes before its end is not. */
static void what_a_crash_leaves_is_recognised(void **state)
{
	struct allowed allowed = { 0 };
	uint64_t before[8], after[8];
	struct verdict_cache verdicts = { 0 };
	struct script s;
	struct whatif w;

	(void)state;
	script_init(&s, "1=a1 1fa 1s 1=b1 1fb 1s 1=c1 1fc 1s");
	w = suppose(&s);
	*vec_add(&w.intervals) = (struct whatif_interval){ 0, 1, s.seqs[1], s.seqs[4] };
	assert_int_equal(list_keys(&s, NULL, NULL, before), 3);
	assert_int_equal(list_keys(&s, &w, NULL, after), 3);
	assert_int_equal(before[2], after[2]);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 3; k++)
			assert_int_not_equal(before[k], after[i]);
	verdict_cache_set(&verdicts, before[0], false);
	verdict_cache_set(&verdicts, before[2], true);
	assert_int_equal(verdict_cache_get(&verdicts, after[0]), -1);
	assert_int_equal(verdict_cache_get(&verdicts, after[2]), 1);
	assert_int_equal(verdict_cache_get(&verdicts, before[0]), 0);
	*vec_add(&allowed.hashes) = 7; /* the same states, but a dump may say something else */
	list_keys(&s, NULL, &allowed, after);
	assert_int_not_equal(before[2], after[2]);
	vec_release(&allowed.hashes);
	verdict_cache_release(&verdicts);
	whatif_release(&w);
	script_release(&s);
}

static int find_window(struct cure_window *window, struct script *s, const struct whatif *w, struct cure_judge *judge, uint64_t seq, struct error *err)
{
	struct cure_points points = { 0 };
	int result;

	cure_points_find(&points, s->plan, w, judge);
	result = cure_window_find(window, &points, s->plan, w, judge, seq, err);
	cure_points_release(&points);
	return result;
}

static bool all_or_none_of_bcd(const char *v)
{
	return v[1] == v[2] && v[2] == v[3];
}

/* b, c and d belong together; what is around them, and the acknowledgement, does not. */
static void the_smallest_interval_is_found(void **state)
{
	struct look look = { .nvars = 5, .rule = all_or_none_of_bcd };
	struct cure_judge judge = { .at = judge_by_rule, .arg = &look, .stops = WALK_POINTS };
	struct cure_steps steps = { 0 };
	struct cure_window window;
	struct error err;
	struct script s;
	struct whatif w;
	size_t first, last;

	(void)state;
	script_init(&s, "1=a1 1fa 1s 1! 1=a2 1fa 1s 1=b1 1fb 1s 1=c1 1fc 1s 1=d1 1fd 1s 1=e1 1fe 1s 1=a3 1fa 1s 1! 1=a4 1fa 1s");
	w = suppose(&s);
	assert_int_equal(find_window(&window, &s, &w, &judge, s.seqs[13], &err), 0);
	assert_true(window.is_failing);
	assert_int_equal(window.first_seq, s.seqs[7]);
	assert_int_equal(window.last_seq, s.seqs[19]);
	assert_int_equal(cure_holds(&window, s.plan, &w, NULL, &judge, &err), 0);
	cure_steps_find(&steps, s.plan, &w, &window, s.seqs[13], 0, 1);
	assert_int_equal(steps.list.n, 4); /* b, c, d, e */
	assert_int_equal(cure_interval_find(&window, s.plan, &w, &steps, &judge, &first, &last, &err), 1);
	assert_int_equal(steps.list.at[first].first_seq, s.seqs[8]);
	assert_int_equal(steps.list.at[last].last_seq, s.seqs[14]);
	assert_int_equal(cure_holds(&window, s.plan, &w, NULL, &judge, &err), 1);
	vec_release(&steps.list);
	whatif_release(&w);
	script_release(&s);
}

static bool a_is_b(const char *v)
{
	return v[0] == v[1];
}

/* What is cured is cured each time that the program comes there: no failure point in between is consistent. */
static void every_execution_is_cured(void **state)
{
	struct look look = { .nvars = 2, .rule = a_is_b };
	struct cure_judge judge = { .at = judge_by_rule, .arg = &look, .stops = WALK_POINTS };
	struct cure_steps steps = { 0 };
	struct cure_window window;
	struct error err;
	struct script s;
	struct whatif w;
	size_t first, last;

	(void)state;
	script_init(&s, "1=a1 1fa 1s 1=b1 1fb 1s 1=a2 1fa 1s 1=b2 1fb 1s");
	for (uint32_t site = 0; site < 256; site++) /* the second half comes from the same places */
		s.places[site] = s.places[site] > 6 ? s.places[site] - 6 : s.places[site];
	w = suppose(&s);
	assert_int_equal(find_window(&window, &s, &w, &judge, s.seqs[6], &err), 0);
	cure_steps_find(&steps, s.plan, &w, &window, s.seqs[6], 0, 1);
	assert_int_equal(steps.list.n, 4);
	vec_release(&steps.list);
	window.to_seq = s.seqs[6];
	cure_steps_find(&steps, s.plan, &w, &window, s.seqs[6], 0, 1);
	assert_int_equal(cure_interval_find(&window, s.plan, &w, &steps, &judge, &first, &last, &err), 1);
	assert_int_equal(w.intervals.n, 2);
	assert_int_equal(w.intervals.at[1].first_seq, s.seqs[7]);
	assert_int_equal(w.intervals.at[1].last_seq, s.seqs[10]);
	expect(&s, &w, 2, "00 | 11 | 22");
	vec_release(&steps.list);
	whatif_release(&w);
	script_release(&s);
}

static bool never_b(const char *v)
{
	return v[1] == '0';
}

/* No interval helps where the state after everything is wrong, too. */
static void what_has_no_cure_is_told(void **state)
{
	struct look look = { .nvars = 3, .rule = never_b };
	struct cure_judge judge = { .at = judge_by_rule, .arg = &look, .stops = WALK_POINTS };
	struct cure_steps steps = { 0 };
	struct cure_window window;
	struct error err;
	struct script s;
	struct whatif w;
	size_t first, last;

	(void)state;
	script_init(&s, "1=a1 1fa 1s 1=b1 1fb 1s 1=c1 1fc 1s");
	w = suppose(&s);
	assert_int_equal(find_window(&window, &s, &w, &judge, s.seqs[6], &err), 0);
	cure_steps_find(&steps, s.plan, &w, &window, s.seqs[6], 0, 1);
	assert_int_equal(cure_interval_find(&window, s.plan, &w, &steps, &judge, &first, &last, &err), 0);
	assert_int_equal(w.intervals.n, 0);
	vec_release(&steps.list);
	whatif_release(&w);
	script_release(&s);
}

static bool all_or_none_of_cd(const char *v)
{
	return v[2] == v[3];
}

/* A transaction that is there is one step. */
static void transactions_are_not_cut(void **state)
{
	struct look look = { .nvars = 5, .rule = all_or_none_of_cd };
	struct cure_judge judge = { .at = judge_by_rule, .arg = &look, .stops = WALK_POINTS };
	struct cure_steps steps = { 0 };
	struct cure_window window;
	struct error err;
	struct script s;
	struct whatif w;
	size_t first, last;

	(void)state;
	script_init(&s, "1[ 1=b1 1fb 1s 1=c1 1fc 1s 1] 1=d1 1fd 1s 1=e1 1fe 1s");
	w = suppose(&s);
	assert_int_equal(find_window(&window, &s, &w, &judge, s.seqs[7], &err), 0);
	cure_steps_find(&steps, s.plan, &w, &window, s.seqs[7], 0, 1);
	assert_int_equal(cure_interval_find(&window, s.plan, &w, &steps, &judge, &first, &last, &err), 1);
	assert_true(steps.list.at[first].is_tx);
	assert_int_equal(steps.list.at[last].last_seq, s.seqs[9]);
	vec_release(&steps.list);
	whatif_release(&w);
	script_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_barrier_orders),
		cmocka_unit_test(an_interval_keeps_old_bytes),
		cmocka_unit_test(a_fence_comes_before),
		cmocka_unit_test(a_barrier_is_its_own_threads),
		cmocka_unit_test(an_interval_is_all_or_nothing),
		cmocka_unit_test(the_same_on_arm64), cmocka_unit_test(an_interval_leaves_other_threads_alone),
		cmocka_unit_test(a_call_completes_no_other_flush),
		cmocka_unit_test(a_fence_completes_the_flushes_of_its_lines),
		cmocka_unit_test(a_call_comes_each_time),
		cmocka_unit_test(a_flush_comes_after_its_event),
		cmocka_unit_test(only_what_is_named_is_withheld),
		cmocka_unit_test(a_logged_range_is_durable_at_the_end),
		cmocka_unit_test(a_logged_range_is_of_all_stores),
		cmocka_unit_test(a_transaction_ends),
		cmocka_unit_test(what_a_crash_leaves_is_recognised),
		cmocka_unit_test(the_smallest_interval_is_found),
		cmocka_unit_test(every_execution_is_cured),
		cmocka_unit_test(what_has_no_cure_is_told),
		cmocka_unit_test(transactions_are_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
