/* Makes values and adds them. The name of a value (its root) says how it was computed. */
#include "repair/effects/internal.h"

const struct value value_unknown;

struct value value_number(int64_t n)
{
	return (struct value){ .is_known = true, .offset = n };
}

struct value value_named(const char *root, const struct source_node *type)
{
	return (struct value){ .is_known = true,
			       .root = root,
			       .align_bytes = type ? type->target_align_bytes : 0 };
}

struct value value_fresh(struct flow *flow, const char *what, const struct source_node *type)
{
	return value_named(
		text_format(flow->r->code, "%s%c%u", what ? what : "", FLOW_FRESH, flow->nfresh++),
		type);
}

enum { ASIDE = 1 << 24 }; /* larger than all other counters */

struct flow_counters flow_aside(struct flow *flow)
{
	const struct flow_counters now = { flow->nfresh, { flow->versions[0], flow->versions[1] } };

	flow->naside++;
	flow->nfresh += flow->naside * ASIDE;
	return now;
}

void flow_back(struct flow *flow, const struct flow_counters *c)
{
	flow->naside--;
	flow->nfresh = c->nfresh;
	flow->versions[0] = c->versions[0];
	flow->versions[1] = c->versions[1];
}

const struct source_node *flow_strip(const struct source_node *n)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last && !n->has_value)
		n = n->child;
	return n;
}

static uint32_t low_bit(int64_t n)
{
	return n ? (uint32_t)(n & -n) : 64;
}

struct value value_add(struct flow *flow, struct value a, struct value b, int64_t scale)
{
	struct value sum = a;

	if (!a.is_known || !b.is_known || b.is_least || a.is_least)
		return value_fresh(flow, "sum", NULL);
	sum.offset += b.offset * scale;
	if (!b.root)
		return sum;
	sum.is_own |= b.is_own;
	if (!a.root && scale == 1) {
		sum.root = b.root;
		sum.align_bytes = b.align_bytes;
		return sum;
	}
	sum.root = text_format(flow->r->code, "%s+%s*%lld", a.root ? a.root : "", b.root,
			       (long long)scale);
	sum.align_bytes = a.align_bytes < low_bit(scale) ? a.align_bytes : low_bit(scale);
	return sum;
}
