/* The oracle ack-before-durable reports requests that are answered before their stores are durable,
 * if only a fence after the next request completes them. Until then, a crash loses data that was
 * acknowledged. A request is input on standard input or a socket. Its answer is the first output
 * after it, on standard output or that socket; other output is not an answer. Several lines that
 * are read at once (a file, a pipe) count as several requests if that many answers follow before
 * more is read. Whether they do is known only then, so such findings wait until then. Only stores,
 * flushes and fences of the thread that answers count. Not reported: a late fence that comes before
 * the next request; stores that are never durable (the durability oracle reports these); a store
 * that is not flushed before the answer, if its line is stored to again before its flush: that
 * flush is for the later store (counters, locks). */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/vec.h"

#define STORES_MAX 4096u /* per request; further stores are ignored */

static const char KIND[] = "ack-before-durable";

/* A store that is not durable yet. */
struct waiting {
	uint64_t addr, seq;
	uint32_t size_bytes;
	/* flush and answer are NULL until they come */
	const struct trace_site *site, *flush, *answer;
	bool is_second;       /* doubtful: not the first answer since something was read */
	bool has_next;        /* doubtful: the next of several requests is being handled */
	bool is_later;        /* the next request has come */
	bool is_flushed_late; /* flushed after the answer */
};

/* A thread that answers requests. */
struct server {
	uint32_t stream, thread;
	uint64_t fd; /* descriptor of the requests */
	/* requests that were read one after the other, and outputs since then */
	uint64_t asked, answered;
	uint32_t tx_depth;
	/* stores since the request, and stores of earlier requests that still wait */
	VEC(struct waiting) stores;
	/* stores that are a fault if there are as many answers as requests */
	VEC(struct waiting) doubtful;
};

struct state {
	VEC(struct server) servers; /* few */
};

static void *acknowledged_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void acknowledged_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->servers.n; i++) {
		vec_release(&s->servers.at[i].stores);
		vec_release(&s->servers.at[i].doubtful);
	}
	vec_release(&s->servers);
	free(s);
}

/* Finds what is kept for the thread of an event; NULL: the thread has had no request. */
static struct server *server_of(struct state *s, const struct trace_event *ev)
{
	for (size_t i = 0; i < s->servers.n; i++)
		if (s->servers.at[i].stream == ev->stream && s->servers.at[i].thread == ev->thread)
			return &s->servers.at[i];
	return NULL;
}

/* ---- requests and answers ---- */

static void report(struct check *c, const struct waiting *w)
{
	const bool has_flush = w->flush && w->flush != w->site;
	struct finding f = {
		.kind = KIND,
		.message =
			has_flush
				? "the request is answered before this store is fenced; only a later request's fence makes it durable"
				: "the request is answered before this store is durable; only a later request's fence makes it "
				  "durable",
		.first_seq = w->seq,
		.nplaces = 2,
		.places = { { "store", w->site }, { "acknowledged", w->answer } }
	};

	if (has_flush && !w->is_flushed_late)
		f.places[f.nplaces++] = (struct finding_place){ "flush", w->flush };
	if (!check_is_ignored(c, w->addr, w->size_bytes))
		check_report(c, &f);
}

/* Decides about doubtful stores when more is read, or at the end: were there as many answers as
 * requests? Stores for a request that nobody answered, or outside of requests, are dropped. */
static void settle(struct server *v, struct check *c)
{
	const bool is_each_answered = v->answered == v->asked;
	size_t n = 0;

	for (size_t i = 0; is_each_answered && i < v->doubtful.n; i++)
		report(c, &v->doubtful.at[i]);
	v->doubtful.n = 0;
	for (size_t i = 0; i < v->stores.n; i++) {
		const struct waiting *w = &v->stores.at[i];

		if (w->answer && (is_each_answered || !w->is_second)) {
			v->stores.at[n] = *w;
			v->stores.at[n++].is_later = true;
		}
	}
	v->stores.n = n;
}

static void begin_request(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct server *v = server_of(s, ev);

	if (!v) {
		v = vec_add(&s->servers);
		*v = (struct server){ .stream = ev->stream, .thread = ev->thread };
	}
	settle(v, c);
	if (v->answered > 0 || v->fd != ev->arg[0])
		v->asked = v->answered = 0;
	v->fd = ev->arg[0];
	v->asked++;
}

static bool has_request(const struct server *v)
{
	return v->answered < v->asked;
}

static void answer(struct server *v, const struct trace_event *ev)
{
	if (ev->arg[0] != v->fd && !(v->fd == 0 && ev->arg[0] == 1))
		return;
	if (v->answered++ >= v->asked)
		return;
	for (size_t i = 0; i < v->stores.n; i++) {
		struct waiting *w = &v->stores.at[i];

		if (w->answer) {
			w->has_next = true;
		} else {
			w->answer = ev->site;
			w->is_second = v->answered > 1;
		}
	}
}

/* ---- stores ---- */

static bool is_same_line(uint64_t a, uint64_t b)
{
	return a / PMT_LINE_BYTES == b / PMT_LINE_BYTES;
}

/* Drops stores to this line that were answered and not flushed: if a flush comes, it is for the new
 * store. */
static void forget_line(struct server *v, const struct trace_event *ev)
{
	size_t n = 0;

	for (size_t i = 0; i < v->stores.n; i++) {
		const struct waiting *w = &v->stores.at[i];

		if (!w->answer || w->flush || !is_same_line(w->addr, ev->addr))
			v->stores.at[n++] = *w;
	}
	v->stores.n = n;
}

static void note_store(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct server *v = server_of(s, ev);

	for (size_t i = 0; i < s->servers.n; i++)
		forget_line(&s->servers.at[i], ev);
	if (!v || !has_request(v) || v->tx_depth > 0 || v->stores.n >= STORES_MAX ||
	    check_is_pmdk_code(ev->site) || check_is_ignored(c, ev->addr, ev->size_bytes))
		return;
	for (size_t i = 0; i < v->stores.n; i++)
		v->stores.at[i].has_next = v->stores.at[i].answer != NULL;
	*vec_add(&v->stores) =
		(struct waiting){ .addr = ev->addr,
				  .seq = ev->seq,
				  .size_bytes = ev->size_bytes,
				  .site = ev->site,
				  .flush = platform_is_unordered(check_platform(c), ev) ? ev->site
											: NULL };
}

/* ---- stores that become durable ---- */

static bool is_within(const struct waiting *w, struct range r)
{
	return w->addr < r.to && w->addr + w->size_bytes > r.from;
}

/* Marks stores in r as durable: those that were flushed, or all. */
static void complete(struct server *v, struct check *c, struct range r, bool is_all)
{
	size_t n = 0;

	for (size_t i = 0; i < v->stores.n; i++) {
		const struct waiting *w = &v->stores.at[i];

		if (!is_within(w, r) || (!is_all && !w->flush))
			v->stores.at[n++] = *w;
		else if (w->is_later)
			report(c, w);
		else if (w->has_next)
			*vec_add(&v->doubtful) = *w;
	}
	v->stores.n = n;
}

static void note_flush(struct server *v, const struct trace_event *ev, struct range line)
{
	for (size_t i = 0; i < v->stores.n; i++)
		if (is_within(&v->stores.at[i], line) && !v->stores.at[i].flush) {
			v->stores.at[i].flush = ev->site;
			v->stores.at[i].is_flushed_late = v->stores.at[i].answer != NULL;
		}
}

static void note_durability(struct server *v, struct check *c, const struct trace_event *ev)
{
	static const struct range everything = { 0, UINT64_MAX };
	const struct range written = check_written_back(c, ev);

	if (platform_flush(check_platform(c), ev->kind) == FLUSH_AT_FENCE)
		note_flush(v, ev, written);
	else if (written.to > written.from)
		complete(v, c, written, true);
	else if (model_completes(check_model(c), ev) && !check_is_runtime_code(ev->site))
		complete(v, c, everything, false);
}

static void acknowledged_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	struct server *v;

	if (ev->kind == PMT_INPUT)
		begin_request(s, c, ev);
	if (s->servers.n == 0)
		return;
	v = server_of(s, ev);
	if (v)
		note_durability(v, c, ev); /* a locked instruction is a fence before it stores */
	if (trace_is_store(ev->kind))
		note_store(s, c, ev);
	else if (v && ev->kind == PMT_OUTPUT)
		answer(v, ev);
	else if (v && (ev->kind == PMT_TX_BEGIN || ev->kind == PMT_TX_JOIN))
		v->tx_depth++;
	else if (v && (ev->kind == PMT_TX_END || ev->kind == PMT_TX_LEAVE))
		v->tx_depth -= v->tx_depth > 0;
}

static void acknowledged_finish(void *arg, struct check *c)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->servers.n; i++)
		settle(&s->servers.at[i], c);
}

/* Is the oracle asleep? It is until the first request. */
static bool acknowledged_is_asleep(const void *state, const struct check *c)
{
	(void)c;
	return ((const struct state *)state)->servers.n == 0;
}

const struct oracle oracle_acknowledged = {
	.name = "acknowledged",
	.help = "requests that are answered before they are durable: ack-before-durable",
	.classes = EVENT_STORE | EVENT_FLUSH | EVENT_FENCE,
	.is_asleep = acknowledged_is_asleep,
	.begin = acknowledged_begin,
	.step = acknowledged_step,
	.finish = acknowledged_finish,
	.end = acknowledged_end,
};
