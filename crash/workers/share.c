/* Divides failure points into spans. A span goes to the shard with the lowest cost so far, and ends
 * when it costs a small part of everything before it. So the number of failure points need not be
 * known. Windows are not divided. */
#include "crash/workers/share.h"

#include <stdlib.h>

#include "util/alloc.h"

#define SPANS 24u /* spans per shard before the trace doubles in length */

void share_release(struct share *s)
{
	vec_release(&s->spans);
	*s = (struct share){ 0 };
}

uint64_t share_at(const struct share *s, uint64_t i)
{
	size_t low = 0, high = s->spans.n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (s->spans.at[middle].before <= i)
			low = middle;
		else
			high = middle;
	}
	return s->spans.at[low].first + (i - s->spans.at[low].before);
}

void dealer_init(struct dealer *d, struct shard s)
{
	*d = (struct dealer){ .shard = s.of ? s : (struct shard){ 1, 1 }, .next = 1 };
	d->loads = xcalloc(d->shard.of, sizeof *d->loads);
}

void dealer_release(struct dealer *d)
{
	free(d->loads);
}

static void begin_span(struct dealer *d)
{
	for (uint32_t i = d->owner = 0; i < d->shard.of; i++)
		if (d->loads[i] < d->loads[d->owner])
			d->owner = i;
	d->span_cost = 0;
	d->has_span = true;
}

static void take(struct dealer *d, struct share *own)
{
	struct share_span *last = own->spans.n > 0 ? &own->spans.at[own->spans.n - 1] : NULL;

	if (last && last->first + last->n == d->next)
		last->n++;
	else
		*vec_add(&own->spans) = (struct share_span){ d->next, 1, own->n };
	own->n++;
}

bool dealer_add(struct dealer *d, uint64_t cost, struct share *own)
{
	const uint64_t together = d->together ? d->together : 1;
	bool is_ours;

	if (!d->has_span)
		begin_span(d);
	is_ours = d->owner + 1 == d->shard.index;
	if (is_ours)
		take(d, own);
	d->next++;
	d->total += cost;
	d->span_cost += cost;
	d->loads[d->owner] += cost;
	if (d->span_cost * SPANS * d->shard.of >= d->total && (d->next - 1) % together == 0)
		d->has_span = false;
	return is_ours;
}
