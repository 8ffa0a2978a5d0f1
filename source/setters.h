/* Setters: functions in headers that only store for their callers. Where a setter has several
 * callers, the line to look at is the caller's: the store's line says nothing about which of them
 * forgot to make it durable. For example:
 *
 *	node.h   static inline void set_next(struct node *n, uint64_t next) { n->next = next; }
 *	list.c   set_next(a, b); persist(a, sizeof *a);
 *	         set_next(b, c);                                 not durable: this line is meant
 *
 * A function counts as a setter if its file is a header; if all PM stores that it makes, itself or
 * through others, come from neighbouring lines of it; and if nothing else that matters to PM was
 * recorded with it on the stack: no flush, fence, sync, map, or call of a transaction. So a
 * function that flushes in one place and forgets it in another is none. */
#ifndef SOURCE_SETTERS_H
#define SOURCE_SETTERS_H

#include <stddef.h>

#include "source/frame.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/map.h"

struct setters {
	struct map functions; /* key → struct setter */
	struct arena arena;
	bool is_complete;
};

/* Gives the stack of a site, valid until the next call, and the index of the shown frame. */
typedef size_t setters_stack(const struct trace_site *site, const struct frame **list,
			     size_t *shown, void *arg);

/* Finds the setters of all sites of the trace, which must have been read to its end. */
void setters_find(struct setters *s, const struct trace *t, setters_stack *stack, void *arg);
void setters_release(struct setters *s);

/* Gives the index of the frame that calls the outermost setter around frame `shown`; `shown` itself
 * if no setter with several callers is around it. */
size_t setters_caller(const struct setters *s, const struct frame *list, size_t n, size_t shown);

/* Asks whether the frame is in a header. Only such frames may be in setters. */
bool setters_is_in_header(const struct frame *f);

#endif
