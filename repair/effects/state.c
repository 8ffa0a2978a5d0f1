/* Keeps the state at one place of a function: joins states where paths meet, and changes them by
 * stores, flushes and fences. A state has limited room; a store that does not fit becomes a store
 * to anywhere. */
#include <string.h>

#include "repair/effects/internal.h"

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

static void add_pending(struct flow_state *s, const struct span *x)
{
	if (has_span(s->pending, s->npending, x))
		return;
	if (s->npending == FLOW_SPANS)
		s->pending[FLOW_SPANS - 1].addr = value_unknown;
	else
		s->pending[s->npending++] = *x;
}

/* Like spans_cover(), for ranges that were also fenced. */
bool spans_fenced_cover(const struct span *clean, size_t n, const struct span *range)
{
	struct span fenced[FLOW_SPANS];
	size_t nfenced = 0;

	for (size_t i = 0; i < n; i++)
		if (clean[i].is_fenced)
			fenced[nfenced++] = clean[i];
	return spans_cover(fenced, nfenced, range);
}

static bool has_root(const struct flow_state *s, const char *root)
{
	for (size_t i = 0; i < s->nreached; i++)
		if (strcmp(s->reached[i], root) == 0)
			return true;
	return false;
}

static void add_logged(struct span *list, size_t *n, const struct span *range)
{
	if (*n < FLOW_LOGGED && range->addr.is_known && !has_span(list, *n, range))
		list[(*n)++] = *range;
}

static void join_observed(struct flow_state *to, const struct flow_state *from)
{
	size_t n = 0;

	for (size_t i = 0; i < from->npending; i++)
		add_pending(to, &from->pending[i]);
	for (size_t i = 0; i < to->nclean; i++)
		to->clean[i].is_fenced &=
			spans_fenced_cover(from->clean, from->nclean, &to->clean[i]);
	for (size_t i = 0; i < to->nlogged; i++)
		if (spans_cover(from->logged, from->nlogged, &to->logged[i]))
			to->logged[n++] = to->logged[i];
	to->nlogged = n;
	for (size_t i = 0; i < from->nperhaps; i++)
		add_logged(to->perhaps, &to->nperhaps, &from->perhaps[i]);
	n = 0;
	for (size_t i = 0; i < to->nreached; i++)
		if (has_root(from, to->reached[i]))
			to->reached[n++] = to->reached[i];
	to->nreached = n;
}

void state_log(struct flow_state *s, const struct span *range)
{
	add_logged(s->logged, &s->nlogged, range);
	add_logged(s->perhaps, &s->nperhaps, range);
}

/* Returns the root without the counters that say when memory was read. (forget_reached() knows
 * which reads a store may change.) */
static const char *timeless(const struct flow *flow, const char *root)
{
	char *out, *to;

	if (!strpbrk(root, "^$"))
		return root;
	out = to = arena_alloc(&flow->r->code->arena, strlen(root) + 1);
	for (const char *p = root; *p; p++) {
		*to++ = *p;
		if (*p == FLOW_POINTER || *p == FLOW_NUMBER)
			p += strspn(p + 1, "0123456789");
	}
	*to = 0;
	return out;
}

void state_reach(const struct flow *flow, struct flow_state *s, const struct value *v)
{
	const char *root = flow->observe && v->is_known && v->root ? timeless(flow, v->root) : NULL;

	if (root && !has_root(s, root) && s->nreached < FLOW_REACHED)
		s->reached[s->nreached++] = root;
}

/* Forgets pointers that were loaded from the bytes of a store: they may be others now. Members at
 * other offsets stay. */
static void forget_reached(const struct flow *flow, struct flow_state *s, const struct span *to)
{
	const char *load =
		to->addr.is_known ? text_format(flow->r->code, "%+lld]", (long long)to->addr.offset)
				  : "]";
	size_t n = 0;

	for (size_t i = 0; i < s->nreached; i++)
		if (!strstr(s->reached[i], load))
			s->reached[n++] = s->reached[i];
	s->nreached = n;
}

/* Asks whether the pointer points to memory, not to NULL: it is the address of a variable, or it or
 * a pointer derived from it was already followed on this path. */
bool state_is_reached(const struct flow *flow, const struct flow_state *s, const struct value *v)
{
	const char *root;

	if (!v->is_known || !v->root || v->is_own || v->root[0] == '&' ||
	    strncmp(v->root, "this", 4) == 0)
		return true;
	root = timeless(flow, v->root);
	for (size_t i = 0; i < s->nreached; i++) {
		size_t len = strlen(s->reached[i]);

		if (strncmp(s->reached[i], root, len) == 0 && (root[len] == 0 || root[len] == '+'))
			return true;
		/* if p[i] was followed, p points to memory */
		if (strncmp(s->reached[i], root, strlen(root)) == 0 &&
		    s->reached[i][strlen(root)] == '+')
			return true;
	}
	return false;
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
	join_observed(to, from);
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
	    a->may_store != b->may_store || a->ndirty != b->ndirty || a->nclean != b->nclean ||
	    a->npending != b->npending || a->nlogged != b->nlogged || a->nreached != b->nreached)
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
	struct span stored;
	size_t n = 0;

	flow->versions[0]++;
	flow->versions[1] += to->is_pointer;
	if (to->addr.is_own)
		return;
	s->may_store = true;
	if (flow->observe && (to->is_pointer || !to->addr.is_known))
		forget_reached(flow, s, to);
	state_reach(flow, s, &to->addr);
	/* the rest of the line is not written back: see s->dirty */
	for (size_t i = 0; i < s->nclean; i++)
		if (!span_may_overlap(to, &s->clean[i]))
			s->clean[n++] = s->clean[i];
	s->nclean = n;
	stored = *to;
	stored.is_aside = flow->naside > 0;
	add_dirty(s, &stored);
}

void state_store_anywhere(struct flow *flow, struct flow_state *s, const struct flow_frame *f,
			  const struct source_node *n)
{
	struct span anywhere = { .node = n, .file = f->file, .line = n->line, .is_pointer = true };

	if (flow->naside)
		return; /* a call that the user gave (--flush-call), or one that is removed */
	flow_tell(f, FLOW_UNSEEN, s, n, NULL);
	state_store(flow, s, &anywhere);
	s->may_wait = true;
}

void state_flush(struct flow *flow, struct flow_state *s, const struct span *range)
{
	size_t n = 0;

	s->may_wait = true;
	if (!range->addr.is_known)
		return;
	state_reach(flow, s, &range->addr);
	for (size_t i = 0; flow->observe && i < s->ndirty; i++)
		if (span_is_within(&s->dirty[i], range))
			add_pending(s, &s->dirty[i]);
	for (size_t i = 0; i < s->ndirty; i++)
		if (!span_is_within(&s->dirty[i], range))
			s->dirty[n++] = s->dirty[i];
	s->ndirty = n;
	if (flow->observe && spans_cover(s->clean, s->nclean, range))
		; /* covered already; whether that is fenced does not change */
	else if (s->nclean < FLOW_SPANS)
		s->clean[s->nclean++] = *range;
	if (flow->ndid < FLOW_SPANS && !has_span(flow->did, flow->ndid, range))
		flow->did[flow->ndid++] = *range;
}

void state_fence(struct flow_state *s)
{
	s->may_wait = s->may_store = false;
	s->npending = 0;
	for (size_t i = 0; i < s->nclean; i++)
		s->clean[i].is_fenced = true;
}

static bool is_newer(const char *root, char what, unsigned then)
{
	for (const char *p = root; (p = strchr(p, what)); p++)
		if (strtoul(p + 1, NULL, 10) >= then)
			return true;
	return false;
}

/* Asks whether the root of the value (the variable that its address begins with) may be different
 * in the next iteration. */
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
	for (size_t i = 0; i < s->npending; i++)
		if (is_of_round(&s->pending[i].addr, then, mark))
			s->pending[i].addr.root =
				text_format(flow->r->code, "~%u", s->pending[i].node->begin);
	n = 0;
	for (size_t i = 0; i < s->nlogged; i++)
		if (has_span(before->logged, before->nlogged, &s->logged[i]) ||
		    (!is_of_round(&s->logged[i].addr, then, mark) &&
		     !is_of_round(&s->logged[i].len, then, mark)))
			s->logged[n++] = s->logged[i];
	s->nlogged = n;
	n = 0;
	for (size_t i = 0; i < s->nreached; i++) {
		const struct value v = { .is_known = true, .root = s->reached[i] };

		if (has_root(before, v.root) || !is_of_round(&v, then, mark))
			s->reached[n++] = v.root;
	}
	s->nreached = n;
	n = 0;
	for (size_t i = 0; i < s->nclean; i++)
		if (has_span(before->clean, before->nclean, &s->clean[i]) ||
		    (!is_of_round(&s->clean[i].addr, then, mark) &&
		     !is_of_round(&s->clean[i].len, then, mark)))
			s->clean[n++] = s->clean[i];
	s->nclean = n;
}
