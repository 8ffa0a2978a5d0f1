/* pqueue.h - lists of persistent memory, in the manner of sys/queue.h. Links are offsets from the base of the pool. */
#ifndef PQUEUE_H
#define PQUEUE_H

#include "pm.h"

/* A link is durable as a whole or not at all: its guard is the complement of the offset. */
struct pq_link {
	uint64_t off;
	uint64_t guard;
};

#define PQ_HEAD(name) \
	struct name { \
		uint64_t first; \
	}
#define PQ_ENTRY() struct pq_link

#define PQ_OFF(base, elm) ((uint64_t)((char *)(elm) - (char *)(base)))
#define PQ_PTR(base, type, off) ((struct type *)((off) ? (char *)(base) + (off) : NULL))

#define PQ_EMPTY(head) ((head)->first == 0)
#define PQ_FIRST(base, head, type) PQ_PTR(base, type, (head)->first)
#define PQ_NEXT(base, elm, type, field) PQ_PTR(base, type, (elm)->field.off)

#define PQ_FOREACH(var, base, head, type, field) \
	for ((var) = PQ_FIRST(base, head, type); (var); (var) = PQ_NEXT(base, var, type, field))

#define PQ_INSERT_HEAD(base, head, elm, field)                           \
	do {                                                             \
		(elm)->field.off = (head)->first;                        \
		(elm)->field.guard = ~(elm)->field.off;                  \
		pm_persist(&(elm)->field, sizeof((elm)->field));         \
		(head)->first = PQ_OFF(base, elm);                       \
		pm_persist(&(head)->first, sizeof((head)->first));       \
	} while (0)

#define PQ_REMOVE_HEAD(base, head, type, field)                          \
	do {                                                             \
		(head)->first = PQ_FIRST(base, head, type)->field.off;   \
		pm_persist(&(head)->first, sizeof((head)->first));       \
	} while (0)

#define PQ_LINK_VALID(elm, field) ((elm)->field.guard == ~(elm)->field.off)

#endif
