/* How many inputs a strategy of `pmend explore` needs until a program of tests/explore gets to its bug, with the tracer alone:
 *
 *	explore_search LIBEXEC SOLVER.so STRATEGY MAX_RUNS FOLDER SEED|- LEN PROGRAM [ARG]...      @@ stands for the input's file
 *
 * prints that number, or MAX_RUNS + 1, and the seconds it took. The program is one that was compiled with -DREACHED_STATUS=77 and so ends with that
 * status if it was at its bug. Runs where the recorder cannot: the tracer can be built for arm64, too (docs/explore.md). What modified PM is taken from the
 * blocks that were run, which is what the recorder would tell of flushes and fences. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore/graph/code.h"
#include "explore/explore.h"
#include "util/alloc.h"

#define REACHED_STATUS 77

struct bench {
	struct explore *explore;
	struct expr_pool *pool; /* for reading paths a second time */
	char *input, *path, **argv;
	size_t len_bytes;
};

static bool is_stopped(void *arg)
{
	(void)arg;
	return false;
}

static void *memory_get(size_t n)
{
	return xmalloc(n);
}

/* Status of the traced program. */
static int run(const struct bench *b, const uint8_t *bytes)
{
	FILE *f = fopen(b->input, "wb");
	int status = 0;
	pid_t pid;

	if (!f || fwrite(bytes, 1, b->len_bytes, f) != b->len_bytes || fclose(f) != 0)
		errx(2, "cannot write %s", b->input);
	pid = fork();
	if (pid == 0) {
		if (freopen("/dev/null", "w", stdout))
			execvp("valgrind", b->argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		errx(2, "cannot run valgrind");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void cover(struct bench *b)
{
	struct objects objects = { 0 };
	struct error err;
	struct path p;

	if (path_read(&p, b->pool, &objects, b->path, &err) < 0)
		errx(2, "%s", err.msg);
	for (size_t i = 0; i < objects.paths.n; i++) {
		struct code c;

		if (code_read(&c, objects.paths.at[i], NULL, &err) < 0)
			continue;
		for (size_t k = 0; k < p.covered.n; k++)
			for (size_t m = 0; PLACE_OBJECT(p.covered.at[k].first) == i + 1 && m < c.pm.n; m++)
				if (c.pm.at[m] - PLACE_ADDRESS(p.covered.at[k].first) < p.covered.at[k].nbytes)
					explore_cover(b->explore, objects.paths.at[i], c.pm.at[m]); /* in the text, offset and address are one */
		code_release(&c);
	}
	path_release(&p);
	objects_release(&objects);
}

/* PMEND_SEARCH_LOG=1: what is run, to work on the search. */
static void input_print(const struct bench *b, const struct explore_input *in, uint64_t n)
{
	struct explore_stats stats = explore_stats(b->explore);

	fprintf(stderr, "%3llu ", (unsigned long long)n);
	for (size_t i = 0; i < b->len_bytes; i++)
		fprintf(stderr, in->bytes[i] >= ' ' && in->bytes[i] < 127 ? "%c" : "\\%02x", in->bytes[i]);
	if (in->parent == EXPLORE_NO_RUN)
		fprintf(stderr, "  a guess or a seed");
	else
		fprintf(stderr, "  run %u, step %u", in->parent + 1, in->step);
	fprintf(stderr, "; waiting %llu, PM %llu of %llu\n", (unsigned long long)stats.waiting, (unsigned long long)stats.pm_covered, (unsigned long long)stats.pm_known);
}

static uint64_t search(struct bench *b, uint64_t max_runs)
{
	struct explore_input in;
	struct error err;
	uint64_t n = 0;

	while (n < max_runs && explore_next(b->explore, &in, is_stopped, NULL)) {
		int status = run(b, in.bytes);

		n++;
		if (getenv("PMEND_SEARCH_LOG"))
			input_print(b, &in, n);
		if (status == REACHED_STATUS)
			return n;
		cover(b);
		if (explore_done(b->explore, &in, b->path, &err) < 0)
			errx(2, "%s", err.msg);
		explore_input_release(&in);
	}
	return max_runs + 1;
}

/* PMEND_SUSPECTS=FILE:LINE,LINE: stores that may reach PM, as -p would tell. */
static void suspects_add(struct explore *e)
{
	char *list = getenv("PMEND_SUSPECTS"), *colon = list ? strrchr(list, ':') : NULL, *line;

	if (!colon)
		return;
	*colon++ = '\0';
	while ((line = strsep(&colon, ",")))
		explore_suspect(e, list, (uint32_t)atoi(line));
}

static char **argv_make(struct bench *b, char **target)
{
	VEC(char *) w = { 0 };

	*vec_add(&w) = xstrdup("valgrind");
	*vec_add(&w) = xstrdup("--tool=pmend-trace");
	*vec_add(&w) = xstrdup("-q");
	*vec_add(&w) = xasprintf("--path-file=%s", b->path);
	*vec_add(&w) = xasprintf("--sym-file=0:%zu:%s", b->len_bytes, b->input);
	for (; *target; target++)
		*vec_add(&w) = xstrdup(strcmp(*target, "@@") == 0 ? b->input : *target);
	*vec_add(&w) = NULL;
	return w.at;
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct explore_options o = { .solver_timeout_ms = 10000, .random = 1 };
	struct timespec from, to;
	uint8_t *seed;
	struct error err;
	uint64_t n;
	FILE *f;

	if (argc < 9 || !(o.strategy = search_strategy_find(argv[3])))
		errx(2, "usage: explore_search LIBEXEC SOLVER.so STRATEGY MAX_RUNS FOLDER SEED|- LEN PROGRAM [ARG]...");
	setenv("VALGRIND_LIB", argv[1], 1);
	o.solver = solver_api_load(argv[2], &err);
	if (!o.solver)
		errx(2, "%s", err.msg);
	o.len_bytes = b.len_bytes = (size_t)atoi(argv[7]);
	b.input = xasprintf("%s/input", argv[5]);
	b.path = xasprintf("%s/path", argv[5]);
	b.argv = argv_make(&b, argv + 8);
	b.explore = explore_new(&o);
	suspects_add(b.explore);
	b.pool = expr_pool_new((struct expr_memory){ memory_get, free });
	seed = xcalloc(b.len_bytes + 1, 1);
	f = strcmp(argv[6], "-") == 0 ? NULL : fopen(argv[6], "rb");
	if (f && fread(seed, 1, b.len_bytes, f) == 0)
		errx(2, "cannot read %s", argv[6]);
	explore_seed(b.explore, seed);
	clock_gettime(CLOCK_MONOTONIC, &from);
	n = search(&b, strtoull(argv[4], NULL, 10));
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%llu %.1f\n", (unsigned long long)n, (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	return 0;
}
