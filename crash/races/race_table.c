/* Keeps what all workers know about races in shared memory, and makes each worker wait for its
 * turn. A worker that is done with a failure point keeps its number until it has the next, so the
 * lowest number is never too high. */
#include "crash/races/race_table.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "util/error.h"
#include "util/vec.h"

#define ENTRIES_MAX 8192u
#define WAIT_NS 500000

struct race_table {
	size_t nworkers, len_bytes;
	uint32_t n;       /* entries in list; grows */
	uint64_t *points; /* by worker: its failure point */
	struct race_entry list[ENTRIES_MAX];
};

struct race_table *race_table_new(uint32_t nworkers)
{
	size_t len_bytes = sizeof(struct race_table) + nworkers * sizeof(uint64_t);
	struct race_table *t =
		mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		alloc_die();
	t->nworkers = nworkers;
	t->len_bytes = len_bytes;
	t->points = (uint64_t *)(t + 1);
	return t;
}

void race_table_reset(struct race_table *t, uint32_t nworkers)
{
	for (size_t i = 0; i < t->nworkers; i++)
		t->points[i] = i < nworkers ? 0 : UINT64_MAX;
}

void race_table_clear(struct race_table *t)
{
	t->n = 0;
}

void race_table_free(struct race_table *t)
{
	if (t)
		munmap(t, t->len_bytes);
}

void race_table_begin(struct race_table *t, uint32_t worker, uint64_t n)
{
	__atomic_store_n(&t->points[worker], n, __ATOMIC_RELEASE);
}

static bool is_turn(const struct race_table *t, uint32_t worker)
{
	for (size_t i = 0; i < t->nworkers; i++)
		if (__atomic_load_n(&t->points[i], __ATOMIC_ACQUIRE) < t->points[worker])
			return false;
	return true;
}

bool race_table_wait(const struct race_table *t, uint32_t worker, const uint32_t *is_stopped)
{
	while (!is_turn(t, worker)) {
		if (__atomic_load_n(is_stopped, __ATOMIC_RELAXED))
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
	}
	return true;
}

bool race_entry_is_same(const struct race_entry *a, const struct race_entry *b)
{
	return a->pc == b->pc && a->part == b->part && a->site == b->site && a->kind == b->kind;
}

struct race_entry *race_table_find(const struct race_table *t, const struct race_entry *key)
{
	const uint32_t n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (race_entry_is_same(&t->list[i], key))
			return (struct race_entry *)&t->list[i];
	return NULL;
}

struct race_entry *race_table_get(struct race_table *t, const struct race_entry *key)
{
	struct race_entry *known = race_table_find(t, key);

	if (known || t->n == ENTRIES_MAX)
		return known;
	known = &t->list[t->n];
	*known = *key;
	__atomic_store_n(&t->n, t->n + 1, __ATOMIC_RELEASE);
	return known;
}

void race_table_list(const struct race_table *t, race_entries *list)
{
	for (uint32_t i = 0; i < t->n; i++)
		*vec_add(list) = t->list[i];
}

void race_table_put(struct race_table *t, const struct race_entry *e)
{
	struct race_entry *known = race_table_get(t, e);

	if (known)
		*known = *e;
}

bool race_entry_is_final(const struct race_entry *e)
{
	return __atomic_load_n(&e->tries, __ATOMIC_RELAXED) >= RACE_TRIES ||
	       __atomic_load_n(&e->is_closed, __ATOMIC_RELAXED);
}
