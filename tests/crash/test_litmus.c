/* The crash states of every litmus test (tests/litmus/, tests/unit/litmus.h), as exploration comes to them: the events are written as a trace, walked, and the states
 * at each `states N` counted. Where there are few, recovery (a program that does nothing) is really run on each of them: N runs. */
#include <inttypes.h>
#include <unistd.h>

#include "crash/search/explorer.h"
#include "crash/search/strategies.h"
#include "tests/unit/litmus.h"
#include "trace/writer.h"

#define RUNS_MAX 16u /* of one litmus test */
#define FILE_PAGES (NPAGES / 2)

static char g_folder[] = "/dev/shm/pmend-litmus-XXXXXX";

struct litmus {
	struct writer *writer;
	const struct platform *platform;
	char *trace;
	bool has_process[4];
	uint64_t want; /* the last `states` */
	bool is_wanted;
};

/* ---- writing a trace ---- */

static void tell_file(struct writer *w, uint32_t number)
{
	char *path = xasprintf("%s/file-%" PRIu32, g_folder, number);

	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0),
						.thread = 1,
						.arg = { number, FILE_PAGES * PMT_PAGE_BYTES, 0, 1, number },
						.data = path,
						.data_len = (uint32_t)strlen(path) });
	free(path);
}

static void tell_meta(struct writer *w, const char *text)
{
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_META, 0), .thread = 1, .data = text, .data_len = (uint32_t)strlen(text) });
}

static void put(struct litmus *l, const struct trace_event *ev)
{
	struct writer_event out = { .thread = ev->thread, .addr = ev->addr, .data = ev->data, .data_len = ev->data_len };

	if (ev->stream > 0 && !l->has_process[ev->stream]) {
		writer_select(l->writer, 0);
		writer_fork(l->writer, writer_site(l->writer, 0, 0, PMT_FORK, 0), 1, ev->stream);
		l->has_process[ev->stream] = true;
	}
	writer_select(l->writer, ev->stream);
	memcpy(out.arg, ev->arg, sizeof out.arg);
	out.site = writer_site(l->writer, 0, 0x1000 + ev->seq, ev->kind, ev->size_bytes);
	writer_event(l->writer, &out);
}

/* Writes the lines up to the nth `states` into a trace. False: there is no nth. */
static bool write_trace(struct litmus *l, const char *path, unsigned nth)
{
	char line[512], *rest, *word;
	FILE *in = fopen(path, "r");
	struct error err;
	uint64_t seq = 0;

	l->is_wanted = false;
	memset(l->has_process, 0, sizeof l->has_process);
	l->platform = platforms[0];
	if (!in || writer_open(&l->writer, l->trace, &err) < 0)
		BUG("cannot read %s or write %s", path, l->trace);
	tell_file(l->writer, 1);
	tell_file(l->writer, 2);
	while (!l->is_wanted && fgets(line, sizeof line, in)) {
		struct trace_event ev = { .seq = ++seq };
		uint8_t bytes[PMT_STORE_MAX_BYTES];

		line[strcspn(line, "#\n")] = 0;
		word = strtok_r(line, " \t", &rest);
		if (word && strcmp(word, "platform") == 0)
			l->platform = platform_find(strtok_r(NULL, " \t", &rest));
		else if (word && strcmp(word, "meta") == 0)
			tell_meta(l->writer, strtok_r(NULL, " \t", &rest));
		else if (word && strcmp(word, "states") == 0)
			l->is_wanted = nth-- == 0 && litmus_parse_number(strtok_r(NULL, " \t", &rest), &l->want, &err) == 0;
		else if (word && isupper((unsigned char)*word) && litmus_parse_op(word, &rest, &ev, bytes, &err) < 0)
			BUG("%s: %s", path, err.msg);
		else if (word && isupper((unsigned char)*word))
			put(l, &ev);
	}
	fclose(in);
	if (writer_close(l->writer, &err) < 0)
		BUG("%s", err.msg);
	return l->is_wanted;
}

/* ---- counting ---- */

static uint64_t count_states(const struct model *m)
{
	struct state_set set = { 0 };
	struct big n = { 0 };
	uint64_t *all, count;
	char *text;

	states_collect(&set, m, NULL);
	all = states_all(&set);
	states_count(&set, all, &n);
	text = big_string(&n);
	count = strtoull(text, NULL, 10);
	free(text);
	free(all);
	big_release(&n);
	states_release(&set);
	return count;
}

static int on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v, void *arg, struct error *err)
{
	(void)e, (void)left, (void)v, (void)arg;
	return error_set(err, "recovery failed");
}

/* Runs recovery on every state at the point where the walk is; gives the number of runs. */
static uint64_t run_all(struct walk *w, const char *runtime)
{
	struct runner_options o = { .runtime = runtime, .timeout_ms = 20000 };
	struct recovery recovery = { .ok_status = { true } };
	struct crash_counters counters = { 0 };
	struct error err = { "" };
	struct explorer e = { .strategy = strategy_find("eager"), .walk = w, .recovery = &recovery, .counters = &counters, .on_failure = on_failure };
	uint64_t n;

	recovery.recover = runner_command_new("/bin/true {}", &err);
	e.runner = runner_new(&o, NULL, 0, &err);
	if (!recovery.recover || !e.runner || explorer_point(&e, &err) < 0)
		BUG("%s", err.msg);
	n = e.nruns;
	runner_free(e.runner);
	runner_command_free((struct runner_command *)recovery.recover);
	explorer_release(&e);
	return n;
}

/* What is wrong, NULL: nothing. */
static char *compare(struct litmus *l, const char *runtime, unsigned *nruns)
{
	char *wrong = NULL;
	struct error err;
	struct plan *p = plan_new(l->trace, l->platform, &err);
	struct walk w;
	uint64_t n, at_end = 0;

	if (!p)
		BUG("%s", err.msg);
	walk_init(&w, p, WALK_POINTS);
	while (walk_next(&w))
		at_end = w.seq > p->nevents ? count_states(w.model) : 0;
	n = count_states(w.model);
	if (n != l->want)
		wrong = xasprintf("%" PRIu64 " states, not %" PRIu64, n, l->want);
	else if (at_end && at_end != n)
		wrong = xasprintf("%" PRIu64 " states at the last failure point, %" PRIu64 " at the end", at_end, n);
	else if (runtime && at_end && n > 1 && *nruns + n <= RUNS_MAX) {
		*nruns += n;
		if (run_all(&w, runtime) != n)
			wrong = xasprintf("not %" PRIu64 " runs", n);
	}
	walk_release(&w);
	plan_free(p);
	return wrong;
}

static bool test(const char *path, const char *trace, const char *runtime)
{
	struct litmus l = { .trace = (char *)trace };
	const char *name = path + strlen(LITMUS_FOLDER);
	unsigned nth, nruns = 0;

	for (nth = 0; write_trace(&l, path, nth); nth++) {
		char *wrong = compare(&l, runtime, &nruns);

		if (wrong) {
			printf("not ok %s, crash number %u: %s\n", name, nth + 1, wrong);
			free(wrong);
			return false;
		}
	}
	if (nth == 0)
		printf("not ok %s expects nothing\n", name);
	return nth > 0;
}

int main(int argc, char **argv)
{
	struct error err = { "" };
	size_t nfailed = 0;
	glob_t found;
	char *trace;

	if (argc != 2 || litmus_find(&found, &err) < 0 || !mkdtemp(g_folder)) {
		fprintf(stderr, "usage: test_litmus LIBPMEND_RT, in the project's root. %s\n", err.msg);
		return 2;
	}
	trace = xasprintf("%s/trace.pmt", g_folder);
	for (size_t i = 0; i < found.gl_pathc; i++) /* real runs for some only: a runner takes its time */
		nfailed += !test(found.gl_pathv[i], trace, i % 16 == 0 ? argv[1] : NULL);
	if (nfailed == 0)
		printf("ok %zu litmus tests have the states that they should have\n", found.gl_pathc);
	unlink(trace);
	rmdir(g_folder);
	globfree(&found);
	free(trace);
	return nfailed > 0;
}
