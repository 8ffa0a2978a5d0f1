/*
 * plist.h - doubly linked lists of persistent objects, after <sys/queue.h>.
 *
 * The macros that change a list must be used in a transaction. They log the
 * head and the neighbours. The element itself is up to the caller: it is new,
 * or was logged whole.
 *
 *	struct task {
 *		PLIST_ENTRY(struct task) link;
 *	};
 *	struct tasks {
 *		PLIST_HEAD(struct task) all;
 *	};
 *
 *	TX_BEGIN(pop) {
 *		TOID(struct task) t = TX_ZNEW(struct task);
 *		PLIST_INSERT_TAIL(&tasks->all, t, link);
 *	} TX_END
 */
#ifndef PLIST_H
#define PLIST_H

#include <libpmemobj.h>
#include <stdint.h>

#define PLIST_HEAD(type)                                                       \
	struct {                                                               \
		TOID(type) first;                                              \
		TOID(type) last;                                               \
		uint64_t len;                                                  \
	}

#define PLIST_ENTRY(type)                                                      \
	struct {                                                               \
		TOID(type) prev;                                               \
		TOID(type) next;                                               \
	}

#define PLIST_FIRST(head) ((head)->first)
#define PLIST_LEN(head) ((head)->len)
#define PLIST_EMPTY(head) TOID_IS_NULL((head)->first)
#define PLIST_NEXT(elm, field) (D_RO(elm)->field.next)

#define PLIST_FOREACH(var, head, field)                                        \
	for ((var) = PLIST_FIRST(head); !TOID_IS_NULL(var);                    \
	     (var) = PLIST_NEXT(var, field))

#define PLIST_INSERT_TAIL(head, elm, field)                                    \
	do {                                                                   \
		TX_ADD_DIRECT(head);                                           \
		D_RW(elm)->field.prev = (head)->last;                          \
		D_RW(elm)->field.next.oid = OID_NULL;                          \
		if (TOID_IS_NULL((head)->last)) {                              \
			(head)->first = (elm);                                 \
		} else {                                                       \
			TX_ADD_FIELD((head)->last, field);                     \
			D_RW((head)->last)->field.next = (elm);                \
		}                                                              \
		(head)->last = (elm);                                          \
		(head)->len++;                                                 \
	} while (0)

#define PLIST_REMOVE(head, elm, field)                                         \
	do {                                                                   \
		TX_ADD_DIRECT(head);                                           \
		if (TOID_IS_NULL(D_RO(elm)->field.prev)) {                     \
			(head)->first = D_RO(elm)->field.next;                 \
		} else {                                                       \
			TX_ADD_FIELD(D_RO(elm)->field.prev, field);            \
			D_RW(D_RW(elm)->field.prev)->field.next =              \
				D_RO(elm)->field.next;                         \
		}                                                              \
		if (TOID_IS_NULL(D_RO(elm)->field.next)) {                     \
			(head)->last = D_RO(elm)->field.prev;                  \
		} else {                                                       \
			TX_ADD_FIELD(D_RO(elm)->field.next, field);            \
			D_RW(D_RW(elm)->field.next)->field.prev =              \
				D_RO(elm)->field.prev;                         \
		}                                                              \
		(head)->len--;                                                 \
	} while (0)

#endif
