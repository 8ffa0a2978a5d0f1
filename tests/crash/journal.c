/* Two words of a pool that must be equal, and a journal beside it, which is written by calls and not mapped:
 *   journal POOL WAY          the program
 *   journal POOL WAY check    recovery, which repeats what the journal says, and compares the words
 * Ways:
 *   redo      the journal is durable before the pool changes, and empty afterwards: correct
 *   late      the journal is written after the first word is durable
 *   swap      as redo, by a new file that is renamed
 *   large     as redo, with more in front of each record than pmend keeps
 *   noted     there is no journal, only a note of each change, which recovery opens for writing only
 *   deaf      as noted, and more than pmend keeps
 *   seen      only the first word is used, which needs no journal; recovery opens the journal
 *   asked     as seen, but recovery only asks whether it is there
 *   unseen    as seen, but recovery opens it for writing only
 *   kept      as seen, but recovery fails if the journal is more than one change away
 *   torn      as kept, with both words */
#include "pm.h"

#include <stdbool.h>

#define LARGE_BYTES (80 << 10)
#define NCHANGES 3

struct pool {
	_Alignas(64) uint64_t first;
	_Alignas(64) uint64_t second;
};

struct record {
	uint64_t value, check;
};

static const char *g_way;
static char g_journal[4096], g_new[4096];

static bool is_way(const char *way)
{
	return strcmp(g_way, way) == 0;
}

static void journal_write(const char *path, int flags, uint64_t value)
{
	const struct record r = { value, ~value };
	int fd = open(path, O_RDWR | O_CREAT | flags, 0600);

	CHECK(fd >= 0);
	if (is_way("large") || is_way("deaf"))
		CHECK(ftruncate(fd, LARGE_BYTES) == 0 && lseek(fd, LARGE_BYTES, SEEK_SET) == LARGE_BYTES);
	CHECK(write(fd, &r, sizeof r) == sizeof r && fsync(fd) == 0 && close(fd) == 0);
}

static void journal_set(uint64_t value)
{
	if (!is_way("swap")) {
		journal_write(g_journal, 0, value);
		return;
	}
	journal_write(g_new, O_TRUNC, value);
	CHECK(rename(g_new, g_journal) == 0);
}

static void journal_clear(void)
{
	if (is_way("swap"))
		CHECK(unlink(g_journal) == 0);
	else
		CHECK(truncate(g_journal, 0) == 0);
}

static bool is_single(void)
{
	return is_way("seen") || is_way("asked") || is_way("unseen") || is_way("kept");
}

static void change(struct pool *p, uint64_t value)
{
	const bool is_noted = is_way("noted") || is_way("deaf") || is_way("torn");

	if (is_single()) {
		journal_set(value);
		p->first = value;
		persist(&p->first, sizeof p->first);
		return;
	}
	if (!is_way("late"))
		journal_set(value);
	p->first = value; /* BUG: late: survived */ /* BUG: noted: survived */ /* BUG: deaf: survived */ /* BUG: torn: survived */
	persist(&p->first, sizeof p->first);
	if (is_way("late"))
		journal_set(value);
	p->second = value; /* BUG: late: atomicity lost */ /* BUG: noted: atomicity lost */ /* BUG: deaf: atomicity lost */ /* BUG: torn: atomicity lost */
	persist(&p->second, sizeof p->second);
	if (!is_noted)
		journal_clear();
}

static void repeat(struct pool *p)
{
	struct record r;
	int fd = open(g_journal, O_RDONLY);

	if (fd < 0)
		return;
	if (pread(fd, &r, sizeof r, is_way("large") ? LARGE_BYTES : 0) == sizeof r && r.check == ~r.value)
		p->first = p->second = r.value;
	close(fd);
}

static bool is_near(const struct pool *p)
{
	struct record r;
	int fd = open(g_journal, O_RDONLY);
	bool is_far = fd >= 0 && pread(fd, &r, sizeof r, 0) == sizeof r && r.value > p->first + 1;

	if (fd >= 0)
		close(fd);
	return !is_far;
}

static int check(const char *path)
{
	struct pool *p = pool_open(path, sizeof *p);
	int fd;

	if (!p)
		return 0;
	if ((is_way("kept") || is_way("torn")) && !is_near(p))
		return 3;
	if (is_single()) {
		fd = is_way("asked") ? access(g_journal, F_OK) : open(g_journal, is_way("seen") ? O_RDONLY : O_WRONLY | O_APPEND);
		return p->first > NCHANGES || fd < -1;
	}
	if (is_way("noted") || is_way("deaf")) {
		fd = open(g_journal, O_WRONLY | O_APPEND);
		CHECK(fd < 0 || close(fd) == 0);
	} else if (!is_way("torn")) {
		repeat(p);
	}
	CHECK(p->first == p->second);
	return 0;
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc >= 3);
	g_way = argv[2];
	snprintf(g_journal, sizeof g_journal, "%s.journal", argv[1]);
	snprintf(g_new, sizeof g_new, "%s.new", argv[1]);
	if (argc == 4)
		return check(argv[1]);
	p = pool_create(argv[1], sizeof *p);
	for (uint64_t i = 1; i <= NCHANGES; i++)
		change(p, i);
	return 0;
}
