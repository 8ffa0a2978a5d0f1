/* What all programs of this folder do with their pool, however they are built and wherever they
 * run. So all have the same findings, at the lines marked here. Works without a C library. */
#ifndef PLACES_POOL_H
#define PLACES_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "tests/machine.h"

#define POOL_RECORDS 4
#define POOL_BYTES 8192

struct pool {
	_Alignas(64) uint64_t count; /* records before this number are valid */
	_Alignas(64) uint64_t data;
	_Alignas(64) uint64_t flag; /* the data is valid */
	_Alignas(64) uint64_t forgotten;
	_Alignas(64) uint64_t record[POOL_RECORDS][8];
};

static inline void pool_persist(const void *p)
{
	flush_line(p);
	fence();
}

/* The correct order: first the record, then the number of records. */
static inline void pool_append(struct pool *p, uint64_t i)
{
	p->record[i][0] = i + 1;
	p->record[i][7] = i + 1;
	pool_persist(p->record[i]);
	p->count = i + 1;
	pool_persist(&p->count);
}

/* The flag may survive without the data, one store is never flushed, and a fence has nothing to wait for. */
static inline void pool_mistake(struct pool *p)
{
	p->data = 7; /* BUG: ordering lost */
	p->flag = 1; /* BUG: ordering survived */
	pool_persist(&p->flag);
	pool_persist(&p->data);
	p->forgotten = 1; /* BUG: missing-flush store */
	fence(); /* BUG: redundant-fence fence */
}

/* Does the first half of the work, so that a program can do what it is tested for in the middle. */
static inline void pool_first(struct pool *p)
{
	for (uint64_t i = 0; i < POOL_RECORDS / 2; i++)
		pool_append(p, i);
}

static inline void pool_second(struct pool *p)
{
	for (uint64_t i = POOL_RECORDS / 2; i < POOL_RECORDS; i++)
		pool_append(p, i);
	pool_mistake(p);
}

/* What recovery checks: gives 0, or an exit status that says what is wrong. */
static inline int pool_wrong(const volatile struct pool *p)
{
	if (p->count > POOL_RECORDS)
		return 4;
	for (uint64_t i = 0; i < p->count; i++)
		if (p->record[i][0] != i + 1 || p->record[i][7] != i + 1)
			return 5;
	return p->flag && p->data != 7 ? 6 : 0;
}

#endif
