/* A function followed on all paths at once: what was stored and not written back yet, what was
 * written back and not stored to since, whether a fence has anything to wait for; for those who
 * observe, also what is not fenced yet, what is logged, and which pointers lead somewhere. */
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
	bool is_fenced;  /* since it was written back */
	bool is_aside;   /* only one of two versions does it: flow_aside() */
};

enum { FLOW_SPANS = 40, FLOW_VARIABLES = 64, FLOW_LOGGED = 16, FLOW_REACHED = 128 };

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
	/* only if somebody observes: */
	struct span pending[FLOW_SPANS];   /* on some path: stored, written back, and not fenced */
	struct span logged[FLOW_LOGGED];   /* on every path, by the transaction */
	struct span perhaps[FLOW_LOGGED];  /* logged on some path */
	const char *reached[FLOW_REACHED]; /* on every path: roots that led to memory */
	size_t npending, nlogged, nperhaps, nreached;
};

/* Called each time that the statement is reached, without what it does. effect: the range is
 * `at`. */
struct flow;
typedef void flow_judge(struct flow *flow, const struct flow_state *s,
			const struct idiom_effect *effect, const struct span *at);

/* Called at each of these, with what holds before it. at: the range; NULL if there is none. */
enum flow_event {
	FLOW_STORE,
	FLOW_FLUSH,
	FLOW_FENCE,
	FLOW_LOG,
	FLOW_FREE,
	FLOW_UNSEEN, /* what may do anything */
	FLOW_OUTPUT,
	FLOW_RETURN, /* also where the body ends: `n` is the body then */
};
struct flow_frame;
typedef void flow_observer(const struct flow_frame *f, enum flow_event what,
			   const struct flow_state *s, const struct source_node *n,
			   const struct span *at);

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
	flow_judge *judge;      /* of the target; NULL: there is none */
	flow_observer *observe; /* NULL: nobody */
	/* only one of two versions that are compared has this statement or call; NULL: none is */
	bool (*is_only_here)(const struct flow *flow, const struct file *f,
			     const struct source_node *n);
	void *to; /* of the judge, or of the observer */
	/* what came of it */
	unsigned njudged;
	const char *why;             /* it cannot be followed; NULL */
	struct span did[FLOW_SPANS]; /* written back on some path */
	size_t ndid;
	/* own */
	const struct flow_steps *steps;
	unsigned nsteps, nframes, nfresh, naside;
	unsigned versions[2]; /* of what memory holds: of numbers, and of pointers */
};

enum { FLOW_GOTOS = 8, FLOW_SCOPES = 8 };

/* An object that writes back when it ends: what it was given, as that was when it was declared. */
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
	const struct source_node *call; /* of the outer one; NULL: nobody called it */
	unsigned id, depth;
	struct value this, result;
	unsigned nreturns;
	struct flow_state *returned; /* all that return, joined */
	/* of the innermost loop or switch; entered: of a switch */
	struct flow_state *broken, *continued, *entered;
	struct {
		const char *label;
		struct flow_state *state;
	} gotos[FLOW_GOTOS];
	size_t ngotos;
	struct flow_scope scopes[FLOW_SCOPES]; /* of the blocks around */
	size_t nscopes;
};

void flow_run(struct flow *flow, const struct source_unit *u, const struct source_function *top);
/* only those that hold at the statement */
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
void callers_open(struct repair *r, const struct source_function *f); /* reads their files */
bool function_is_passed_on(struct repair *r, const struct source_function *f);
void callers_find(struct repair *r, const struct source_function *f, struct callers *c);

/* state.c */
struct flow_state *state_new(void); /* dead */
struct flow_state *state_copy(const struct flow_state *s);
void state_join(struct flow *flow, struct flow_state *to, const struct flow_state *from);
/* The pointer was followed on every path. */
bool state_is_reached(const struct flow *flow, const struct flow_state *s, const struct value *v);

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
bool spans_fenced_cover(const struct span *clean, size_t n, const struct span *range);

#endif
