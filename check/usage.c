/* Tells counters and locks from other words. Counter: at least three stores, and each adds 1 to the
 * value before. Lock: an atomic instruction changes 0 to another value, and a store of 0 releases
 * it, at least once; no other store is made to it. Recovery often resets both, and then they need
 * not be durable; only the programmer knows. */
#include "check/usage.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "trace/trace.h"

#define COUNTED_MIN 3u

struct usage_word {
	uint64_t addr, value;
	uint32_t size_bytes;
	uint32_t nstores, ntaken, nreleased;
	bool is_counter, is_lock; /* not disproved yet */
	/* by the last store: an atomic instruction cleared some bits and left others */
	bool is_cleared;
	bool is_mixed; /* stores of other sizes overlap the word */
};

void usage_release(struct usage *u)
{
	for (size_t i = 0; i < u->all.n; i++)
		free(u->all.at[i]);
	vec_release(&u->all);
	map_release(&u->by_addr);
}

void usage_watch(struct usage *u, uint64_t addr, uint32_t size_bytes)
{
	struct usage_word *w = map_get(&u->by_addr, addr);

	if (!w) {
		w = xcalloc(1, sizeof *w);
		*w = (struct usage_word){
			.addr = addr, .size_bytes = size_bytes, .is_counter = true, .is_lock = true
		};
		*vec_add(&u->all) = w;
		map_set(&u->by_addr, addr, w);
	} else if (w->size_bytes != size_bytes) {
		w->is_counter = w->is_lock = false;
	}
}

static void note(struct usage_word *w, const struct trace_event *ev)
{
	uint64_t value = 0;

	memcpy(&value, ev->data, ev->size_bytes);
	w->is_cleared =
		trace_is_atomic(ev) && value != 0 && value != w->value && (value & ~w->value) == 0;
	if (w->nstores > 0)
		w->is_counter &= value == w->value + 1;
	else
		w->is_counter &= value <= 1;
	if (trace_is_atomic(ev) && w->value == 0 && value != 0)
		w->ntaken++;
	else if (value == 0 && (w->value != 0 || w->nstores == 0))
		w->nreleased += w->value != 0;
	else
		w->is_lock = false;
	w->value = value;
	w->nstores++;
}

/* Notes a store of another size that overlaps the word: then it is no counter and no lock. */
static void disprove(struct usage *u, const struct trace_event *ev)
{
	for (uint64_t addr = ev->addr > 7 ? ev->addr - 7 : 0; addr < ev->addr + ev->size_bytes;
	     addr++) {
		struct usage_word *w = map_get(&u->by_addr, addr);

		if (w && w->addr + w->size_bytes > ev->addr && ev->data_len &&
		    memcmp(ev->data, (const uint8_t[64]){ 0 },
			   ev->data_len < 64 ? ev->data_len : 64) != 0)
			w->is_counter = w->is_lock = false;
		/* overlapping stores before the word's first own store do not matter */
		if (w && w->addr + w->size_bytes > ev->addr)
			w->is_mixed |= w->nstores > 0;
	}
}

void usage_step(struct usage *u, const struct trace_event *ev)
{
	struct usage_word *w;

	if (!trace_is_store(ev->kind) || !ev->data)
		return;
	w = map_get(&u->by_addr, ev->addr);
	if (w && w->size_bytes == ev->size_bytes && ev->data_len == ev->size_bytes)
		note(w, ev);
	else
		disprove(u, ev);
}

/* Link-and-persist: a link is stored with a mark and flushed, and the mark is cleared when the link
 * is durable. Recovery that finds the mark uses the link as it is. */
const char usage_mark[] =
	"the store only clears bits of a word whose other bits are durable already, as link-and-persist "
	"does with its mark. If recovery does not look at these bits, nothing is lost";

void usage_tell(const struct usage *u, uint64_t addr, bool is_alone, struct finding *f)
{
	static const char advice[] =
		"If recovery sets it again, mark it with PMEND_IGNORE or keep it in ordinary memory; else flush and fence it.";
	const struct usage_word *w = map_get(&u->by_addr, addr);

	if (!w)
		return;
	if (w->is_lock && w->ntaken && w->nreleased) {
		f->message = "this store is never made durable; the word is only used as a lock";
		f->advice = advice;
	} else if (w->is_counter && w->nstores >= COUNTED_MIN) {
		f->message =
			"this store is never made durable; the word is only incremented, like a counter";
		f->advice = advice;
	} else if (is_alone && w->is_cleared && !w->is_mixed && !f->reason) {
		f->reason = usage_mark;
	}
}
