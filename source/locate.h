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

/* Gives the call stack of the site, innermost frame first; empty if nothing is known. The list is
 * valid until the next call. */
size_t locate_stack(struct locator *l, const struct trace_site *site, const struct frame **list);

/* Says where the code of frame i is in its object, for questions about debug information. */
struct code_place locate_code(struct locator *l, const struct trace_site *site,
			      const struct frame *list, size_t i);

/* Gives the index of the frame that tells the user most. */
size_t locate_shown(const struct locator *l, const struct frame *list, size_t n);
/* Gives the index of the frame that a finding names: the shown frame or, if that is in a setter
 * (source/setters.h) with several callers, the frame that calls the setter. The trace must have
 * been read to its end. */
size_t locate_place(struct locator *l, const struct frame *list, size_t n);
/* Asks whether two instructions are on one source line, in the same inlined copy, and have equal
 * callers. arg is a struct locator. */
bool locate_is_same_line(const struct trace_site *a, const struct trace_site *b, void *arg);
/* Gives the index, in the flush's stack, of the innermost function that is in the store's stack,
 * too. The frames inside it only flush. SIZE_MAX if there is no such function. */
size_t locate_common(const struct frame *flush, size_t nflush, const struct frame *store,
		     size_t nstore);
/* Notes that this flush wrote back what this store wrote. Such pairs show which functions only
 * flush for their callers (locate_call()). */
void locate_note_served(struct locator *l, const struct trace_site *flush,
			const struct trace_site *store);
/* Gives the index of the frame to show for a flush: the frame of the caller, if the shown frame is
 * inside a function that only flushes for its callers; else `shown`. */
size_t locate_call(const struct locator *l, const struct frame *list, size_t n, size_t shown);
/* Asks whether some frame is outside libraries and their headers. Then further frames do not change
 * which one is shown. */
bool locate_has_shown(const struct locator *l, const struct frame *list, size_t n);
/* Gives the library of PMDK that itself decided on the flush or fence of this stack, such as
 * "libpmemobj" (a constant); NULL if the program decided. */
const char *locate_decider(const struct frame *list, size_t shown);
/* Asks whether the stack belongs to PMDK's creation of a pool. */
bool locate_makes_pool(const struct frame *list, size_t n);

/* Gives the frame to show for a site: the innermost outside libraries and their headers (even
 * without a source line), else the innermost with a source line, else the innermost. NULL if
 * nothing is known. Cached by site. */
const struct frame *locate(struct locator *l, const struct trace_site *site);

#endif
