/* Recovery fails in one way, by its exit status or its signal, and prints what it found: larger losses print something else than the smallest. `shown run POOL`, or
 *
 *   shown status POOL   ends with 1 and prints the words, if the flag is there and a word is not
 *   shown signal POOL   the same, and dies in one function or another
 *   shown time POOL     as status, and prints the time, too */
#include <time.h>

#include "pm.h"

struct pool {
	_Alignas(64) uint64_t flag;
	_Alignas(64) uint64_t word[4]; /* of one line */
	_Alignas(64) uint64_t near;
	_Alignas(64) uint64_t far;
};

static void run(struct pool *p)
{
	for (int i = 0; i < 4; i++)
		__atomic_store_n(&p->word[i], 1, __ATOMIC_RELEASE);
	p->near = 1;
	p->far = 1;
	p->flag = 1;
	persist(&p->flag, sizeof p->flag);
	persist(p, sizeof *p);
}

static __attribute__((noinline)) void die_without_near(void)
{
	abort();
}

static __attribute__((noinline)) void die_without_words(void)
{
	abort();
}

static void look(const struct pool *p, const char *how)
{
	uint64_t sum = 0, near, far;
	struct timespec now;

	if (!p || !p->flag)
		return;
	for (int i = 0; i < 4; i++) /* the first one decides about the rest */
		sum += p->word[i];
	near = p->near;
	far = p->far;
	printf("%d words, near %d, far %d\n", (int)sum, (int)near, (int)far);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (strcmp(how, "time") == 0)
		fprintf(stderr, "at %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
	fflush(stdout);
	if (strcmp(how, "signal") == 0 && !near)
		die_without_near();
	if (strcmp(how, "signal") == 0 && sum < 4)
		die_without_words();
	if (sum < 4 || !near || !far)
		exit(1);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0)
		run(pool_create(argv[2], sizeof(struct pool)));
	else
		look(pool_open(argv[2], sizeof(struct pool)), argv[1]);
	return 0;
}
