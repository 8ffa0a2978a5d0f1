/* Reads a trace up to a crash, and keeps for each line which bytes were stored since the last
 * stores to the suspect words. A store that touches a suspect counts only as a commit write of
 * it. */
#include "crash/races/history.h"
#include "trace/trace.h"

#define ATOMIC_MIN 2u

void histories_release(struct histories *h)
{
	vec_release(&h->lines);
	vec_release(&h->cells);
	map_release(&h->by_line);
	*h = (struct histories){ 0 };
}

bool suspect_touches(const struct suspect *s, uint64_t addr, uint64_t len_bytes)
{
	for (uint64_t m = s->mask; m; m &= m - 1)
		if (s->addr + s->at + (uint64_t)__builtin_ctzll(m) - addr < len_bytes)
			return true;
	return false;
}

/* Gives the bytes of the suspect in a range, like its mask. */
static uint64_t common(const struct suspect *s, uint64_t addr, uint64_t len_bytes)
{
	uint64_t bytes = 0;

	for (uint64_t m = s->mask; m; m &= m - 1)
		if (s->addr + s->at + (uint64_t)__builtin_ctzll(m) - addr < len_bytes)
			bytes |= m & -m;
	return bytes;
}

static uint64_t mask_of(uint64_t from, uint64_t to)
{
	return (to - from >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (to - from)) - 1) << from;
}

size_t histories_line(const struct histories *h, uint64_t line)
{
	return (size_t)map_get(&h->by_line, line) - 1;
}

static size_t line_get(struct histories *h, uint64_t line)
{
	size_t i = histories_line(h, line);

	if (i != SIZE_MAX)
		return i;
	*vec_add(&h->lines) = line;
	for (size_t k = 0; k < h->n; k++)
		*vec_add(&h->cells) = (struct history_line){ 0 };
	map_set(&h->by_line, line, (void *)h->lines.n);
	return h->lines.n - 1;
}

static void note_suspect(struct history *h, const struct trace_event *ev)
{
	const uint64_t bytes = common(&h->suspect, ev->addr, ev->data_len);

	if (ev->seq < h->suspect.seq) {
		h->epoch++;
		h->was_stored |= bytes;
	} else if (ev->seq == h->suspect.seq) {
		h->is_atomic = ev->data_len <= 8 &&
			       ev->addr / 8 == (ev->addr + ev->data_len - 1) / 8 &&
			       bytes == h->suspect.mask;
	}
}

static void note_bytes(const struct history *h, struct history_line *l, uint64_t bytes,
		       uint64_t seq)
{
	if (l->epoch != h->epoch)
		l->recent = 0;
	l->epoch = h->epoch;
	l->recent |= bytes;
	l->late |= seq > h->suspect.seq ? bytes : 0;
}

static void note_store(struct histories *h, const struct trace_event *ev)
{
	const uint64_t end = ev->addr + ev->data_len;
	bool is_suspect[HISTORIES_MAX];

	for (size_t k = 0; k < h->n; k++) {
		is_suspect[k] = suspect_touches(&h->list[k].suspect, ev->addr, ev->data_len);
		if (is_suspect[k])
			note_suspect(&h->list[k], ev);
	}
	for (uint64_t line = ev->addr / HISTORY_LINE * HISTORY_LINE; line < end;
	     line += HISTORY_LINE) {
		uint64_t from = ev->addr > line ? ev->addr - line : 0,
			 to = end - line < HISTORY_LINE ? end - line : HISTORY_LINE;
		size_t i = line_get(h, line);

		for (size_t k = 0; k < h->n; k++)
			if (!is_suspect[k])
				note_bytes(&h->list[k], &h->cells.at[i * h->n + k],
					   mask_of(from, to), ev->seq);
	}
}

/* Does the event announce a whole heap? When libpmemobj opens a pool, it announces all of the heap,
 * up to the end of the file, and then its objects as defined, which is not recorded. */
static bool is_heap(const struct walk *w, const struct trace_event *ev)
{
	const struct crash_file *f = image_file(&w->image, PMT_FILE(ev->addr));

	return f && PMT_OFFSET(ev->addr) + ev->arg[0] >= f->size_bytes;
}

static void note_undefined(struct histories *h, const struct trace_event *ev)
{
	for (size_t k = 0; k < h->n; k++)
		h->list[k].was_stored &= ~common(&h->list[k].suspect, ev->addr, ev->arg[0]);
}

void histories_take(struct histories *h, const struct walk *w, const struct suspect *list, size_t n)
{
	struct trace *t = trace_cursor(w->plan->trace);
	struct trace_event ev;

	histories_release(h);
	h->n = n < HISTORIES_MAX ? n : HISTORIES_MAX;
	for (size_t k = 0; k < h->n; k++)
		h->list[k] = (struct history){
			.suspect = list[k],
			.epoch = 1,
			.was_stored =
				plan_is_initial(w->plan, PMT_FILE(list[k].addr)) ? list[k].mask : 0
		};
	while (trace_next(t, &ev) && ev.seq < w->seq)
		if (trace_is_store(ev.kind))
			note_store(h, &ev);
		else if (ev.kind == PMT_UNDEFINED && !is_heap(w, &ev))
			note_undefined(h, &ev);
	trace_close(t);
}

bool history_begins_with_zero(const struct walk *w, const struct suspect *s)
{
	struct trace *t = trace_cursor(w->plan->trace);
	bool is_one = !plan_is_initial(w->plan, PMT_FILE(s->addr));
	struct trace_event ev;
	uint64_t n = 0;

	while (is_one && trace_next(t, &ev)) {
		if (ev.kind == PMT_UNDEFINED && suspect_touches(s, ev.addr, ev.arg[0]) &&
		    !is_heap(w, &ev))
			is_one = false;
		if (!trace_is_store(ev.kind) || !suspect_touches(s, ev.addr, ev.data_len))
			continue;
		is_one &= trace_is_atomic(&ev) && ev.data_len <= sizeof(uint64_t);
		n++;
	}
	trace_close(t);
	return is_one && n >= ATOMIC_MIN;
}

size_t histories_find(const struct histories *h, const struct suspect *s)
{
	for (size_t k = 0; k < h->n; k++)
		if (h->list[k].suspect.addr == s->addr && h->list[k].suspect.at == s->at &&
		    h->list[k].suspect.mask == s->mask && h->list[k].suspect.seq == s->seq)
			return k;
	return SIZE_MAX;
}
