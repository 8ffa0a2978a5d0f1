/* Follows a function on all paths at once. At each place it knows what was stored and not written
 * back yet ("dirty", on some path), what was written back and not stored to since ("clean", on
 * every path), and whether a fence has anything to wait for. For an observer it also knows what is
 * not fenced yet, what is logged, and which pointers point to memory.
 *
 *   p->a = 1;              // dirty: p->a
 *   if (c)
 *           flush(&p->a);  // clean: p->a; a fence has to wait
 *                          // behind the if: dirty p->a, nothing clean, a fence may have to wait */
#ifndef REPAIR_FLOW_H
#define REPAIR_FLOW_H

#include "repair/idiom/idiom.h"
#include "repair/idiom/run.h"
#include "repair/plan/internal.h"

/* A number or an address. Values are equal if their roots and offsets are equal. The root is text
 * that says how the value was computed, such as "p#0" for parameter p of the first function. */
struct value {
	const char *root; /* NULL: the value is a number */
	int64_t offset;
	uint32_t align_bytes; /* alignment of the root; 0: unknown */
	bool is_known;
	bool is_least; /* the value may be larger than that */
	bool is_own;   /* it is the address of a local variable */
};

/* A range of bytes that was stored or written back. */
struct span {
	struct value addr, len; /* addr is not known: anywhere */
	uint32_t max_bytes;     /* the range is in an array of that size; 0: unknown */
	const char *type;       /* type of the innermost structure; NULL: unknown */
	uint32_t object_bytes;
	const struct source_node *node;
	const struct file *file;
	unsigned line;
	bool is_pointer; /* the stored value may be a pointer */
	bool is_fenced;  /* it was fenced after it was written back */
	bool is_aside;   /* only one of two compared versions does it: flow_aside() */
};

enum { FLOW_SPANS = 40, FLOW_VARIABLES = 64, FLOW_LOGGED = 16, FLOW_REACHED = 128 };

struct flow_state {
	bool is_dead;   /* no path leads here */
	bool may_wait;  /* something was written back since the last fence */
	bool may_store; /* something was stored since the last fence */
	/* dirty on some path; clean on every path */
	struct span dirty[FLOW_SPANS], clean[FLOW_SPANS];
	size_t ndirty, nclean;
	struct {
		const char *name;
		unsigned frame;
		struct value value;
	} variables[FLOW_VARIABLES];
	size_t nvariables;
	/* only for an observer: */
	/* stored and written back, but not fenced, on some path */
	struct span pending[FLOW_SPANS];
	struct span logged[FLOW_LOGGED];  /* logged by the transaction, on every path */
	struct span perhaps[FLOW_LOGGED]; /* logged on some path */
	/* roots of pointers that point to memory, on every path */
	const char *reached[FLOW_REACHED];
	size_t npending, nlogged, nperhaps, nreached;
};

/* Called each time the target statement is reached, with the state before it. `at`: the range of
 * its effect. */
struct flow;
typedef void flow_judge(struct flow *flow, const struct flow_state *s,
			const struct idiom_effect *effect, const struct span *at);

/* Called at each of these events, with the state before it. `at`: its range; NULL: none. */
enum flow_event {
	FLOW_STORE,
	FLOW_FLUSH,
	FLOW_FENCE,
	FLOW_LOG,
	FLOW_FREE,
	FLOW_UNSEEN, /* unknown code, which may do anything */
	FLOW_OUTPUT,
	FLOW_RETURN, /* also at the end of the body, where `n` is the body */
};
struct flow_frame;
typedef void flow_observer(const struct flow_frame *f, enum flow_event what,
			   const struct flow_state *s, const struct source_node *n,
			   const struct span *at);

struct flow {
	struct repair *r;
	const struct source_node *target; /* the statement to judge; NULL: none */
	const char *target_file;
	uint32_t target_begin;
	/* the statement counts as writing back exactly what was stored of its range */
	bool is_narrowed;
	/* conditions that hold at the statement, so they are taken to hold everywhere */
	const char *const *guards;
	size_t nguards;
	const char *const *directives; /* the same for #if */
	size_t ndirectives;
	flow_judge *judge;      /* called at the target; NULL: there is no target */
	flow_observer *observe; /* NULL: no observer */
	/* the node is in only one of two versions that are compared; NULL: no versions */
	bool (*is_only_here)(const struct flow *flow, const struct file *f,
			     const struct source_node *n);
	void *to; /* for the judge or the observer */
	/* results */
	unsigned njudged;
	const char *why;             /* why the function cannot be followed; NULL: it can */
	struct span did[FLOW_SPANS]; /* ranges that were written back on some path */
	size_t ndid;
	/* internal */
	const struct flow_steps *steps;
	unsigned nsteps, nframes, nfresh, naside;
	/* how often memory was stored to so far: numbers, and pointers. Part of the root of a
	 * loaded value */
	unsigned versions[2];
};

enum { FLOW_GOTOS = 8, FLOW_SCOPES = 8 };

/* An object that flushes in its destructor, with the range that it had when it was declared. */
struct flow_scope {
	unsigned does;
	struct span range;
};

/* A function that is being followed. */
struct flow_frame {
	struct flow *flow;
	const struct source_unit *unit;
	const struct file *file;
	const struct source_function *function;
	const struct flow_frame *outer;
	const struct source_node *call; /* the call in the outer frame; NULL: it is the outermost */
	unsigned id, depth;
	struct value this, result;
	unsigned nreturns;
	struct flow_state *returned; /* states of all returns, joined */
	/* states of break, of continue, and at the switch of the innermost loop or switch */
	struct flow_state *broken, *continued, *entered;
	struct {
		const char *label;
		struct flow_state *state;
	} gotos[FLOW_GOTOS];
	size_t ngotos;
	struct flow_scope scopes[FLOW_SCOPES]; /* objects of the blocks around */
	size_t nscopes;
};

void flow_run(struct flow *flow, const struct source_unit *u, const struct source_function *top);
/* Asks whether all #if lines between the two offsets also hold at the target statement. */
bool flow_names_directives(const struct flow *flow, const struct file *f, uint32_t from,
			   uint32_t to);

/* callers.c */
enum { CALLERS_MAX = 32 };
struct callers {
	const struct source_function *of[CALLERS_MAX];
	const struct source_unit *units[CALLERS_MAX];
	size_t n;
	bool are_more;
};
/* Parses the files that contain the function's name, so that callers_find() finds all its
 * callers. */
void callers_open(struct repair *r, const struct source_function *f);
bool function_is_passed_on(struct repair *r, const struct source_function *f);
void callers_find(struct repair *r, const struct source_function *f, struct callers *c);

/* state.c: makes, copies and joins states */
struct flow_state *state_new(void); /* it is dead: no path leads to it */
struct flow_state *state_copy(const struct flow_state *s);
void state_join(struct flow *flow, struct flow_state *to, const struct flow_state *from);
/* Asks whether the pointer points to memory on every path. */
bool state_is_reached(const struct flow *flow, const struct flow_state *s, const struct value *v);

/* spans.c: asks whether the addresses of both ranges have the same root, or the root of one is
 * inside the other's: "x+i*8" is inside "x" */
bool span_is_same_base(const struct span *a, const struct span *b);
/* Asks whether the stored range and the other range may share a line. */
bool span_may_hit(const struct span *stored, const struct span *range);
/* Asks whether the stored range and the other range may share a byte. */
bool span_may_overlap(const struct span *stored, const struct span *range);
/* Asks whether `stored` is certainly within `range`, or in a line of it. */
bool span_is_within(const struct span *stored, const struct span *range);
/* Asks whether `stored` is in the line of the address, at any alignment that the type allows. */
bool span_is_in_line(const struct span *stored, const struct value *addr);
bool spans_cover(const struct span *clean, size_t n, const struct span *range);
bool spans_fenced_cover(const struct span *clean, size_t n, const struct span *range);

#endif
