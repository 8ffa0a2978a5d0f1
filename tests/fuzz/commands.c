/* No command line makes pmend crash: options, operands, the files that they name. An input is words, one a line. Each is run by main() itself in a folder of
 * its own up to the point where a program would be started (the functions in STOPS()); words with a slash are not tried, so nothing else is touched.
 * The mutator knows the options from the tables that options_parse() was called with. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"
#include "util/alloc.h"
#include "util/tempdir.h"

#define NWORDS 40
#define WORD_BYTES 1024

/* ---- where it ends ---- */

static jmp_buf g_end;
static bool g_is_running;

_Noreturn static void end(void)
{
	g_is_running = false;
	longjmp(g_end, 1);
}

/* What the linker calls instead of each of these (fuzz.mk, --wrap): the first would start something, or is the end of pmend. */
#define STOPS(X) X(tempdir_open) X(recording_run) X(exploring_begin) X(crashing_explore) X(runner_new) X(source_load) X(set_aside_begin) X(dlopen)
#define STOP(name)                                                                                                                                          \
	void __wrap_##name(void);                                                                                                                           \
	void __wrap_##name(void)                                                                                                                            \
	{                                                                                                                                                   \
		end();                                                                                                                                      \
	}
STOPS(STOP)

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
_Noreturn void __wrap_exit(int status)
{
	if (!g_is_running)
		__real_exit(status);
	FUZZ_EXPECT(status >= 0 && status <= 3);
	end();
}

/* Nothing of this may be reached. */
#define NEVERS(X) X(fork) X(posix_spawn) X(execve) X(execvp)
#define NEVER(name)                                                                                                                                         \
	void __real_##name(void);                                                                                                                           \
	void __wrap_##name(void);                                                                                                                           \
	void __wrap_##name(void)                                                                                                                            \
	{                                                                                                                                                   \
		FUZZ_EXPECT(!#name);                                                                                                                        \
	}
NEVERS(NEVER)

char *__wrap_recorder_folder(struct error *err);
char *__wrap_recorder_folder(struct error *err)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	(void)err;
	FUZZ_EXPECT(n > 0);
	path[n] = '\0';
	for (int i = 0; i < 2; i++) /* build/tests/fuzz */
		*strrchr(path, '/') = '\0';
	return xasprintf("%s/libexec/pmend", path);
}

/* ---- the options that there are ---- */

static struct {
	const char *name;
	bool has_value;
} g_known[256];
static size_t g_nknown;

static void learn(const struct option *o)
{
	for (; o->name; o++) {
		size_t i = 0;

		while (i < g_nknown && strcmp(g_known[i].name, o->name) != 0)
			i++;
		if (i < sizeof g_known / sizeof *g_known) {
			g_known[i].name = o->name;
			g_known[i].has_value = o->arg;
		}
		if (i == g_nknown)
			g_nknown++;
	}
}

int __real_options_parse(const struct command *c, const struct option *table, enum option_order order, int argc, char **argv);
int __wrap_options_parse(const struct command *c, const struct option *table, enum option_order order, int argc, char **argv);
int __wrap_options_parse(const struct command *c, const struct option *table, enum option_order order, int argc, char **argv)
{
	learn(table);
	return __real_options_parse(c, table, order, argc, argv);
}

/* ---- the folder ---- */

static const char report[] = "{\"pmend\":\"0.1.0\",\"bugs\":[{\"id\":\"1f\",\"kind\":\"missing-flush\",\"severity\":\"correctness\",\"message\":\"m\","
			     "\"count\":1,\"locations\":[{\"role\":\"store\",\"file\":\"a.c\",\"line\":3,\"function\":\"f\"}]}]}";
static const char suppressions[] = "{\n\tkind: missing-*\n\tfunction: f\n}\n";
static const char pmemcheck_log[] = "START|REGISTER_FILE;p;0x4a5b000;0x1000;0x0|STORE;0x4a5b040;0x4142;0x2|FLUSH;0x4a5b040;0x40|FENCE|STOP\n";

static void put(const char *name, const void *bytes, size_t len_bytes)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_EXPECT(fd >= 0 && write(fd, bytes, len_bytes) == (ssize_t)len_bytes);
	close(fd);
}

static void fill_folder(void)
{
	static struct sample sample;
	struct dirent *e;
	DIR *d = opendir(".");

	FUZZ_EXPECT(d);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			tree_remove(e->d_name);
	closedir(d);
	if (!sample.bytes)
		sample_init(&sample, &(struct sample_options){ .seed = 7, .nevents = 40, .nstreams = 2, .chunk_bytes = 400 });
	put("t.pmt", sample.bytes, sample.len_bytes);
	put("r.json", report, strlen(report));
	put("s.supp", suppressions, strlen(suppressions));
	put("p.log", pmemcheck_log, strlen(pmemcheck_log));
}

static void begin(void)
{
	static char *folder;

	if (folder)
		return;
	folder = xasprintf("%s/commands-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"); /* run.py removes it */
	FUZZ_EXPECT(mkdtemp(folder) && chdir(folder) == 0);
}

/* ---- running ---- */

int pmend_main(int argc, char **argv); /* cmd/main.c, by another name */

static void commands_run(const uint8_t *data, size_t size)
{
	char copy[WORD_BYTES + 1], name[] = "pmend", *argv[NWORDS + 2] = { name }, *p = copy;
	static struct sigaction before;
	int argc = 1;

	if (size > WORD_BYTES || memchr(data, '/', size) || memchr(data, '\0', size))
		return;
	memcpy(copy, data, size);
	copy[size] = '\0';
	while (p && *p && argc <= NWORDS)
		argv[argc++] = strsep(&p, "\n");
	begin();
	fill_folder();
	sigaction(SIGINT, NULL, &before);
	if (setjmp(g_end) == 0) {
		int status;

		die_tell(NULL, NULL); /* a report of the last input, which is gone */
		g_is_running = true;
		status = pmend_main(argc, argv);
		g_is_running = false;
		FUZZ_EXPECT(status >= 0 && status <= 3);
	}
	sigaction(SIGINT, &before, NULL); /* `pmend fix` has its own */
	fflush(stdout);
	close_range(16, ~0u, 0); /* what was open; libFuzzer's own come first */
}

/* ---- the mutator ---- */

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 8;
}

static const char *const words[] = { "record", "check", "crash", "explore", "test", "fix", "show", "import", "help", "--", "t.pmt", "r.json", "s.supp", "p.log",
				     "json", "all", "msync", "arm64", "0", "1", "18446744073709551615", "4294967296", "-1", "{}", "a '{}' \"b\\\"", "x {op}", "@@",
				     "1:8", "FILE:3", "1-2", "store,clwb", "lazy", "representative", "performance", "1:", "1:2.3:0=1", "*", "-o", "-p", "-q", "-h" };
#define NAMES (sizeof words / sizeof *words)

/* A word that means something, with its newline. */
static size_t any_word(char *to, size_t room, unsigned *seed)
{
	const char *value = words[next(seed) % NAMES];
	size_t k = g_nknown ? next(seed) % g_nknown : 0;
	int n;

	if (!g_nknown || next(seed) % 3 == 0)
		n = snprintf(to, room, "%s\n", value);
	else if (g_known[k].has_value)
		n = snprintf(to, room, "--%s%c%s\n", g_known[k].name, next(seed) % 2 ? '=' : '\n', value);
	else
		n = snprintf(to, room, "--%s\n", g_known[k].name);
	return (size_t)n;
}

static size_t commands_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	char word[128];
	size_t len = any_word(word, sizeof word, &seed), at, old = 0;

	if (next(&seed) % 4 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	at = size ? next(&seed) % size : 0;
	while (at > 0 && data[at - 1] != '\n')
		at--;
	if (next(&seed) % 3 == 0) /* instead of the word that is there */
		while (at + old < size && data[at + old++] != '\n')
			;
	if (next(&seed) % 8 == 0)
		len = 0;
	if (size - old + len > max_size)
		return size;
	memmove(data + at + len, data + at + old, size - at - old);
	memcpy(data + at, word, len);
	return size - old + len;
}

const struct fuzz_target fuzz_commands = {
	.name = "commands",
	.flags = "-max_len=512 -detect_leaks=0 -close_fd_mask=3 -runs=20000", /* it is left in the middle: what it has stays allocated */
	.is_leaking = true,
	.run = commands_run,
	.mutate = commands_mutate,
};
