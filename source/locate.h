/* From the sites of a trace to functions and source lines: by the recorded objects' debug info, or
 * by the names that an imported log carried. */
#ifndef SOURCE_LOCATE_H
#define SOURCE_LOCATE_H

#include "source/calls.h"
#include "trace/symbols.h"
#include "trace/trace.h"

struct frame {
	const struct symbol *symbol;
	uint64_t pc;
	/* a signal interrupted this frame: the frames before it are the handler's */
	bool is_signal;
};

struct locator;

/* libraries (trace/owner.h): what counts as such besides the system's; may be NULL; must outlive
 * the locator. */
struct libraries;
struct locator *locator_new(const struct trace *t, const struct libraries *libraries);
void locator_free(struct locator *l);

/* The call stack, innermost first; empty if nothing is known. Valid until the next call. */
size_t locate_stack(struct locator *l, const struct trace_site *site, const struct frame **list);

/* Where a frame of the site's stack is in its object, for asking debug information. */
struct code_place locate_code(struct locator *l, const struct trace_site *site,
			      const struct frame *list, size_t i);

/* Which frame of a stack tells the user most. */
size_t locate_shown(const struct locator *l, const struct frame *list, size_t n);
/* Two instructions with the same caller are of one line of the source, and of one copy of what is
 * inlined there. arg: a struct locator. */
bool locate_is_same_line(const struct trace_site *a, const struct trace_site *b, void *arg);
/* The frame of a flush's stack in the function that also leads to the store: there, the two part.
 * What is inside of it only flushes. SIZE_MAX: they have none in common. */
size_t locate_common(const struct frame *flush, size_t nflush, const struct frame *store,
		     size_t nstore);
/* From now on it is known that the flush wrote back what the store left. */
void locate_note_served(struct locator *l, const struct trace_site *flush,
			const struct trace_site *store);
/* Of a flush's stack, the frame that tells most is inside a function that only flushes, for others:
 * the frame of its caller. Else the same frame. */
size_t locate_call(const struct locator *l, const struct frame *list, size_t n, size_t shown);
/* It is one outside libraries and their headers: more frames would not change it. */
bool locate_has_shown(const struct locator *l, const struct frame *list, size_t n);
/* The library of PMDK ("libpmemobj") that decided by itself on the flush or fence of this stack;
 * NULL if the program did. A constant. */
const char *locate_decider(const struct frame *list, size_t shown);
/* The stack is of something that happens while PMDK makes a pool. */
bool locate_makes_pool(const struct frame *list, size_t n);

/* That frame of a site: the innermost outside libraries and their headers (with or without a source
 * line), else the innermost with a source line, else the innermost; NULL if nothing is known.
 * Cached by site. */
const struct frame *locate(struct locator *l, const struct trace_site *site);

#endif
