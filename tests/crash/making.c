/* Makes a pool in one of many ways, and then uses it. It has two pages, with words in both.
 *	making POOL NAME FILL SYNC USE WHO [folder]
 *		NAME	place: it is made under its own name; rename: under another name, which it loses; link: that name is replaced by a link;
 *			tmpfile: it has none until it is linked; above: its folder is renamed; both: with another pool in it
 *		FILL	write, or map: through a mapping; many: so often that pmend does not list all contents
 *		SYNC	fsync, msync, flush (instructions), osync (the descriptor's writes are synced), all (sync), or none: nothing is synced before the pool is used
 *		USE	same: the mapping is used, or else the descriptor is mapped; again: the pool is opened by its name
 *		WHO	self; child: a child makes it, and ends; run: a program makes it that was executed; before: it is made before this program is
 *			executed; mover: a program renames or links it that was executed
 *		folder	the folder is synced, too
 *	making POOL check [both]	fails if there is no pool, or if it is not complete; status 3 */
#include <sys/wait.h>

#include "pm.h"

enum { WORDS = 1024, POOL_BYTES = WORDS * 8, STEP = 400 };

struct pool {
	volatile uint64_t magic, n, fill[WORDS - 2];
};

#define MAGIC 0x676e696b616dull

static const char *g_pool, *g_name, *g_fill, *g_sync, *g_use, *g_who, *g_self;
static char g_folder[2048], g_other[4096]; /* where it is made */
static struct pool g_bytes;

static int is(const char *word, const char *what)
{
	return strcmp(word, what) == 0;
}

static int check(int wants_both)
{
	struct pool p;
	int fd = open(g_pool, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, &p, sizeof p);

	if (n != sizeof p || p.magic != MAGIC)
		fprintf(stderr, "%s: %s\n", g_pool, fd < 0 ? strerror(errno) : n != sizeof p ? "too short" : "no magic");
	if (n != sizeof p || p.magic != MAGIC)
		return 3;
	for (int i = 0; i < WORDS - 2; i += STEP)
		if (p.fill[i] != (uint64_t)i + 1)
			return 3;
	snprintf(g_other, sizeof g_other, "%s.2", g_pool);
	fd = wants_both ? open(g_other, O_RDONLY) : -1;
	return wants_both && (read(fd, &p, 8) != 8 || p.magic != MAGIC) ? 3 : 0;
}

static struct pool *map(int fd)
{
	void *p = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(fd >= 0 && p != MAP_FAILED);
	return p;
}

static void fill(struct pool *p)
{
	p->magic = MAGIC;
	for (int i = 0; i < WORDS - 2; i += STEP)
		p->fill[i] = (uint64_t)i + 1;
}

/* Gives the mapping, or NULL, and the descriptor. */
static struct pool *make(int *fd)
{
	const int flags = O_RDWR | (is(g_sync, "osync") ? O_SYNC : 0);
	struct pool *p = NULL;

	*fd = is(g_name, "tmpfile") ? open(g_folder, flags | O_TMPFILE, 0600) : open(g_other, flags | O_CREAT | O_TRUNC, 0600);
	CHECK(*fd >= 0);
	if (!is(g_fill, "write")) {
		CHECK(ftruncate(*fd, POOL_BYTES) == 0);
		p = map(*fd);
		for (int i = is(g_fill, "many") ? 1 : WORDS; i < WORDS - 2; i++)
			p->fill[i] = (uint64_t)i;
		fill(p);
	} else {
		fill(&g_bytes);
		CHECK(write(*fd, &g_bytes, sizeof g_bytes) == sizeof g_bytes);
	}
	if (is(g_sync, "fsync"))
		CHECK(fsync(*fd) == 0);
	else if (is(g_sync, "msync"))
		CHECK(msync(p, POOL_BYTES, MS_SYNC) == 0);
	else if (is(g_sync, "flush"))
		persist(p, POOL_BYTES);
	else if (is(g_sync, "all"))
		sync();
	return p;
}

/* Makes the other pool in the same folder, and gives it its magic number. */
static void make_second(void)
{
	char path[4200];
	struct pool *p;
	int fd;

	snprintf(path, sizeof path, "%s.2", g_other);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, POOL_BYTES) == 0);
	p = map(fd);
	p->magic = MAGIC;
	persist((const void *)p, sizeof p->magic);
	CHECK(msync(p, POOL_BYTES, MS_SYNC) == 0);
}

static void move(int fd)
{
	char own[64], other_folder[4096];

	snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
	snprintf(other_folder, sizeof other_folder, "%s.new", g_folder);
	if (is(g_name, "rename"))
		CHECK(rename(g_other, g_pool) == 0);
	else if (is(g_name, "link"))
		CHECK(link(g_other, g_pool) == 0 && unlink(g_other) == 0);
	else if (is(g_name, "tmpfile"))
		CHECK(linkat(AT_FDCWD, own, AT_FDCWD, g_pool, AT_SYMLINK_FOLLOW) == 0);
	else if (is(g_name, "above") || is(g_name, "both"))
		CHECK(rename(other_folder, g_folder) == 0);
}

static void sync_folder(void)
{
	int fd = open(g_folder, O_RDONLY | O_DIRECTORY);

	CHECK(fd >= 0 && fsync(fd) == 0);
	close(fd);
}

static void use(struct pool *p, int fd)
{
	if (is(g_use, "again") || fd < 0)
		p = map(open(g_pool, O_RDWR));
	else if (!p)
		p = map(fd);
	for (int i = 0; i < 2; i++) {
		p->n++;
		persist((const void *)&p->n, sizeof p->n);
		CHECK(msync(p, 4096, MS_SYNC) == 0);
	}
}

/* Executes this program for a part of the work: "make", "move" or "use". */
static void execute(char **argv, const char *part, int fd)
{
	char number[16];

	snprintf(number, sizeof number, "%d", fd);
	setenv("MAKING_PART", part, 1);
	setenv("MAKING_FD", number, 1);
	execv(g_self, argv);
	_exit(9);
}

static void wait_for(pid_t pid)
{
	int status = -1;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	const char *part = getenv("MAKING_PART");
	struct pool *p = NULL;
	int fd = part ? atoi(getenv("MAKING_FD")) : -1;
	pid_t pid;

	g_self = argv[0];
	g_pool = argv[1];
	if (argc == 3)
		return check(0);
	if (argc == 4)
		return check(1);
	CHECK(argc >= 7);
	g_name = argv[2], g_fill = argv[3], g_sync = argv[4], g_use = argv[5], g_who = argv[6];
	CHECK(snprintf(g_folder, sizeof g_folder, "%.*s", (int)(strrchr(g_pool, '/') - g_pool), g_pool) < 2000);
	snprintf(g_other, sizeof g_other, "%s%s/%.1000s%s", g_folder, is(g_name, "above") || is(g_name, "both") ? ".new" : "", strrchr(g_pool, '/') + 1,
		 is(g_name, "rename") || is(g_name, "link") ? ".new" : "");
	if (part && is(part, "use")) {
		use(NULL, fd);
		return 0;
	}
	if (part && is(part, "move")) {
		move(fd);
		return 0;
	}
	if (is(g_who, "child") && (pid = fork()) != 0) {
		wait_for(pid);
		use(NULL, -1);
		return 0;
	}
	if (is(g_who, "run") && !part && (pid = fork()) != 0) {
		wait_for(pid);
		use(NULL, -1);
		return 0;
	}
	if (is(g_who, "run") && !part)
		execute(argv, "make", -1);
	p = make(&fd);
	if (is(g_name, "both"))
		make_second();
	if (is(g_who, "mover") && (pid = fork()) == 0)
		execute(argv, "move", fd);
	else if (is(g_who, "mover"))
		wait_for(pid);
	else
		move(fd);
	if (argc > 7)
		sync_folder();
	if (is(g_who, "child") || is(g_who, "run"))
		return 0;
	if (is(g_who, "before"))
		execute(argv, "use", is(g_use, "same") ? fd : -1);
	use(p, fd);
	return 0;
}
