/* The bug record: what every analysis reports and every rendering shows. DESIGN.md §8 fixes its JSON form. */
#ifndef REPORT_BUG_H
#define REPORT_BUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bug_severity { BUG_CORRECTNESS, BUG_PERFORMANCE };

/* One frame, as far as it is known; strings are NULL and numbers 0 if not. */
struct bug_frame {
	const char *function, *file, *object;
	uint32_t line, column;
	uint64_t offset; /* in object */
	bool is_inlined, is_signal;
};

struct bug_location {
	const char *role; /* store | flush | fence | read | lost | survived | tx */
	const struct bug_frame *frames; /* innermost first */
	size_t nframes;
	size_t shown; /* index of the frame that the user should look at */
};

struct bug {
	char id[17];	  /* stable across runs and unrelated edits; filled by report_add() */
	const char *kind; /* "missing-flush"… */
	enum bug_severity severity;
	const char *message; /* one sentence: what is wrong, here */
	const char *advice;  /* one sentence: what to do about it; may be NULL */
	uint64_t count;	     /* times seen */
	uint64_t first_seq;  /* event where it was seen first */
	const struct bug_location *locations; /* the first is where the bug is */
	size_t nlocations;
};

struct report_coverage {
	uint64_t events;
	bool is_complete;
	const char *why_incomplete; /* NULL if complete */
};

/* Collects bugs, merging those that are one source situation; owns copies of everything given to it. */
struct report;

struct report *report_new(void);
void report_free(struct report *r);
/* Merges by kind and by the functions and relative lines of all locations: count adds up. */
void report_add(struct report *r, const struct bug *b);

/* Facts of the head. */
void report_set_platform(struct report *r, const char *platform);
void report_add_argument(struct report *r, const char *argument);
void report_set_coverage(struct report *r, const struct report_coverage *c);

/* After filtering, sorted: correctness before performance, then by file, line, kind. */
size_t report_nbugs(const struct report *r);
const struct bug *report_bug(const struct report *r, size_t i);

#endif
