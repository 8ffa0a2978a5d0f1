/* Recoveries that misbehave, for the recording of cases.c: `nasty WAY POOL`. The first ones do it only where the data is lost that the flag tells of,
 * so that they are fine where nothing is lost; the others always. */
#include <signal.h>
#include <sys/wait.h>

#include "pm.h"

#define MUCH ((size_t)64 << 30) /* more than the machine has, perhaps */

struct pool { /* the beginning of that in cases.c */
	_Alignas(64) uint64_t data[8 * 5];
	_Alignas(64) uint64_t flag;
};

/* Deaf to whatever signal can be ignored. */
static void hang(const char *path)
{
	(void)path;
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	for (;;)
		pause();
}

/* A daemon in a session of its own, which holds the pool. */
static void daemon_away(const char *path)
{
	if (fork() > 0)
		return;
	setsid();
	if (fork() > 0)
		_exit(0);
	CHECK(open(path, O_RDWR) >= 0);
	hang(path);
}

static void eat_memory(const char *path)
{
	(void)path;
	for (;;) {
		char *all = malloc(64 << 20);

		if (!all)
			exit(77);
		*all = 1; /* touching all of it takes too long here */
	}
}

/* Memory that it needs and does not touch. */
static void reserve(size_t bytes, int protection)
{
	if (mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		exit(76);
}

static void reserve_memory(const char *path)
{
	(void)path;
	reserve(200 << 20, PROT_READ | PROT_WRITE);
}

static void reserve_much(const char *path)
{
	(void)path;
	reserve(MUCH, PROT_READ | PROT_WRITE);
}

/* As the run-time systems of some languages do: nothing can be written there yet. */
static void reserve_addresses(const char *path)
{
	(void)path;
	reserve(MUCH, PROT_NONE);
}

/* All memory that it can get, in pieces. */
static void touch_memory(const char *path)
{
	char *all;

	(void)path;
	while ((all = malloc(1 << 20)))
		memset(all, 1, 1 << 20);
	exit(76);
}

/* A file beside the pool; whoever ignores SIGXFSZ is told by errno. */
static void make_copy(const char *path, int has_signal, off_t bytes)
{
	char other[4096];
	int fd;

	if (!has_signal)
		signal(SIGXFSZ, SIG_IGN);
	snprintf(other, sizeof other, "%s.copy.%d", path, (int)getpid()); /* several workers do this at a time */
	fd = open(other, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && unlink(other) == 0);
	if (ftruncate(fd, bytes) < 0)
		exit(75);
}

static void copy(const char *path)
{
	make_copy(path, 1, 4 << 20);
}

static void copy_deaf(const char *path)
{
	make_copy(path, 0, 4 << 20);
}

static void copy_much(const char *path)
{
	make_copy(path, 0, (off_t)MUCH);
}

static void print_endlessly(const char *path)
{
	static char text[4096];

	(void)path;
	memset(text, 'x', sizeof text);
	for (;;)
		if (write(STDOUT_FILENO, text, sizeof text) < 0)
			exit(78);
}

static void die(const char *path)
{
	(void)path;
	*(volatile int *)8 = 1; /* BUG: die */
}

static void unlink_pool(const char *path)
{
	CHECK(unlink(path) == 0 && access(path, F_OK) < 0);
}

static void rename_pool(const char *path)
{
	char other[4096];

	snprintf(other, sizeof other, "%s.old", path);
	CHECK(rename(path, other) == 0);
}

static void truncate_pool(const char *path)
{
	CHECK(truncate(path, 0) == 0);
}

static void overwrite_pool(const char *path)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && pwrite(fd, "rubbish", 7, 0) == 7);
}

static const struct {
	const char *name;
	void (*run)(const char *path);
	int is_always;
} ways[] = {
	{ "hang", hang, 0 },
	{ "memory", eat_memory, 0 },
	{ "reserve", reserve_memory, 0 },
	{ "reserve-much", reserve_much, 0 },
	{ "reserve-much-always", reserve_much, 1 },
	{ "reserve-addresses", reserve_addresses, 1 },
	{ "touch-always", touch_memory, 1 },
	{ "hang-always", hang, 1 },
	{ "copy", copy, 0 },
	{ "copy-much", copy_much, 0 },
	{ "copy-much-always", copy_much, 1 },
	{ "copy-deaf", copy_deaf, 0 },
	{ "print", print_endlessly, 0 },
	{ "segv", die, 0 },
	{ "daemon", daemon_away, 1 },
	{ "unlink", unlink_pool, 1 },
	{ "rename", rename_pool, 1 },
	{ "truncate", truncate_pool, 1 },
	{ "overwrite", overwrite_pool, 1 },
};

int main(int argc, char **argv)
{
	struct pool *p;
	int is_wrong;

	CHECK(argc == 3);
	p = pool_open(argv[2], sizeof *p);
	if (!p)
		return 0;
	is_wrong = p->flag > 0 && p->data[8 * (p->flag - 1)] != p->flag;
	munmap(p, sizeof *p);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(argv[1], ways[i].name) == 0 && (is_wrong || ways[i].is_always))
			ways[i].run(argv[2]);
	return 0;
}
