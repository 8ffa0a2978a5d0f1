/* See judgements.h. A worker that has come to an end of a point keeps its number until it has the next, so that the lowest number is never too high. */
#include "crash/races/race_table.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "util/error.h"
#include "util/vec.h"

#define JUDGEMENTS_MAX 8192u
#define WAIT_NS 500000

struct judgements {
	size_t nworkers, len_bytes;
	uint32_t n; /* in list; grows */
	uint64_t *points; /* by worker: where it is */
	struct judgement list[JUDGEMENTS_MAX];
};

struct judgements *judgements_new(uint32_t nworkers)
{
	size_t len_bytes = sizeof(struct judgements) + nworkers * sizeof(uint64_t);
	struct judgements *j = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (j == MAP_FAILED)
		BUG("no memory for judgements");
	j->nworkers = nworkers;
	j->len_bytes = len_bytes;
	j->points = (uint64_t *)(j + 1);
	return j;
}

void judgements_free(struct judgements *j)
{
	if (j)
		munmap(j, j->len_bytes);
}

void judgements_begin(struct judgements *j, uint32_t worker, uint64_t n)
{
	__atomic_store_n(&j->points[worker], n, __ATOMIC_RELEASE);
}

static bool is_turn(const struct judgements *j, uint32_t worker)
{
	for (size_t i = 0; i < j->nworkers; i++)
		if (__atomic_load_n(&j->points[i], __ATOMIC_ACQUIRE) < j->points[worker])
			return false;
	return true;
}

bool judgements_wait(const struct judgements *j, uint32_t worker, const uint32_t *is_stopped)
{
	while (!is_turn(j, worker)) {
		if (__atomic_load_n(is_stopped, __ATOMIC_RELAXED))
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
	}
	return true;
}

struct judgement *judgements_find(const struct judgements *j, const struct judgement *key)
{
	const uint32_t n = __atomic_load_n(&j->n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		const struct judgement *o = &j->list[i];

		if (o->pc == key->pc && o->part == key->part && o->site == key->site && o->kind == key->kind)
			return (struct judgement *)o;
	}
	return NULL;
}

struct judgement *judgements_get(struct judgements *j, const struct judgement *key)
{
	struct judgement *known = judgements_find(j, key);

	if (known || j->n == JUDGEMENTS_MAX)
		return known;
	known = &j->list[j->n];
	*known = *key;
	__atomic_store_n(&j->n, j->n + 1, __ATOMIC_RELEASE);
	return known;
}

bool judgement_is_final(const struct judgement *j)
{
	return __atomic_load_n(&j->tries, __ATOMIC_RELAXED) >= JUDGEMENT_TRIES || __atomic_load_n(&j->is_closed, __ATOMIC_RELAXED);
}
