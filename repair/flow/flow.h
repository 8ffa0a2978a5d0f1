/* A function followed from its begin to one statement, on all paths at once: what was stored and
 * not written back yet, what was written back and not stored to since, and whether a fence has
 * anything to wait for. */
#ifndef REPAIR_FLOW_H
#define REPAIR_FLOW_H

#include "repair/idiom/idiom.h"
#include "repair/idiom/run.h"
#include "repair/plan/internal.h"

/* A number, or an address: what is equal has equal roots and offsets. */
struct value {
	const char *root; /* NULL: a number */
	int64_t offset;
	uint32_t align_bytes; /* of the root; 0: not known */
	bool is_known;
	bool is_least; /* it may be more */
	bool is_own;   /* the address of a function's own variable */
};

/* Bytes that were stored, or written back. */
struct span {
	struct value addr, len; /* !addr.is_known: anywhere */
	uint32_t max_bytes;     /* of an array, which is not longer; 0: not known */
	const char *type;       /* of the innermost structure; NULL: not known */
	uint32_t object_bytes;
	const struct source_node *node;
	const struct file *file;
	unsigned line;
	bool is_pointer; /* what is stored may be one */
};

enum { FLOW_SPANS = 40, FLOW_VARIABLES = 64 };

struct flow_state {
	bool is_dead;   /* no path leads here */
	bool may_wait;  /* something was written back since the last fence */
	bool may_store; /* something was stored since the last fence */
	struct span dirty[FLOW_SPANS], clean[FLOW_SPANS]; /* on some path; on every path */
	size_t ndirty, nclean;
	struct {
		const char *name;
		unsigned frame;
		struct value value;
	} variables[FLOW_VARIABLES];
	size_t nvariables;
};

/* Called each time that the statement is reached, without what it does. effect: the range is
 * `at`. */
struct flow;
typedef void flow_judge(struct flow *flow, const struct flow_state *s,
			const struct idiom_effect *effect, const struct span *at);

struct flow {
	struct repair *r;
	const struct source_node *target; /* the statement */
	const char *target_file;
	uint32_t target_begin;
	bool is_narrowed; /* the statement writes back what was stored of its range, and no more */
	const char *const *guards; /* conditions that hold at the statement, so everywhere */
	size_t nguards;
	const char *const *directives; /* the same of #if */
	size_t ndirectives;
	flow_judge *judge;
	void *to; /* of the judge */
	/* what came of it */
	unsigned njudged;
	const char *why;             /* it cannot be followed; NULL */
	struct span did[FLOW_SPANS]; /* written back on some path */
	size_t ndid;
	/* own */
	const struct flow_steps *steps;
	unsigned nsteps, nframes, nfresh;
	unsigned versions[2]; /* of what memory holds: of numbers, and of pointers */
};

void flow_run(struct flow *flow, const struct source_unit *u, const struct source_function *top);
/* only those that hold at the statement */
bool flow_names_directives(const struct flow *flow, const struct file *f, uint32_t from,
			   uint32_t to);

/* spans.c */
bool span_is_same_base(const struct span *a, const struct span *b);
/* the same line, perhaps */
bool span_may_hit(const struct span *stored, const struct span *range);
bool span_may_overlap(const struct span *stored, const struct span *range); /* the same bytes */
/* surely, in bytes or by the line */
bool span_is_within(const struct span *stored, const struct span *range);
/* in that of the address, whatever the alignment beyond what the type asks for */
bool span_is_in_line(const struct span *stored, const struct value *addr);
bool spans_cover(const struct span *clean, size_t n, const struct span *range);

#endif
