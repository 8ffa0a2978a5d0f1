/* The program around a data structure (driver.h):
 *
 *	PROG POOL run N [SEED]	create the pool if need be, recover, then N pseudo-random operations, each acknowledged by a line
 *				(`put 5 17`, `del 5`, `truncate`) that is printed when it is durable
 *	PROG POOL check		recover, then verify every invariant: status 0, or 1 and what is wrong
 *	PROG POOL dump		recover, then print the content, sorted: `KEY VALUE` lines
 *	PROG mutants		the numbers that -DMUTANT takes: `NUMBER KIND LINE` lines */
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutant.h"
#include "pmend.h"

/* Few keys, so that they are overwritten and deleted; spread out for the radix tree. */
enum { KEYS = 20, KEY_STEP = 37, VALUES = 1000 };
enum { MUTANTS_MAX = 128 };
enum { STATUS_GOOD = 0, STATUS_INCONSISTENT = 1, STATUS_USAGE = 2, STATUS_FAILED = 3, STATUS_DIED = 9 };

_Noreturn void die(const char *what)
{
	fprintf(stderr, "%s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
	exit(STATUS_FAILED);
}

void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

uint64_t checksum(const void *words, size_t len_bytes, uint64_t seed)
{
	const unsigned char *p = words;
	uint64_t sum = seed ^ 0x9e3779b97f4a7c15u ^ len_bytes;

	for (size_t i = 0; i < len_bytes; i++) {
		sum = (sum ^ p[i]) * 0xff51afd7ed558ccdu;
		sum ^= sum >> 32;
	}
	return sum ? sum : 1;
}

/* ---- mutants at run time ---- */

extern const struct mutant __start_mutants[], __stop_mutants[];

static long number_from(const char *variable)
{
	const char *text = getenv(variable);

	return text ? atol(text) : 0;
}

/* PMEND_MUTANT has one number, or several with commas between. */
bool mutant_lacks(int number)
{
	static bool is_known, lacks[MUTANTS_MAX];
	const char *text;

	if (!is_known) {
		is_known = true;
		text = getenv("PMEND_MUTANT");
		for (const char *at = text; at && *at; at += strcspn(at, ","), at += *at == ',')
			lacks[atol(at) % MUTANTS_MAX] = true;
	}
	return lacks[number % MUTANTS_MAX];
}

/* PMEND_POINTS=1: a line with each number as it is reached goes to file descriptor 3. */
void mutant_reached(int number)
{
	static long reached, die_at = -1, is_listing;

	if (die_at < 0) {
		die_at = number_from("PMEND_DIE_AT");
		is_listing = number_from("PMEND_POINTS");
	}
	if (is_listing)
		dprintf(3, "%d\n", number);
	if (++reached == die_at)
		_exit(STATUS_DIED);
}

static int list_mutants(void)
{
	for (int number = 1; number <= __stop_mutants - __start_mutants; number++)
		for (const struct mutant *m = __start_mutants; m < __stop_mutants; m++)
			if (m->number == number)
				printf("%d %s %d\n", m->number, m->kind, m->line);
	return STATUS_GOOD;
}

/* ---- run ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* Not by printf: its locked instructions would complete whatever flushes are under way, and so hide that a fence is
 * missing. */
static void acknowledge(const char *word, const uint64_t *numbers, size_t n)
{
	char line[64], *end = stpcpy(line, word);

	for (size_t i = 0; i < n; i++) {
		char digits[20], *digit = digits + sizeof digits;
		uint64_t rest = numbers[i];

		do
			*--digit = (char)('0' + rest % 10);
		while ((rest /= 10) != 0);
		*end++ = ' ';
		end = mempcpy(end, digit, (size_t)(digits + sizeof digits - digit));
	}
	*end++ = '\n';
	if (write(STDOUT_FILENO, line, (size_t)(end - line)) != end - line)
		die("cannot print");
}

static void run_put(struct store *s, uint64_t key, uint64_t value)
{
	uint64_t found;

	PMEND_OP_BEGIN("put");
	structure.put(s, key, value);
	acknowledge("put", (uint64_t[]){ key, value }, 2);
	PMEND_OP_END("put");
	if (!structure.get(s, key, &found) || found != value)
		die("what was put cannot be got");
}

static void run_del(struct store *s, uint64_t key)
{
	uint64_t found;

	PMEND_OP_BEGIN("del");
	structure.del(s, key);
	acknowledge("del", &key, 1);
	PMEND_OP_END("del");
	if (structure.get(s, key, &found))
		die("what was deleted is still there");
}

static void run_truncate(struct store *s)
{
	PMEND_OP_BEGIN("truncate");
	structure.truncate(s);
	acknowledge("truncate", NULL, 0);
	PMEND_OP_END("truncate");
}

/* Phases of growing and of shrinking, so that there is something to resize, split and merge. */
static void run_one(struct store *s, uint64_t i, uint64_t *random)
{
	uint64_t key = next_random(random) % KEYS * KEY_STEP, value = next_random(random) % VALUES;
	uint64_t dice = next_random(random) % 16;
	bool is_growing = i / 16 % 2 == 0;

	if (structure.truncate) {
		if (dice == 0)
			run_truncate(s);
		else
			run_put(s, structure.count(s), value);
	} else if (dice < (is_growing ? 4 : 12)) {
		run_del(s, key);
	} else {
		run_put(s, key, value);
	}
}

static int run(const char *path, uint64_t n, uint64_t seed)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
	const char *why = NULL;
	struct store *s = structure.open(path, true, &why);

	if (!s) {
		fprintf(stderr, "inconsistent: %s\n", why);
		return STATUS_INCONSISTENT;
	}
	for (uint64_t i = 0; i < n; i++)
		run_one(s, i, &random);
	structure.close(s);
	return STATUS_GOOD;
}

/* ---- check and dump ---- */

struct entry {
	uint64_t key, value;
};

struct entries {
	struct entry *at;
	size_t n, capacity;
};

static void collect(uint64_t key, uint64_t value, void *arg)
{
	struct entries *e = arg;

	if (e->n == e->capacity) {
		e->capacity = e->capacity * 2 + 16;
		e->at = need(realloc(e->at, e->capacity * sizeof *e->at));
	}
	e->at[e->n++] = (struct entry){ key, value };
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static int inspect(const char *path, bool is_dump)
{
	struct entries e = { NULL, 0, 0 };
	const char *why = NULL;
	struct store *s = structure.open(path, false, &why);

	if (s)
		why = structure.check(s);
	if (why) {
		fprintf(is_dump ? stderr : stdout, "inconsistent: %s\n", why);
		return STATUS_INCONSISTENT;
	}
	if (s) {
		structure.each(s, collect, &e);
		structure.close(s);
		qsort(e.at, e.n, sizeof *e.at, compare);
	}
	for (size_t i = 0; is_dump && i < e.n; i++)
		printf("%lu %lu\n", e.at[i].key, e.at[i].value);
	if (!is_dump)
		printf("consistent: %s, %zu entries\n", s ? "a pool" : "no pool yet", e.n);
	free(e.at);
	return STATUS_GOOD;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "mutants") == 0)
		return list_mutants();
	if ((argc == 4 || argc == 5) && strcmp(argv[2], "run") == 0)
		return run(argv[1], strtoull(argv[3], NULL, 10), argc == 5 ? strtoull(argv[4], NULL, 10) : 1);
	if (argc == 3 && strcmp(argv[2], "check") == 0)
		return inspect(argv[1], false);
	if (argc == 3 && strcmp(argv[2], "dump") == 0)
		return inspect(argv[1], true);
	fprintf(stderr, "usage: %s mutants | POOL run N [SEED] | POOL check | POOL dump\n", argv[0]);
	return STATUS_USAGE;
}
