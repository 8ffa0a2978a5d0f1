/* Laziness is exact: on random programs, the outcomes of recovery under `lazy` are those under `eager`, and those of the script run on every
 * state that the model allows; and the runs stand for all states, once each, also if a failure point is explored in visits, and some losses are said to be known. Writer and reader are random; the reader is a real program. On arm64, where
 * contents of a line are no prefixes, lines may have so many that they are listed by what is read.
 * Windows change nothing but who makes the runs: with windows of two, three and all failure points, each failure point has the same runs in the same order,
 * with the same outcomes, as alone, at once and in visits that come back to it when all others were visited.
 * PMEND_PROGRAMS=N sets the number of programs, PMEND_SEED=N the first. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/search/explorer.h"
#include "crash/search/strategies.h"
#include "tests/crash/script.h"
#include "trace/writer.h"

#define NPROGRAMS 300u
#define STATES_MAX 1500u /* of a failure point that is compared */
#define EAGER_MAX 24u	/* of one that is run eagerly, too */

static char g_folder[] = "/dev/shm/pmend-lazy-XXXXXX";
static char *g_pool, *g_trace;

struct outcomes {
	VEC(uint64_t) list;
	uint64_t order; /* of the runs: what each began with, and stands for, and its outcome */
	uint64_t nruns;
	bool is_knowing; /* some are called known */
};

static void outcome_add(struct outcomes *o, uint64_t h)
{
	for (size_t i = 0; i < o->list.n; i++)
		if (o->list.at[i] == h)
			return;
	*vec_add(&o->list) = h;
}

static bool same_outcomes(const struct outcomes *a, const struct outcomes *b)
{
	for (size_t i = 0; i < a->list.n; i++) {
		size_t k = 0;

		while (k < b->list.n && b->list.at[k] != a->list.at[i])
			k++;
		if (k == b->list.n)
			return false;
	}
	return a->list.n == b->list.n;
}

/* ---- random traces ---- */

struct setting {
	const char *platform;
	bool is_arm64; /* recorded there */
};

static const struct setting settings[] = { { "x86-adr", false }, { "arm64", false }, { "arm64", true }, { "arm64-poc", true }, { "eadr", true }, { "eadr", false } };
#define NSETTINGS (sizeof settings / sizeof *settings)

static void event(struct writer *w, enum pmt_kind kind, uint32_t thread, uint64_t addr, const void *data, uint32_t size, uint64_t arg)
{
	struct writer_event ev = { .thread = thread, .addr = addr, .data = data, .arg = { arg } };

	ev.site = writer_site(w, 0, 0x1000 + kind, kind, size);
	writer_event(w, &ev);
}

static void meta(struct writer *w, const char *text)
{
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_META, 0), .thread = 1, .data = text, .data_len = (uint32_t)strlen(text) });
}

/* What a string instruction stores to a line, or a vector register. */
static void random_string(struct writer *w, uint64_t *seed, uint32_t thread)
{
	uint32_t element = 1u << script_pick(seed, 5), n = element == 16 ? 1 : 1 + script_pick(seed, element == 8 ? 4 : 10);
	uint32_t at = SCRIPT_FIRST + 64 * script_pick(seed, 4) + element * script_pick(seed, 64 / element - n + 1);
	uint8_t value[64];

	for (uint32_t i = 0; i < element * n; i++)
		value[i] = (uint8_t)script_pick(seed, 4);
	event(w, PMT_STORE_VECTOR, thread, PMT_ADDR(1, at), value, element * n, element);
}

static void random_store(struct writer *w, uint64_t *seed, enum pmt_kind kind, uint32_t thread)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 8, 8, 16, 32 };
	uint32_t size = sizes[script_pick(seed, sizeof sizes)], at = script_pick(seed, SCRIPT_BYTES - 32);
	uint8_t value[32];

	if (kind == PMT_STORE_RMW || kind == PMT_STORE_ORDERED)
		size = 8;
	if (kind == PMT_STORE_PAIR)
		size = 16;
	if (kind == PMT_STORE_VECTOR)
		size = 32;
	at &= script_pick(seed, 6) ? ~(size - 1) : ~0u;
	for (uint32_t i = 0; i < size; i++)
		value[i] = (uint8_t)script_pick(seed, 4);
	event(w, kind, thread, PMT_ADDR(1, SCRIPT_FIRST + at), value, size, kind == PMT_STORE_ORDERED ? script_pick(seed, 8) : 8);
}

/* Many words of one line, in no order: more than are listed. */
static void random_words(struct writer *w, uint64_t *seed)
{
	uint32_t line = SCRIPT_FIRST + 64 * script_pick(seed, 4), size = 1u << script_pick(seed, 4);
	uint64_t value;

	for (uint32_t i = 0, n = 6 + script_pick(seed, 5); i < n; i++) {
		value = script_mix(*seed + i);
		event(w, PMT_STORE, 1, PMT_ADDR(1, line + size * (i % (64 / size))), &value, size, 0);
	}
}

#define NKINDS 16

static void random_trace(uint64_t seed, const struct setting *s)
{
	static const enum pmt_kind kinds[2][NKINDS] = {
		{ PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE_VECTOR, PMT_STORE_NT, PMT_STORE_RMW, PMT_CLWB, PMT_CLWB, PMT_CLFLUSHOPT,
		  PMT_CLFLUSH, PMT_SFENCE, PMT_SFENCE, PMT_MFENCE, PMT_MFENCE },
		{ PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE_PAIR, PMT_STORE_VECTOR, PMT_STORE_ORDERED, PMT_STORE_ORDERED, PMT_ORDER, PMT_DC_CVAP,
		  PMT_DC_CVAP, PMT_DC_CVAC, PMT_DSB, PMT_DSB, PMT_DMB, PMT_DMB },
	};
	uint32_t n = 4 + script_pick(&seed, 9);
	struct writer *w;
	struct error err;

	if (writer_open(&w, g_trace, &err) < 0)
		BUG("%s", err.msg);
	meta(w, s->is_arm64 ? "platform=arm64" : "platform=x86-adr");
	if (s->is_arm64)
		meta(w, "isa=arm64");
	if (s->is_arm64 && script_pick(&seed, 2))
		meta(w, "lse2=1");
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0),
						.thread = 1,
						.arg = { 1, SCRIPT_POOL_BYTES, 0, 1, 1 },
						.data = g_pool,
						.data_len = (uint32_t)strlen(g_pool) });
	for (uint32_t i = 0; i < n; i++) {
		enum pmt_kind kind = kinds[s->is_arm64][script_pick(&seed, NKINDS)];
		uint32_t thread = 1 + script_pick(&seed, 2);

		if (i == n / 2 && s != settings && script_pick(&seed, 2))
			random_words(w, &seed);
		if (kind == PMT_STORE_VECTOR && !s->is_arm64)
			random_string(w, &seed, thread);
		else if (trace_is_store(kind))
			random_store(w, &seed, kind, thread);
		else if (trace_is_flush(kind))
			event(w, kind, thread, PMT_ADDR(1, SCRIPT_FIRST + 64 * script_pick(&seed, 4)), NULL, 64, 0);
		else
			event(w, kind, thread, 0, NULL, 0, script_pick(&seed, kind == PMT_ORDER ? 8 : 16));
	}
	if (writer_close(w, &err) < 0)
		BUG("%s", err.msg);
}

/* ---- outcomes ---- */

static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after, const struct verdict *v, void *arg)
{
	struct outcomes *o = arg;

	const uint64_t outcome = v->kind == VERDICT_OK ? strtoull(v->result.output, NULL, 16) : 0xdead0000u + v->kind;

	if (o->is_knowing && o->nruns++ % 3 == 1)
		explorer_know(e, after, 0);
	outcome_add(o, outcome);
	o->order = script_mix(o->order + outcome);
	for (size_t i = 0; i < e->set.lines.n; i++) { /* windows add lines with one content */
		const struct state_line *l = &e->set.lines.at[i];

		for (uint32_t w = 0; l->ncontents > 1 && w < l->words; w++)
			o->order = script_mix(script_mix(o->order + l->addr) + script_mix(before[l->set + w]) + after[l->set + w]);
	}
}

/* It may begin anew, if a run read more than was asked for: how often depends on who made the run. */
static void on_point(struct explorer *e, bool is_again, void *arg)
{
	(void)e;
	if (!is_again)
		((struct outcomes *)arg)->order = 0;
}

static int on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v, void *arg, struct error *err)
{
	(void)e, (void)left, (void)arg, (void)err;
	printf("# recovery failed: %s: %s\n", verdict_text(v), v->result.errors);
	return 0;
}

static void reference(const struct state_set *set, uint64_t seed, size_t line, uint8_t *pool, struct outcomes *out)
{
	uint8_t copy[SCRIPT_POOL_BYTES];

	if (line == set->lines.n) {
		memcpy(copy, pool, sizeof copy);
		outcome_add(out, script_run(copy, seed));
		return;
	}
	for (uint32_t c = 0; c < set->lines.at[line].ncontents; c++) {
		const struct state_line *l = &set->lines.at[line];

		memcpy(pool + PMT_OFFSET(l->addr), state_content(set, l, c), set->line_bytes);
		reference(set, seed, line + 1, pool, out);
	}
}

static char *g_wrong;

struct sums {
	uint64_t nruns, ncompared, nasked;
	uint64_t nwindow, nshared; /* runs with windows: made, and not made again */
};

/* What a failure point came to alone. */
struct alone {
	uint64_t seq, nruns, order;
	bool is_compared;
	struct outcomes outcomes;
};
typedef VEC(struct alone) alone_list;

/* Few runs at a time, and what is known last: the same runs. */
static void compare_visits(struct explorer *e, uint64_t nruns, const struct outcomes *want)
{
	struct outcomes visits = { .is_knowing = true };
	struct point_rest *rest = NULL;
	uint64_t nvisits = 0;
	struct error err;
	char *seen, *all;

	big_set(&e->states_seen, 0);
	big_set(&e->states_all, 0);
	e->arg = &visits;
	do {
		const bool wants_known = rest && !point_rest_has_unknown(rest);

		if (explorer_visit(e, &rest, 1 + nvisits % 3, wants_known, &err) < 0)
			BUG("%s", err.msg);
		if (rest)
			point_rest_put_away(rest, e);
	} while (rest && ++nvisits <= 2 * nruns + 2); /* a visit runs something, or finds that only what is known is left */
	seen = big_string(&e->states_seen);
	all = big_string(&e->states_all);
	if (rest || strcmp(seen, all) != 0 || !same_outcomes(&visits, want))
		g_wrong = xasprintf("point %" PRIu64 ": %zu outcomes, %s of %s states in %" PRIu64 " visits, %zu by the model", e->walk->point, visits.list.n, seen, all, nvisits, want->list.n);
	free(seen);
	free(all);
	vec_release(&visits.list);
}

static void compare(struct explorer *e, struct walk *w, uint64_t seed, alone_list *alone, struct sums *sums)
{
	struct outcomes lazy = { 0 }, eager = { 0 }, want = { 0 };
	uint64_t n = model_nstates(w->model), nall, nruns;
	uint8_t pool[SCRIPT_POOL_BYTES];
	struct state_set set = { 0 };
	struct error err;
	char *seen, *all;

	*vec_add(alone) = (struct alone){ .seq = w->seq };
	if (n > STATES_MAX)
		return;
	big_set(&e->states_seen, 0);
	big_set(&e->states_all, 0);
	e->strategy = strategy_find("lazy");
	e->arg = &lazy;
	if (explorer_point(e, &err) < 0)
		BUG("%s", err.msg);
	sums->nruns += nruns = e->nruns;
	sums->nasked += states_is_asked(&e->set);
	seen = big_string(&e->states_seen);
	all = big_string(&e->states_all);
	nall = strtoull(all, NULL, 10);
	if (strcmp(seen, all) != 0 || nall > n || (nall < n && !states_is_asked(&e->set)) || e->is_cut)
		g_wrong = xasprintf("runs stand for %s states of %s, the model has %" PRIu64, seen, all, n);
	free(seen);
	free(all);
	image_read(&w->image, PMT_ADDR(1, 0), pool, sizeof pool);
	states_collect(&set, w->model, NULL);
	reference(&set, seed, 0, pool, &want);
	states_release(&set);
	if (!same_outcomes(&lazy, &want))
		g_wrong = xasprintf("point %" PRIu64 ": %zu outcomes under lazy, %zu by the model", w->point, lazy.list.n, want.list.n);
	compare_visits(e, nruns, &want);
	if (n <= EAGER_MAX) {
		e->strategy = strategy_find("eager");
		e->arg = &eager;
		if (explorer_point(e, &err) < 0)
			BUG("%s", err.msg);
		if (e->nruns != n || !same_outcomes(&eager, &want))
			g_wrong = xasprintf("point %" PRIu64 ": %zu outcomes in %" PRIu64 " runs under eager, %zu in %" PRIu64 " by the model",
					    w->point, eager.list.n, e->nruns, want.list.n, n);
	}
	sums->ncompared++;
	alone->at[alone->n - 1] = (struct alone){ w->seq, nruns, lazy.order, true, lazy };
	vec_release(&eager.list);
	vec_release(&want.list);
}

/* ---- windows ---- */

struct visited {
	struct outcomes outcomes;
	struct point_rest *rest;
	bool is_begun;
};

static struct window *window_at(struct window **list, size_t *n, const struct walk *w, const alone_list *alone, size_t length, struct window_ahead *ahead)
{
	size_t last = (w->point - 1) / length * length + length - 1;

	for (size_t i = *n; i-- > 0;)
		if (w->point >= window_first_point(list[i]))
			if (window_has(list[i], w->point, w->seq))
				return list[i];
	return list[(*n)++] = window_new(w, alone->at[last < alone->n ? last : alone->n - 1].seq, ahead);
}

static void compare_point(const struct alone *want, const struct visited *got, uint64_t nruns, size_t length, size_t i)
{
	if (nruns != want->nruns || got->outcomes.order != want->order || !same_outcomes(&got->outcomes, &want->outcomes))
		g_wrong = xasprintf("windows of %zu: point %zu: %zu outcomes in %" PRIu64 " runs, alone %zu in %" PRIu64 "%s", length, i + 1, got->outcomes.list.n, nruns,
				    want->outcomes.list.n, want->nruns, got->outcomes.order != want->order ? ", of other states or in another order" : "");
}

/* Goes over the trace until nothing is left: everything at once, or few runs at each visit. */
static void compare_windows(struct explorer *e, const struct plan *p, const alone_list *alone, size_t length, bool is_at_once, struct sums *sums)
{
	struct visited *points = xcalloc(alone->n + 1, sizeof *points);
	struct window **windows = xcalloc(alone->n + 1, sizeof *windows);
	const uint64_t runs = e->counters->runs, shared = e->counters->shared_runs;
	struct window_ahead ahead = { 0 };
	size_t nwindows = 0, nleft = alone->n;
	struct error err;

	e->strategy = strategy_find("lazy");
	for (uint64_t round = 0; nleft > 0 && !g_wrong; round++) {
		struct walk w;

		nleft = 0;
		walk_init(&w, p, WALK_POINTS);
		e->walk = &w;
		while (walk_next(&w) && !g_wrong) {
			struct visited *v = &points[w.point - 1];

			e->window = window_at(windows, &nwindows, &w, alone, length, &ahead);
			if (!alone->at[w.point - 1].is_compared || (v->is_begun && !v->rest))
				continue;
			e->arg = &v->outcomes;
			v->is_begun = true;
			if (explorer_visit(e, &v->rest, is_at_once ? 0 : 1 + round % 3, true, &err) < 0)
				BUG("%s", err.msg);
			if (v->rest) {
				point_rest_put_away(v->rest, e);
				nleft++;
			} else {
				compare_point(&alone->at[w.point - 1], v, e->nruns, length, w.point - 1);
			}
		}
		walk_release(&w);
	}
	sums->nwindow += e->counters->runs - runs;
	sums->nshared += e->counters->shared_runs - shared;
	e->window = NULL;
	for (size_t i = 0; i < nwindows; i++)
		window_free(windows[i]);
	for (size_t i = 0; i < alone->n; i++) {
		vec_release(&points[i].outcomes.list);
		if (points[i].rest)
			point_rest_free(points[i].rest, e);
	}
	window_ahead_release(&ahead);
	free(windows);
	free(points);
}

static void test_program(uint64_t seed, const char *runtime, const char *reader, struct sums *sums)
{
	char *line = xasprintf("'%s' {} %" PRIu64, reader, seed);
	struct crash_counters counters = { 0 };
	struct recovery recovery = { .ok_status = { true } };
	struct runner_options o = { .runtime = runtime, .timeout_ms = 20000 };
	const struct setting *s = &settings[seed % NSETTINGS];
	struct error err = { "" };
	struct explorer e = { 0 };
	alone_list alone = { 0 };
	struct plan *p;
	struct walk w;

	random_trace(seed, s);
	p = plan_new(g_trace, platform_find(s->platform), &err);
	if (!p)
		BUG("%s", err.msg);
	walk_init(&w, p, WALK_POINTS);
	recovery.recover = runner_command_new(line, &err);
	e = (struct explorer){ .walk = &w, .recovery = &recovery, .counters = &counters, .limits = { .wants_repeats = true }, .on_run = on_run, .on_point = on_point, .on_failure = on_failure };
	e.runner = runner_new(&o, NULL, 0, &err);
	if (!recovery.recover || !e.runner)
		BUG("%s", err.msg);
	while (walk_next(&w) && !g_wrong)
		compare(&e, &w, seed, &alone, sums);
	for (size_t length = 2; length < 4 && length < alone.n && !g_wrong; length++)
		compare_windows(&e, p, &alone, length, length % 2 == seed % 2, sums);
	if (alone.n > 1 && !g_wrong)
		compare_windows(&e, p, &alone, alone.n, seed % 3 > 0, sums);
	if (e.is_unwatched)
		g_wrong = xstrdup("a run did not count because of what was listed for its window");
	for (size_t i = 0; i < alone.n; i++)
		vec_release(&alone.at[i].outcomes.list);
	vec_release(&alone);
	if (counters.fallbacks)
		g_wrong = xasprintf("fell back to whole images: %s", e.why_fallback);
	runner_free(e.runner);
	runner_command_free((struct runner_command *)recovery.recover);
	explorer_release(&e);
	walk_release(&w);
	plan_free(p);
	free(line);
}

int main(int argc, char **argv)
{
	const char *n = getenv("PMEND_PROGRAMS"), *s = getenv("PMEND_SEED");
	uint64_t programs = n ? strtoull(n, NULL, 10) : NPROGRAMS, seed = s ? strtoull(s, NULL, 10) : 1;
	struct sums sums = { 0 };
	int fd;

	if (argc != 3 || !mkdtemp(g_folder)) {
		fprintf(stderr, "usage: test_lazy LIBPMEND_RT READER\n");
		return 2;
	}
	g_pool = xasprintf("%s/pool", g_folder);
	g_trace = xasprintf("%s/trace.pmt", g_folder);
	fd = open(g_pool, O_RDWR | O_CREAT, 0600); /* the user's own, which nothing may touch */
	if (fd < 0 || ftruncate(fd, SCRIPT_POOL_BYTES) < 0)
		return 2;
	for (uint64_t i = 0; i < programs && !g_wrong; i++) {
		test_program(seed + i, argv[1], argv[2], &sums);
		if (g_wrong)
			printf("not ok lazy exploration on %s: seed %" PRIu64 ": %s\n", settings[(seed + i) % NSETTINGS].platform, seed + i, g_wrong);
	}
	unlink(g_pool);
	unlink(g_trace);
	rmdir(g_folder);
	if (!g_wrong)
		printf("ok lazy exploration is exact: %" PRIu64 " programs, %" PRIu64 " failure points, %" PRIu64 " with lines listed by what is read, %" PRIu64 " runs; with windows, %" PRIu64 " more and %" PRIu64 " shared\n",
		       programs, sums.ncompared, sums.nasked, sums.nruns, sums.nwindow, sums.nshared);
	return g_wrong != NULL;
}
