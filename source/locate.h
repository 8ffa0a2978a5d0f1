/* Finds functions and source lines for the sites of a trace, from debug information of the recorded
 * objects or from the names in an imported log. */
#ifndef SOURCE_LOCATE_H
#define SOURCE_LOCATE_H

#include "source/call_arguments.h"
#include "source/frame.h"
#include "trace/trace.h"

struct locator;

/* libraries (trace/owner.h): further libraries besides the system's; may be NULL; must outlive the
 * locator. */
struct libraries;
struct locator *locator_new(const struct trace *t, const struct libraries *libraries);
void locator_free(struct locator *l);

/* The call stack, innermost frame first; empty if nothing is known. Valid until the next call. */
size_t locate_stack(struct locator *l, const struct trace_site *site, const struct frame **list);

/* Where frame i of the site's stack is in its object, for questions about debug information. */
struct code_place locate_code(struct locator *l, const struct trace_site *site,
			      const struct frame *list, size_t i);

/* The index of the frame that tells the user most. */
size_t locate_shown(const struct locator *l, const struct frame *list, size_t n);
/* The index of the frame that a finding names: the shown one, or the call of a setter
 * (source/setters.h) that stores there for several callers. The trace must have been read to its
 * end. */
size_t locate_place(struct locator *l, const struct frame *list, size_t n);
/* Are two instructions with equal callers on one source line, in the same inlined copy? arg is a
 * struct locator. */
bool locate_is_same_line(const struct trace_site *a, const struct trace_site *b, void *arg);
/* The index, in the flush's stack, of the innermost function that also leads to the store. The
 * frames inside it only flush. SIZE_MAX if there is no such function. */
size_t locate_common(const struct frame *flush, size_t nflush, const struct frame *store,
		     size_t nstore);
/* Notes that the flush wrote back what the store wrote. */
void locate_note_served(struct locator *l, const struct trace_site *flush,
			const struct trace_site *store);
/* The frame to show for a flush: if the shown frame is inside a function that only flushes for its
 * callers, the frame of the caller, else the shown frame. */
size_t locate_call(const struct locator *l, const struct frame *list, size_t n, size_t shown);
/* Is some frame outside libraries and their headers? Then more frames do not change which one is
 * shown. */
bool locate_has_shown(const struct locator *l, const struct frame *list, size_t n);
/* The library of PMDK, such as "libpmemobj" (a constant), that itself decided on the flush or fence
 * of this stack; NULL if the program did. */
const char *locate_decider(const struct frame *list, size_t shown);
/* Does the stack belong to PMDK's creation of a pool? */
bool locate_makes_pool(const struct frame *list, size_t n);

/* The frame to show for a site: the innermost outside libraries and their headers (even without a
 * source line), else the innermost with a source line, else the innermost. NULL if nothing is
 * known. Cached by site. */
const struct frame *locate(struct locator *l, const struct trace_site *site);

#endif
