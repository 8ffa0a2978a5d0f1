/* Lists the stores of a run and finds, with the model, the event that makes each store durable.
 * Which store must be durable before which follows from these numbers, so no edges are kept. */
#include "crash/representative/graph.h"

#include "util/error.h"

static void on_durable(uint64_t seq, void *arg)
{
	struct graph *g = arg;
	struct graph_store *s;
	uint32_t i = graph_find(g, seq);

	if (i == g->stores.n)
		BUG("store %llu became durable before it was seen", (unsigned long long)seq);
	s = &g->stores.at[i];
	if (s->nparts == 0 || --s->nparts > 0)
		return;
	s->durable_seq = g->now_seq;
	if (g->durable_events.n == 0 || g->durable_events.at[g->durable_events.n - 1] != g->now_seq)
		*vec_add(&g->durable_events) = g->now_seq;
}

void graph_init(struct graph *g, const struct platform *platform)
{
	*g = (struct graph){ .platform = platform, .model = model_new(platform, NULL) };
	model_on_durable(g->model, on_durable, g);
}

void graph_release(struct graph *g)
{
	model_free(g->model);
	vec_release(&g->stores);
	vec_release(&g->durable_events);
	vec_release(&g->threads);
	free(g->least);
	*g = (struct graph){ 0 };
}

static uint32_t thread_of(struct graph *g, const struct trace_event *ev)
{
	const uint64_t thread = (uint64_t)ev->stream << 32 | ev->thread;
	size_t i = 0;

	while (i < g->threads.n && g->threads.at[i] != thread)
		i++;
	if (i == g->threads.n)
		*vec_add(&g->threads) = thread;
	return (uint32_t)i;
}

void graph_step(struct graph *g, const struct trace_event *ev)
{
	uint64_t line_bytes = g->platform->line_bytes;
	struct graph_store s;
	uint64_t follows_seq;

	g->now_seq = ev->seq;
	if (trace_is_store(ev->kind) && ev->size_bytes > 0) {
		if (g->stores.n == UINT32_MAX)
			BUG("more than 2^32 stores");
		follows_seq = model_follows(g->model, ev);
		s = (struct graph_store){
			.seq = ev->seq,
			.durable_seq = GRAPH_NEVER,
			.addr = ev->addr,
			.site = ev->site ? ev->site->id : 0,
			.size_bytes = (uint8_t)ev->size_bytes,
			.nparts = (uint8_t)((ev->addr + ev->size_bytes - 1) / line_bytes -
					    ev->addr / line_bytes + 1),
			.is_unordered = platform_is_unordered(g->platform, ev),
			.thread = thread_of(g, ev),
			.follows = follows_seq < ev->seq ? graph_after(g, follows_seq)
							 : (uint32_t)g->stores.n,
		};
		*vec_add(&g->stores) = s;
	}
	model_step(g->model, ev);
}

/* Builds the tree of minima in an array: the children of node i are 2i and 2i + 1, and the leaves
 * begin at index number of stores. */
void graph_end(struct graph *g)
{
	size_t n = g->stores.n;

	model_free(g->model);
	g->model = NULL;
	g->least = xcalloc(2 * n + 1, sizeof *g->least);
	for (size_t i = 0; i < n; i++)
		g->least[n + i] = g->stores.at[i].durable_seq;
	for (size_t i = n; i-- > 1;)
		g->least[i] = g->least[2 * i] < g->least[2 * i + 1] ? g->least[2 * i]
								    : g->least[2 * i + 1];
}

uint64_t graph_line(const struct graph *g, uint32_t store)
{
	const struct graph_store *s = &g->stores.at[store];
	uint64_t line = s->addr / g->platform->line_bytes;

	return s->is_unordered || (s->addr + s->size_bytes - 1) / g->platform->line_bytes != line
		       ? GRAPH_NO_LINE
		       : line;
}

static bool is_overlap(const struct graph_store *a, const struct graph_store *b)
{
	return a->addr < b->addr + b->size_bytes && b->addr < a->addr + a->size_bytes;
}

bool graph_keeps(const struct graph *g, uint32_t older, uint32_t newer)
{
	const struct graph_store *a = &g->stores.at[older], *b = &g->stores.at[newer];

	return a->thread != b->thread || older < b->follows || is_overlap(a, b);
}

bool graph_is_any_durable(const struct graph *g, uint32_t from, uint32_t to, uint64_t seq)
{
	size_t n = g->stores.n, a = n + from, b = n + to;

	for (; a < b; a /= 2, b /= 2) {
		if (a & 1 && g->least[a++] <= seq)
			return true;
		if (b & 1 && g->least[--b] <= seq)
			return true;
	}
	return false;
}

size_t seqs_after(const uint64_t *list, size_t n, uint64_t seq)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle] <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t graph_after(const struct graph *g, uint64_t seq)
{
	uint32_t low = 0, high = (uint32_t)g->stores.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g->stores.at[middle].seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t graph_find(const struct graph *g, uint64_t seq)
{
	uint32_t i = seq ? graph_after(g, seq - 1) : 0;

	return i < g->stores.n && g->stores.at[i].seq == seq ? i : (uint32_t)g->stores.n;
}
