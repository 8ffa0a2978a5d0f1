/* Laziness is exact: on random programs, the outcomes of recovery under `lazy` are those under `eager`, and those of the script run on every
 * state that the model allows; and the runs stand for all states, once each. Writer and reader are random; the reader is a real program.
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

#define NPROGRAMS 60u
#define STATES_MAX 300u /* of a failure point that is compared */
#define EAGER_MAX 24u	/* of one that is run eagerly, too */

static char g_folder[] = "/dev/shm/pmend-lazy-XXXXXX";
static char *g_pool, *g_trace;

struct outcomes {
	VEC(uint64_t) list;
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

static void event(struct writer *w, enum pmt_kind kind, uint32_t thread, uint64_t addr, const void *data, uint32_t size)
{
	struct writer_event ev = { .thread = thread, .addr = addr, .data = data };

	ev.site = writer_site(w, 0, 0x1000 + kind, kind, size);
	writer_event(w, &ev);
}

static void meta(struct writer *w, const char *text)
{
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_META, 0), .thread = 1, .data = text, .data_len = (uint32_t)strlen(text) });
}

static void random_store(struct writer *w, uint64_t *seed, enum pmt_kind kind, uint32_t thread)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 8, 8, 16, 32 };
	uint32_t size = sizes[script_pick(seed, sizeof sizes)], at = script_pick(seed, SCRIPT_BYTES - 32);
	uint8_t value[32];

	if (kind == PMT_STORE_RMW)
		size = 8;
	at &= script_pick(seed, 6) ? ~(size - 1) : ~0u;
	for (uint32_t i = 0; i < size; i++)
		value[i] = (uint8_t)script_pick(seed, 4);
	event(w, kind, thread, PMT_ADDR(1, SCRIPT_FIRST + at), value, size);
}

static void random_trace(uint64_t seed)
{
	static const enum pmt_kind kinds[] = { PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE_NT, PMT_STORE_RMW,
					       PMT_CLWB, PMT_CLWB, PMT_CLFLUSHOPT, PMT_CLFLUSH, PMT_SFENCE, PMT_SFENCE, PMT_MFENCE };
	uint32_t n = 4 + script_pick(&seed, 9);
	struct writer *w;
	struct error err;

	if (writer_open(&w, g_trace, &err) < 0)
		BUG("%s", err.msg);
	meta(w, "platform=x86-adr");
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0),
						.thread = 1,
						.arg = { 1, SCRIPT_POOL_BYTES, 0, 1, 1 },
						.data = g_pool,
						.data_len = (uint32_t)strlen(g_pool) });
	for (uint32_t i = 0; i < n; i++) {
		enum pmt_kind kind = kinds[script_pick(&seed, sizeof kinds / sizeof *kinds)];
		uint32_t thread = 1 + script_pick(&seed, 2);

		if (kind == PMT_STORE || kind == PMT_STORE_NT || kind == PMT_STORE_RMW)
			random_store(w, &seed, kind, thread);
		else if (kind == PMT_CLWB || kind == PMT_CLFLUSHOPT || kind == PMT_CLFLUSH)
			event(w, kind, thread, PMT_ADDR(1, SCRIPT_FIRST + 64 * script_pick(&seed, 4)), NULL, 64);
		else
			event(w, kind, thread, 0, NULL, 0);
	}
	if (writer_close(w, &err) < 0)
		BUG("%s", err.msg);
}

/* ---- outcomes ---- */

static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after, const struct verdict *v, void *arg)
{
	(void)e, (void)before, (void)after;
	outcome_add(arg, v->kind == VERDICT_OK ? strtoull(v->result.output, NULL, 16) : 0xdead0000u + v->kind);
}

static int on_failure(struct explorer *e, const uint64_t *state, const struct verdict *v, void *arg, struct error *err)
{
	(void)e, (void)state, (void)arg, (void)err;
	printf("# recovery failed: %s: %s\n", verdict_text(v), v->result.errors);
	return 0;
}

static void reference(const struct explorer *e, const struct crash_image *image, uint64_t seed, size_t line, uint8_t *pool, struct outcomes *out)
{
	uint8_t copy[SCRIPT_POOL_BYTES];

	if (line == e->set.lines.n) {
		memcpy(copy, pool, sizeof copy);
		outcome_add(out, script_run(copy, seed));
		return;
	}
	for (uint32_t c = 0; c < e->set.lines.at[line].ncontents; c++) {
		const struct state_line *l = &e->set.lines.at[line];

		memcpy(pool + PMT_OFFSET(l->addr), state_content(&e->set, l, c), e->set.line_bytes);
		reference(e, image, seed, line + 1, pool, out);
	}
}

static uint64_t nstates(const struct model *m)
{
	return model_nstates(m);
}

static char *g_wrong;

static void compare(struct explorer *e, struct walk *w, uint64_t seed, uint64_t *nruns, uint64_t *ncompared)
{
	struct outcomes lazy = { 0 }, eager = { 0 }, want = { 0 };
	uint64_t n = nstates(w->model);
	uint8_t pool[SCRIPT_POOL_BYTES];
	struct error err;
	char *seen, *all;

	if (n > STATES_MAX)
		return;
	big_set(&e->states_seen, 0);
	big_set(&e->states_all, 0);
	e->strategy = strategy_find("lazy");
	e->arg = &lazy;
	if (explorer_point(e, &err) < 0)
		BUG("%s", err.msg);
	*nruns += e->nruns;
	seen = big_string(&e->states_seen);
	all = big_string(&e->states_all);
	if (strcmp(seen, all) != 0 || strtoull(all, NULL, 10) != n)
		g_wrong = xasprintf("runs stand for %s states of %s, the model has %" PRIu64, seen, all, n);
	free(seen);
	free(all);
	image_read(&w->image, PMT_ADDR(1, 0), pool, sizeof pool);
	reference(e, &w->image, seed, 0, pool, &want);
	if (!same_outcomes(&lazy, &want))
		g_wrong = xasprintf("point %" PRIu64 ": %zu outcomes under lazy, %zu by the model", w->point, lazy.list.n, want.list.n);
	if (n <= EAGER_MAX) {
		e->strategy = strategy_find("eager");
		e->arg = &eager;
		if (explorer_point(e, &err) < 0)
			BUG("%s", err.msg);
		if (e->nruns != n || !same_outcomes(&eager, &want))
			g_wrong = xasprintf("point %" PRIu64 ": %zu outcomes in %" PRIu64 " runs under eager, %zu in %" PRIu64 " by the model",
					    w->point, eager.list.n, e->nruns, want.list.n, n);
	}
	(*ncompared)++;
	vec_release(&lazy.list);
	vec_release(&eager.list);
	vec_release(&want.list);
}

static void test_program(uint64_t seed, const char *runtime, const char *reader, uint64_t *nruns, uint64_t *ncompared)
{
	char *line = xasprintf("'%s' {} %" PRIu64, reader, seed);
	struct crash_counters counters = { 0 };
	struct recovery recovery = { .ok_status = { true } };
	struct runner_options o = { .runtime = runtime, .timeout_ms = 20000 };
	struct error err = { "" };
	struct explorer e = { 0 };
	struct plan *p;
	struct walk w;

	random_trace(seed);
	p = plan_new(g_trace, platforms[0], &err);
	if (!p)
		BUG("%s", err.msg);
	walk_init(&w, p, WALK_POINTS);
	recovery.recover = runner_command_new(line, &err);
	e = (struct explorer){ .walk = &w, .recovery = &recovery, .counters = &counters, .on_run = on_run, .on_failure = on_failure };
	e.runner = runner_new(&o, NULL, 0, &err);
	if (!recovery.recover || !e.runner)
		BUG("%s", err.msg);
	while (walk_next(&w) && !g_wrong)
		compare(&e, &w, seed, nruns, ncompared);
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
	uint64_t programs = n ? strtoull(n, NULL, 10) : NPROGRAMS, seed = s ? strtoull(s, NULL, 10) : 1, nruns = 0, ncompared = 0;
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
		test_program(seed + i, argv[1], argv[2], &nruns, &ncompared);
		if (g_wrong)
			printf("not ok lazy exploration: seed %" PRIu64 ": %s\n", seed + i, g_wrong);
	}
	unlink(g_pool);
	unlink(g_trace);
	rmdir(g_folder);
	if (!g_wrong)
		printf("ok lazy exploration is exact: %" PRIu64 " programs, %" PRIu64 " failure points, %" PRIu64 " runs\n", programs, ncompared, nruns);
	return g_wrong != NULL;
}
