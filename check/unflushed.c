/* Bytes that wait for a write-back, in one set per store instruction. There are few such
 * instructions, so the sets are searched one after the other. */
#include "check/unflushed.h"

void unflushed_clear(struct unflushed *u)
{
	for (size_t i = 0; i < u->sites.n; i++)
		ranges_release(&u->sites.at[i].bytes);
	u->sites.n = 0;
}

void unflushed_release(struct unflushed *u)
{
	unflushed_clear(u);
	vec_release(&u->sites);
}

void unflushed_add(struct unflushed *u, const struct trace_event *ev)
{
	size_t i = 0;

	while (i < u->sites.n && u->sites.at[i].site != ev->site)
		i++;
	if (i == u->sites.n)
		*vec_add(&u->sites) = (struct unflushed_site){ .site = ev->site };
	if (u->sites.at[i].bytes.list.n == 0) {
		u->sites.at[i].seq = ev->seq;
		u->sites.at[i].stream = ev->stream;
		u->sites.at[i].thread = ev->thread;
	}
	ranges_add(&u->sites.at[i].bytes, ev->addr, ev->size_bytes);
}

void unflushed_remove(struct unflushed *u, uint64_t addr, uint64_t len_bytes)
{
	for (size_t i = 0; i < u->sites.n; i++)
		ranges_remove(&u->sites.at[i].bytes, addr, len_bytes);
}

bool unflushed_touch(const struct unflushed *u, const struct ranges *bytes)
{
	for (size_t i = 0; i < u->sites.n; i++)
		for (size_t k = 0; k < bytes->list.n; k++)
			if (ranges_touch(&u->sites.at[i].bytes, bytes->list.at[k].from,
					 bytes->list.at[k].to - bytes->list.at[k].from))
				return true;
	return false;
}
