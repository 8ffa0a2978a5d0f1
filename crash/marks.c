/* Reads the trace and follows the value of each word of up to eight bytes. A word that another
 * store partly overwrites has no known value. */
#include "crash/marks.h"

#include <string.h>

#include "util/map.h"
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

/* Does the store only clear bits of a durable word? To be called before model_step(). */
static bool is_clearing(const struct model *m, const struct words *w, const struct trace_event *ev)
{
	const uint64_t *is = word_find(w, ev->addr), old = is ? *is : 0, value = value_of(ev);
	bool is_pending = false;

	model_each(m, ev->addr, ev->data_len, note_pending, &is_pending);
	return trace_is_atomic(ev) && !is_pending && value != 0 && value != old &&
	       (value & ~old) == 0;
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

bool marks_clears(const struct plan *p, uint32_t site)
{
	struct model *m = plan_model(p, NULL);
	struct trace *t = trace_cursor(p->trace);
	struct words words = { 0 };
	struct trace_event ev;
	bool is_one = true;
	uint64_t n = 0;

	while (is_one && trace_next(t, &ev)) {
		const bool is_word =
			trace_is_store(ev.kind) && ev.data && ev.data_len <= sizeof(uint64_t);

		if (trace_is_store(ev.kind) && ev.site && ev.site->id == site) {
			is_one = is_word && is_clearing(m, &words, &ev);
			n++;
		}
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
	return is_one && n > 0;
}
