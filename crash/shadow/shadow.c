/* Follows stores, write-backs and fences, and keeps for each byte of PM who stored it last and
 * whether that store is durable. shadow_internal.h has the layout of a line. */
#include "crash/shadow/shadow_internal.h"

#include <string.h>
#include <sys/mman.h>

struct shadow *shadow_new(const struct model *m, const struct model_image *image,
			  struct commits *commits)
{
	struct shadow *s = xcalloc(1, sizeof *s);

	s->model = m;
	s->platform = model_platform(m);
	if (image)
		s->image = *image;
	if (commits) {
		s->commits = *commits;
		*commits = (struct commits){ 0 };
	}
	return s;
}

void shadow_free(struct shadow *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->lines.n; i++) {
		vec_release(&s->lines.at[i]->writes);
		free(s->lines.at[i]);
	}
	for (size_t i = 0; i < s->threads.n; i++) {
		vec_release(&s->threads.at[i]->waits);
		free(s->threads.at[i]);
	}
	vec_release(&s->lines);
	vec_release(&s->threads);
	vec_release(&s->open);
	vec_release(&s->blocks);
	map_release(&s->by_addr);
	commits_release(&s->commits);
	free(s);
}

const struct commits *shadow_commits(const struct shadow *s)
{
	return &s->commits;
}

/* ---- lines ---- */

static void read_initial(const struct shadow *s, uint64_t addr, uint8_t *to, uint32_t len_bytes)
{
	memset(to, 0, len_bytes);
	if (s->image.read)
		s->image.read(s->image.arg, addr, to, len_bytes);
}

static struct line *line_get(struct shadow *s, uint64_t addr)
{
	struct line *l = shadow_line(s, addr);

	if (l)
		return l;
	l = xcalloc(1, sizeof *l);
	l->addr = addr / SHADOW_LINE * SHADOW_LINE;
	read_initial(s, l->addr, l->value, SHADOW_LINE);
	map_set(&s->by_addr, l->addr, l);
	*vec_add(&s->lines) = l;
	return l;
}

/* Removes writes that no byte refers to. */
static void line_compact(struct line *l)
{
	uint8_t to[WRITES_MAX + 1] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < SHADOW_LINE; i++)
		to[l->last[i]] = to[l->changed[i]] = 1;
	for (size_t i = 0; i < l->writes.n; i++)
		if (to[i + 1]) {
			l->writes.at[n++] = l->writes.at[i];
			to[i + 1] = (uint8_t)n;
		}
	to[0] = 0;
	for (size_t i = 0; i < SHADOW_LINE; i++) {
		l->last[i] = to[l->last[i]];
		l->changed[i] = to[l->changed[i]];
	}
	l->writes.n = n;
}

static void line_to_front(struct shadow *s, struct line *l)
{
	if (s->newest == l)
		return;
	if (l->newer)
		l->newer->older = l->older;
	if (l->older)
		l->older->newer = l->newer;
	l->newer = NULL;
	l->older = s->newest;
	if (s->newest)
		s->newest->newer = l;
	s->newest = l;
}

/* ---- the persistence state ---- */

static struct thread *thread_of(struct shadow *s, const struct trace_event *ev)
{
	struct thread *t;

	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i]->stream == ev->stream &&
		    s->threads.at[i]->number == ev->thread)
			return s->threads.at[i];
	t = xcalloc(1, sizeof *t);
	t->stream = ev->stream;
	t->number = ev->thread;
	*vec_add(&s->threads) = t;
	return t;
}

/* Notes that the thread's next fence completes this line. A line that is flushed repeatedly without
 * a fence is noted once. */
static void thread_wait(struct thread *t, struct line *l, uint64_t upto)
{
	if (l->waiter == t && l->wait < t->waits.n && t->waits.at[l->wait].line == l) {
		if (upto > t->waits.at[l->wait].upto)
			t->waits.at[l->wait].upto = upto;
		return;
	}
	l->waiter = t;
	l->wait = t->waits.n;
	*vec_add(&t->waits) = (struct wait){ l, upto };
}

/* Makes stores through the cache up to `upto` durable, and the thread's own non-temporal stores. t
 * may be NULL. */
static void line_persist(struct line *l, uint64_t upto, const struct thread *t)
{
	if (upto > l->durable_seq)
		l->durable_seq = upto;
	for (size_t i = 0; t && i < l->writes.n; i++)
		if (l->writes.at[i].stream == t->stream && l->writes.at[i].thread == t->number)
			l->writes.at[i].is_durable = true;
}

static void thread_fence(struct thread *t)
{
	for (size_t i = 0; i < t->waits.n; i++)
		line_persist(t->waits.at[i].line, t->waits.at[i].upto, t);
	t->waits.n = 0;
}

static void flush_line(struct line *l, struct thread *t, enum platform_flush how, uint64_t seq)
{
	if (how == FLUSH_NOW) {
		line_persist(l, seq, t);
	} else if (how == FLUSH_AT_FENCE) {
		l->captured_seq = seq;
		thread_wait(t, l, seq);
	}
}

static void step_flush(struct shadow *s, const struct trace_event *ev)
{
	uint64_t len_bytes, start = platform_flushed(ev, &len_bytes);
	struct line *l;

	for (uint64_t at = start; at - start < len_bytes; at += SHADOW_LINE)
		if ((l = shadow_line(s, at)))
			flush_line(l, thread_of(s, ev), platform_flush(s->platform, ev->kind),
				   ev->seq);
}

/* Follows a write-back by the kernel, which also drains the caller's own non-temporal stores. */
static void step_sync(struct shadow *s, const struct trace_event *ev, uint64_t from, uint64_t to)
{
	const struct thread *t = thread_of(s, ev);
	struct line *l;

	if ((to - from) / SHADOW_LINE < s->lines.n) {
		for (; from < to; from += SHADOW_LINE)
			if ((l = shadow_line(s, from)))
				line_persist(l, ev->seq, t);
		return;
	}
	for (size_t i = 0; i < s->lines.n; i++)
		if (s->lines.at[i]->addr >= from && s->lines.at[i]->addr < to)
			line_persist(s->lines.at[i], ev->seq, t);
}

static void step_msync(struct shadow *s, const struct trace_event *ev)
{
	const uint64_t page = PMT_PAGE_BYTES - 1;

	if (ev->arg[1] & MS_SYNC)
		step_sync(s, ev, ev->addr & ~page, (ev->addr + ev->arg[0] + page) & ~page);
}

/* ---- stores ---- */

static bool is_governed(const struct shadow *s, uint64_t addr, uint32_t len_bytes)
{
	for (uint32_t i = 0; s->commits.vars.n && i < len_bytes; i++) {
		struct commit_var *v = commits_governor(&s->commits, addr + i);

		if (!v)
			continue;
		v->nstores++;
		return true;
	}
	return false;
}

static void store_part(struct shadow *s, const struct trace_event *ev, uint32_t skip,
		       uint32_t len_bytes, unsigned flags)
{
	struct line *l = line_get(s, ev->addr + skip);
	const uint64_t at = ev->addr + skip - l->addr;
	const bool is_late = model_is_late(s->model),
		   is_unordered = is_late || platform_is_unordered(s->platform, ev);
	struct thread *t = thread_of(s, ev);

	if (l->writes.n == WRITES_MAX - 1)
		line_compact(l);
	*vec_add(&l->writes) = (struct write){ .w = { ev->seq, ev->site, flags & SHADOW_TRUSTED,
						      flags & SHADOW_IN_TX },
					       .stream = ev->stream,
					       .thread = ev->thread,
					       .is_unordered = is_unordered };
	for (uint32_t i = 0; i < len_bytes; i++) {
		l->stored_again |= (uint64_t)(l->last[at + i] != 0) << (at + i);
		if (l->value[at + i] != ev->data[skip + i])
			l->changed[at + i] = (uint8_t)l->writes.n;
		l->last[at + i] = (uint8_t)l->writes.n;
		l->value[at + i] = ev->data[skip + i];
	}
	if (is_unordered && !(is_late && model_completes(s->model, ev)))
		thread_wait(t, l, 0);
	else if (model_is_open(s->model, ev))
		*vec_add(&s->open) = (struct wait){ l, ev->seq };
	else if (s->platform->is_cache_durable)
		line_persist(l, ev->seq, is_late ? t : NULL);
	if (model_is_flushed(s->model, ev))
		flush_line(l, t, FLUSH_AT_FENCE, ev->seq);
	if (is_governed(s, ev->addr + skip, len_bytes))
		line_to_front(s, l);
}

static void read_now(const struct shadow *s, uint64_t addr, uint64_t len_bytes, uint8_t *to)
{
	for (uint64_t i = 0; i < len_bytes; i++) {
		const struct line *l = shadow_line(s, addr + i);

		if (l)
			to[i] = l->value[(addr + i) % SHADOW_LINE];
		else
			read_initial(s, addr + i, &to[i], 1);
	}
}

static void store_variables(struct shadow *s, const struct trace_event *ev)
{
	struct commit_var *v;
	size_t next = 0;

	while ((v = commits_touched(&s->commits, ev->addr, ev->data_len, &next))) {
		uint8_t *before = xmalloc(v->len_bytes);

		read_now(s, v->addr, v->len_bytes, before);
		commit_var_store(v, ev, before, shadow_is_persisted(s, v->addr, v->len_bytes));
		free(before);
	}
}

static void step_store(struct shadow *s, const struct trace_event *ev, unsigned flags)
{
	const struct thread *t = thread_of(s, ev);
	uint32_t part;

	/* between threads, what was stored first reaches the cache first */
	for (size_t i = 0; model_is_late(s->model) && i < s->threads.n; i++)
		if (s->threads.at[i] != t)
			thread_fence(s->threads.at[i]);
	store_variables(s, ev);
	for (uint32_t skip = 0; skip < ev->data_len; skip += part) {
		part = SHADOW_LINE - (uint32_t)((ev->addr + skip) % SHADOW_LINE);
		part = part < ev->data_len - skip ? part : ev->data_len - skip;
		store_part(s, ev, skip, part, flags);
	}
}

static void line_put_old(struct line *l, uint64_t from, uint64_t to)
{
	from = from > l->addr ? from - l->addr : 0;
	to = to - l->addr < SHADOW_LINE ? to - l->addr : SHADOW_LINE;
	pmt_old_bytes(l->value + from, PMT_OFFSET(l->addr + from), to - from);
	for (; from < to; from++) {
		l->last[from] = l->changed[from] = 0;
		l->stored_again &= ~((uint64_t)1 << from);
	}
}

/* Handles old bytes: nobody stored them, and they are durable. */
static void step_old(struct shadow *s, const struct trace_event *ev)
{
	const uint64_t from = ev->addr, to = from + trace_old_len(ev);
	struct line *l;

	if ((to - from) / SHADOW_LINE < s->lines.n) {
		for (uint64_t at = from / SHADOW_LINE * SHADOW_LINE; at < to; at += SHADOW_LINE)
			if ((l = shadow_line(s, at)))
				line_put_old(l, from, to);
		return;
	}
	for (size_t i = 0; i < s->lines.n; i++)
		if (s->lines.at[i]->addr + SHADOW_LINE > from && s->lines.at[i]->addr < to)
			line_put_old(s->lines.at[i], from, to);
}

void shadow_step(struct shadow *s, const struct trace_event *ev, unsigned flags)
{
	while (s->open.n > 0) { /* the copy has ended */
		s->open.n--;
		line_persist(s->open.at[s->open.n].line, s->open.at[s->open.n].upto, NULL);
	}
	if (model_completes(s->model, ev))
		thread_fence(thread_of(s, ev)); /* a locked store is also a fence before it */
	if (trace_is_store(ev->kind)) {
		step_store(s, ev, flags);
	} else if (trace_is_flush(ev->kind)) {
		step_flush(s, ev);
	} else if (ev->kind == PMT_UNDEFINED) {
		shadow_blocks_add(s, ev, flags & SHADOW_TRUSTED);
	} else if (ev->kind == PMT_OLD) {
		step_old(s, ev);
	} else if (ev->kind == PMT_MSYNC) {
		step_msync(s, ev);
	} else if (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC) {
		if (ev->arg[0])
			step_sync(s, ev, PMT_ADDR(ev->arg[0], 0), PMT_ADDR(ev->arg[0] + 1, 0));
		else
			step_sync(s, ev, 0, UINT64_MAX);
	}
}
