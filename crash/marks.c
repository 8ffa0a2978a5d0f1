/* Reads the trace and follows the value of each word of up to eight bytes. A word that another
 * store partly overwrites has no known value. */
#include "crash/marks.h"

#include <string.h>

#include "trace/trace.h"

/* The known words. The value 0 also means unknown, because there are no bits to clear. */
struct words {
	struct map by_addr; /* address → index plus 1 */
	VEC(uint64_t) values;
};

static uint64_t *word_find(const struct words *w, uint64_t addr)
{
	const size_t i = (size_t)(uintptr_t)map_get(&w->by_addr, addr);

	return i ? &w->values.at[i - 1] : NULL;
}

static void word_set(struct words *w, uint64_t addr, uint64_t value)
{
	uint64_t *is = word_find(w, addr);

	if (is) {
		*is = value;
		return;
	}
	*vec_add(&w->values) = value;
	map_set(&w->by_addr, addr, (void *)(uintptr_t)w->values.n);
}

static void note_pending(const struct model_store *s, void *arg)
{
	(void)s;
	*(bool *)arg = true;
}

static uint64_t value_of(const struct trace_event *ev)
{
	uint64_t value = 0;

	memcpy(&value, ev->data, ev->data_len);
	return value;
}

/* Does a plain store of this value clear a mark of a link? Links are multiples of 8, and a mark is
 * in the bits that are free then. A release store of C11 is a plain store on amd64. */
static bool is_link(uint64_t old, uint64_t value)
{
	return value % 8 == 0 && old - value < 8;
}

/* Does the store only clear bits of a durable word? To be called before model_step(). */
static bool is_clearing(const struct model *m, const struct words *w, const struct trace_event *ev)
{
	const uint64_t *is = word_find(w, ev->addr), old = is ? *is : 0, value = value_of(ev);
	bool is_pending = false;

	if (value == 0 || value == old || (value & ~old) != 0 ||
	    (!trace_is_atomic(ev) && !is_link(old, value)))
		return false;
	model_each(m, ev->addr, ev->data_len, note_pending, &is_pending);
	return !is_pending;
}

/* Removes the words that the store overlaps. */
static void forget(struct words *w, const struct trace_event *ev)
{
	for (uint64_t addr = ev->addr > 7 ? ev->addr - 7 : 0; addr < ev->addr + ev->data_len;
	     addr++) {
		uint64_t *is = word_find(w, addr);

		if (is)
			*is = 0;
	}
}

void marks_find(const struct plan *p, struct marks *out)
{
	struct model *m = plan_model(p, NULL);
	struct trace *t = trace_cursor(p->trace);
	struct words words = { 0 };
	struct trace_event ev;

	*out = (struct marks){ 0 };
	while (trace_next(t, &ev)) {
		const bool is_word =
			trace_is_store(ev.kind) && ev.data && ev.data_len <= sizeof(uint64_t);

		if (trace_is_store(ev.kind) && ev.site)
			map_set(is_word && is_clearing(m, &words, &ev) ? &out->clearing
								       : &out->others,
				ev.site->id, (void *)p);
		if (trace_is_store(ev.kind))
			forget(&words, &ev);
		if (is_word)
			word_set(&words, ev.addr, value_of(&ev));
		model_step(m, &ev);
	}
	map_release(&words.by_addr);
	vec_release(&words.values);
	trace_close(t);
	model_free(m);
}

void marks_release(struct marks *m)
{
	map_release(&m->clearing);
	map_release(&m->others);
}

bool marks_clears(const struct marks *m, uint32_t site)
{
	return map_get(&m->clearing, site) && !map_get(&m->others, site);
}
