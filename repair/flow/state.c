/* What is known at one place of a function: joined where paths meet, changed by stores, flushes and
 * fences. Room is limited: what does not fit is a store to anywhere. */
#include <string.h>

#include "repair/flow/internal.h"

struct flow_state *state_new(void)
{
	struct flow_state *s = xcalloc(1, sizeof *s);

	s->is_dead = true;
	return s;
}

struct flow_state *state_copy(const struct flow_state *s)
{
	struct flow_state *copy = xcalloc(1, sizeof *copy);

	*copy = *s;
	return copy;
}

static bool is_same_value(const struct value *a, const struct value *b)
{
	return a->is_known == b->is_known && a->offset == b->offset && a->is_least == b->is_least &&
	       (a->root == b->root || (a->root && b->root && strcmp(a->root, b->root) == 0));
}

static bool is_same_span(const struct span *a, const struct span *b)
{
	return a->node == b->node && is_same_value(&a->addr, &b->addr) &&
	       is_same_value(&a->len, &b->len);
}

static bool has_span(const struct span *list, size_t n, const struct span *s)
{
	for (size_t i = 0; i < n; i++)
		if (is_same_span(&list[i], s))
			return true;
	return false;
}

static void add_dirty(struct flow_state *s, const struct span *x)
{
	if (has_span(s->dirty, s->ndirty, x))
		return;
	if (s->ndirty == FLOW_SPANS)
		s->dirty[FLOW_SPANS - 1].addr = value_unknown;
	else
		s->dirty[s->ndirty++] = *x;
}

struct value *state_variable(struct flow_state *s, unsigned frame, const char *name)
{
	for (size_t i = s->nvariables; name && i-- > 0;)
		if (s->variables[i].frame == frame && strcmp(s->variables[i].name, name) == 0)
			return &s->variables[i].value;
	return NULL;
}

void state_set(struct flow *flow, struct flow_state *s, unsigned frame, const char *name,
	       struct value v)
{
	struct value *there = state_variable(s, frame, name);

	if (there) {
		*there = v;
	} else if (s->nvariables < FLOW_VARIABLES) {
		s->variables[s->nvariables].name = name;
		s->variables[s->nvariables].frame = frame;
		s->variables[s->nvariables++].value = v;
	} else {
		flow->why = "the function has too many variables";
	}
}

void state_join(struct flow *flow, struct flow_state *to, const struct flow_state *from)
{
	size_t n = 0;

	if (from->is_dead)
		return;
	if (to->is_dead) {
		*to = *from;
		return;
	}
	to->may_wait |= from->may_wait;
	to->may_store |= from->may_store;
	for (size_t i = 0; i < from->ndirty; i++)
		add_dirty(to, &from->dirty[i]);
	for (size_t i = 0; i < to->nclean; i++)
		if (spans_cover(from->clean, from->nclean, &to->clean[i]))
			to->clean[n++] = to->clean[i];
	to->nclean = n;
	for (size_t i = 0; i < to->nvariables; i++) {
		const struct value *other = state_variable(
			(struct flow_state *)from, to->variables[i].frame, to->variables[i].name);

		if (!other || !is_same_value(&to->variables[i].value, other))
			to->variables[i].value = value_fresh(flow, to->variables[i].name, NULL);
	}
}

bool state_is_same(const struct flow_state *a, const struct flow_state *b)
{
	if (a->is_dead != b->is_dead || a->may_wait != b->may_wait ||
	    a->may_store != b->may_store || a->ndirty != b->ndirty || a->nclean != b->nclean)
		return false;
	for (size_t i = 0; i < a->ndirty; i++)
		if (!has_span(b->dirty, b->ndirty, &a->dirty[i]))
			return false;
	for (size_t i = 0; i < a->nclean; i++)
		if (!has_span(b->clean, b->nclean, &a->clean[i]))
			return false;
	return true;
}

void state_store(struct flow *flow, struct flow_state *s, const struct span *to)
{
	size_t n = 0;

	flow->versions[0]++;
	flow->versions[1] += to->is_pointer;
	if (to->addr.is_own)
		return;
	s->may_store = true;
	/* what else is in its line is not written back yet: s->dirty */
	for (size_t i = 0; i < s->nclean; i++)
		if (!span_may_overlap(to, &s->clean[i]))
			s->clean[n++] = s->clean[i];
	s->nclean = n;
	add_dirty(s, to);
}

void state_store_anywhere(struct flow *flow, struct flow_state *s, const struct flow_frame *f,
			  const struct source_node *n)
{
	struct span anywhere = { .node = n, .file = f->file, .line = n->line, .is_pointer = true };

	state_store(flow, s, &anywhere);
	s->may_wait = true;
}

void state_flush(struct flow *flow, struct flow_state *s, const struct span *range)
{
	size_t n = 0;

	s->may_wait = true;
	if (!range->addr.is_known)
		return;
	for (size_t i = 0; i < s->ndirty; i++)
		if (!span_is_within(&s->dirty[i], range))
			s->dirty[n++] = s->dirty[i];
	s->ndirty = n;
	if (s->nclean < FLOW_SPANS)
		s->clean[s->nclean++] = *range;
	if (flow->ndid < FLOW_SPANS && !has_span(flow->did, flow->ndid, range))
		flow->did[flow->ndid++] = *range;
}

void state_fence(struct flow_state *s)
{
	s->may_wait = s->may_store = false;
}

static bool is_newer(const char *root, char what, unsigned then)
{
	for (const char *p = root; (p = strchr(p, what)); p++)
		if (strtoul(p + 1, NULL, 10) >= then)
			return true;
	return false;
}

/* A root that may stand for something else in the next round. */
static bool is_of_round(const struct value *v, const struct flow *then, const char *mark)
{
	return v->is_known && v->root && v->root[0] != '~' &&
	       (strstr(v->root, mark) || is_newer(v->root, FLOW_FRESH, then->nfresh) ||
		is_newer(v->root, FLOW_NUMBER, then->versions[0] + 1) ||
		is_newer(v->root, FLOW_POINTER, then->versions[1] + 1));
}

void state_leave_round(struct flow *flow, struct flow_state *s, const struct flow_state *before,
		       const struct flow *then, const char *mark)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ndirty; i++) {
		struct span x = s->dirty[i];

		if (!has_span(before->dirty, before->ndirty, &x) &&
		    is_of_round(&x.addr, then, mark))
			x.addr.root = text_format(flow->r->code, "~%u", x.node->begin);
		if (!has_span(before->dirty, before->ndirty, &x) && is_of_round(&x.len, then, mark))
			x.len = value_unknown;
		if (!has_span(s->dirty, n, &x))
			s->dirty[n++] = x;
	}
	s->ndirty = n;
	n = 0;
	for (size_t i = 0; i < s->nclean; i++)
		if (has_span(before->clean, before->nclean, &s->clean[i]) ||
		    (!is_of_round(&s->clean[i].addr, then, mark) &&
		     !is_of_round(&s->clean[i].len, then, mark)))
			s->clean[n++] = s->clean[i];
	s->nclean = n;
}
