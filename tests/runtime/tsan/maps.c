/* The table of mappings (runtime/maps.c) under ThreadSanitizer, with threads that map, unmap, split and read. The runtime itself cannot be instrumented: it lives in signal handlers. What
 * the table calls is replaced here by what does nothing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pm.h"

#define THREADS 5u
#define ROUNDS 3000u
#define FIXED 0x10000000ul /* one that stays */
#define ROUND_ABOUT 0x20000000ul

struct run_region *g_region;
uint64_t g_page_bytes = 4096;
bool g_is_lazy = true;
static uint32_t g_nmissed, g_nasked;

const char *environment_get(const char *name)
{
	(void)name;
	return NULL;
}

long rt_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return 0;
}

void rt_unsound(const char *why)
{
	printf("FAIL runtime maps: %s\n", why);
	exit(1);
}

bool keys_work(void)
{
	return false;
}

int keys_init(void)
{
	return -1;
}

void keys_open(int key) { (void)key; }
void keys_close(int key) { (void)key; }
void keys_open_frame(int key, ucontext_t *uc) { (void)key, (void)uc; }
void keys_close_frame(int key, ucontext_t *uc) { (void)key, (void)uc; }

uint64_t lines_undecided_page(uint32_t file, uint64_t from, uint64_t to)
{
	(void)file, (void)from;
	return to;
}

bool images_has_page(uint32_t file, uint64_t offset)
{
	(void)file, (void)offset;
	return false;
}

bool lines_read(uint32_t file, uint64_t from, uint64_t to, bool is_one)
{
	(void)file, (void)from, (void)to, (void)is_one;
	return false;
}

void lines_written(uint32_t file, uint64_t from, uint64_t to)
{
	(void)file, (void)from, (void)to;
}

static void set(uint64_t start, uint64_t npages)
{
	maps_set(&(struct pm_map){ .start = start, .end = start + npages * PAGE, .prot = 3, .was_guarded = true });
}

/* Moves entries of the table all the time. */
static void *map_and_unmap(void *arg)
{
	const uint64_t at = ROUND_ABOUT + (uint64_t)arg * 0x1000000;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		set(at, 8);
		set(at + 3 * PAGE, 1);
		maps_remove(at + PAGE, at + 2 * PAGE);
		maps_remove(at, at + 8 * PAGE);
	}
	return NULL;
}

/* A part of the one that stays becomes another, as by mprotect(). */
static void *protect(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < ROUNDS; i++)
		set(FIXED + 2 * PAGE, 1 + i % 2);
	return NULL;
}

/* The only one becomes another, as long as somebody asks. */
static void *protect_all(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&g_nasked, __ATOMIC_RELAXED) < 2)
		set(FIXED, 8);
	return NULL;
}

/* The table is not empty meanwhile. */
static void *ask(void *arg)
{
	uint32_t nmissed = 0;

	(void)arg;
	for (uint32_t i = 0; i < ROUNDS * 1000; i++)
		nmissed += !maps_any();
	__atomic_fetch_add(&g_nmissed, nmissed, __ATOMIC_RELAXED);
	__atomic_fetch_add(&g_nasked, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* What is mapped all the time is found all the time. */
static void *look(void *arg)
{
	struct pm_map m;

	(void)arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t addr = FIXED + i % 8 * PAGE;

		if (!maps_touch(addr, 8) || !maps_find(addr, &m) || addr < m.start || addr >= m.end)
			__atomic_fetch_add(&g_nmissed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool run(void *(*const all[])(void *))
{
	pthread_t t[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, all[i], (void *)i))
			return false;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return true;
}

int main(void)
{
	void *(*const only[THREADS])(void *) = { protect_all, protect_all, ask, ask, look };
	void *(*const many[THREADS])(void *) = { map_and_unmap, map_and_unmap, protect, look, look };

	set(FIXED, 8);
	if (!run(only) || !run(many))
		return 1;
	printf(g_nmissed ? "FAIL runtime maps: %u times, a mapping that is there was not found\n" : "ok runtime maps of many threads\n", g_nmissed);
	return g_nmissed != 0;
}
