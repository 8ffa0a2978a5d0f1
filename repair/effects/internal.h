/* What the files that follow a function share: frames, expressions, calls. */
#ifndef REPAIR_FLOW_INTERNAL_H
#define REPAIR_FLOW_INTERNAL_H

#include "repair/effects/flow.h"

enum { FLOW_STEPS = 20000, FLOW_DEPTH = 6 };
/* In roots, these come before a number that says when the value was made. */
enum { FLOW_FRESH = '!', FLOW_NUMBER = '$', FLOW_POINTER = '^', FLOW_LOOP = '@' };

/* state.c: asks whether two states are equal */
bool state_is_same(const struct flow_state *a, const struct flow_state *b);
struct value *state_variable(struct flow_state *s, unsigned frame, const char *name);
void state_set(struct flow *flow, struct flow_state *s, unsigned frame, const char *name,
	       struct value v);
void state_store(struct flow *flow, struct flow_state *s, const struct span *to);
void state_store_anywhere(struct flow *flow, struct flow_state *s, const struct flow_frame *f,
			  const struct source_node *n);
void state_flush(struct flow *flow, struct flow_state *s, const struct span *range);
void state_fence(struct flow_state *s);
void state_log(struct flow_state *s, const struct span *range);
/* Notes that the pointer was followed, so it points to memory. */
void state_reach(const struct flow *flow, struct flow_state *s, const struct value *v);
/* Makes the result of one iteration the input of the next: values of this iteration must not be
 * taken for those of the next one. before: the state before the loop; then: the counters at that
 * time. */
void state_leave_round(struct flow *flow, struct flow_state *s, const struct flow_state *before,
		       const struct flow *then, const char *mark);

/* value.c */
extern const struct value value_unknown;
struct value value_number(int64_t n);
struct value value_named(const char *root, const struct source_node *type);
/* Makes a value that equals no other value. */
struct value value_fresh(struct flow *flow, const char *what, const struct source_node *type);
struct value value_add(struct flow *flow, struct value a, struct value b, int64_t scale);
const struct source_node *flow_strip(const struct source_node *n);

static inline void flow_tell(const struct flow_frame *f, enum flow_event what,
			     const struct flow_state *s, const struct source_node *n,
			     const struct span *at)
{
	if (f->flow->observe && !f->flow->why && !s->is_dead)
		f->flow->observe(f, what, s, n, at);
}

/* Counters that name values. What is in only one of two compared versions counts separately, so
 * that later values have the same names in both. */
struct flow_counters {
	unsigned nfresh, versions[2];
};
struct flow_counters flow_aside(struct flow *flow);
void flow_back(struct flow *flow, const struct flow_counters *c);

static inline bool is_only_here(const struct flow_frame *f, const struct source_node *n)
{
	return f->flow->is_only_here && f->flow->is_only_here(f->flow, f->file, n);
}

/* Functions of the upper files that the lower ones call; set by flow_run(). */
struct flow_steps {
	struct value (*call)(struct flow_frame *f, struct flow_state *s,
			     const struct source_node *call);
	void (*execute)(struct flow_frame *f, struct flow_state *s, const struct source_node *n);
	void (*body)(struct flow_frame *f, struct flow_state *s); /* follows the frame's function */
};

/* values.c: evaluates an expression, and applies its effects to the state */
struct value flow_evaluate(struct flow_frame *f, struct flow_state *s, const struct source_node *n);
struct value flow_address(struct flow_frame *f, struct flow_state *s,
			  const struct source_node *lvalue);
struct span flow_span(const struct flow_frame *f, struct value addr, struct value len,
		      const struct source_node *of, const struct source_node *node);

/* calls.c: applies a call to the state, and returns its result */
struct value flow_call(struct flow_frame *f, struct flow_state *s, const struct source_node *call);
struct flow_scope flow_scope(struct flow_frame *f, struct flow_state *s,
			     const struct source_node *declaration, const struct idiom_effect *e);
/* Applies the node's flush or fence to the state. False: the node neither flushes nor fences. */
bool flow_effect(struct flow_frame *f, struct flow_state *s, const struct source_node *n);

#endif
