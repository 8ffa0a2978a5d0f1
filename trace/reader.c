/* Decodes events and merges the streams of all processes by event number. Several cursors can read
 * one open file independently.
 *
 * Invariants: (1) The stream t->now is read as long as its next event's number is at most t->limit,
 * the lowest number of the waiting streams, which form a heap. So a trace with one stream, or with
 * long runs of one, costs one comparison per event. (2) Numbers and values may be read up to
 * CHUNKS_SLACK_BYTES beyond the end of a chunk, but an event is returned only if it ended inside.
 * (3) A damaged stream returns no event after the damage.
 *
 * A complete trace has each number from 1 exactly once. So missing events are noticed even where no
 * chunk is damaged. */
#include <inttypes.h>
#include <string.h>

#include "trace/stream.h"

/* Limits the table entries that forked streams copy to less than 1 GB: a damaged or hostile file
 * could ask for any number. */
#define MAX_FORKED ((size_t)1 << 24)

#define unlikely(x) __builtin_expect(!!(x), 0)

static const uint8_t zeros[PMT_STORE_MAX_BYTES];

static struct stream *find_stream(struct trace *t, uint64_t number)
{
	size_t low = 0, high = t->nstreams;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->streams[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->nstreams && t->streams[low].number == number ? &t->streams[low] : NULL;
}

static void note_fork(struct trace *t, const struct stream *s, uint64_t child_number)
{
	struct stream *child = find_stream(t, child_number);
	size_t n = s->tables.sites.n + s->tables.nodes.n + s->tables.objects.n;

	if (!child || child->is_started)
		return;
	child->is_started = true;
	if (n > MAX_FORKED - t->nforked) {
		set_damage(t, "process %u was not read: too many forked processes are alive",
			   child->number);
		child->last_chunk = child->chunk; /* so it has no event */
		return;
	}
	tables_copy(&child->tables, &s->tables);
	child->nforked = n;
	t->nforked += n;
}

/* Decodes arguments and blob. NULL if they are cut off. */
__attribute__((noinline)) static const uint8_t *decode_rare(const struct stream *s,
							    const struct site_slot *slot,
							    const uint8_t *p,
							    struct trace_event *ev)
{
	for (unsigned i = 0; i < slot->nargs; i++)
		ev->arg[i] = get_number(&p);
	if (slot->carries & PMT_HAS_BLOB) {
		ev->data = get_blob(&p, s->end, &ev->data_len);
		if (!ev->data)
			return NULL;
	}
	return p;
}

/* Decodes a stored value of more than 8 bytes. NULL if the code is unknown. */
static const uint8_t *decode_long_value(struct trace *t, unsigned code, uint32_t size_bytes,
					const uint8_t *p, struct trace_event *ev)
{
	ev->data = code == PMT_VALUE_0 ? zeros : code == PMT_VALUE_WORDS ? t->value : p;
	if (code == PMT_VALUE_0)
		return p;
	if (code != PMT_VALUE_WORDS)
		return code == PMT_VALUE_ALL ? p + size_bytes : NULL;
	for (uint32_t at = 0; at < size_bytes; at += 8) {
		uint64_t w = get_number(&p);

		memcpy(t->value + at, &w, size_bytes - at < 8 ? size_bytes - at : 8);
	}
	return p;
}

static inline const uint8_t *decode_value(struct trace *t, struct site_slot *slot, unsigned code,
					  const uint8_t *p, struct trace_event *ev)
{
	static const uint8_t nbytes[8] = { 0, 1, 2, 3, 4, 6, 0, 0 };
	uint32_t n = nbytes[code];
	uint64_t v;

	ev->data_len = slot->size_bytes;
	if (unlikely(slot->size_bytes > 8))
		return decode_long_value(t, code, slot->size_bytes, p, ev);
	if (code == PMT_VALUE_DELTA) {
		v = slot->state.last_value + (uint64_t)get_signed(&p);
	} else {
		if (code == PMT_VALUE_ALL)
			n = slot->size_bytes;
		if (unlikely(n > slot->size_bytes))
			return NULL;
		memcpy(&v, p, 8);
		v = n == 8 ? v : v & (((uint64_t)1 << 8 * n) - 1);
		p += n;
	}
	slot->state.last_value = v;
	memcpy(t->value, &v, 8);
	ev->data = t->value;
	return p;
}

static inline const uint8_t *decode_addr(struct pmt_encoder *e, struct site_slot *slot,
					 unsigned code, const uint8_t *p, struct trace_event *ev)
{
	struct pmt_site_state *state = &slot->state;
	uint64_t addr = 0;

	switch ((enum pmt_addr)code) {
	case PMT_ADDR_STRIDE: addr = state->last_addr + (uint64_t)state->stride; break;
	case PMT_ADDR_ADJACENT: addr = e->prev_addr + e->prev_bytes; break;
	case PMT_ADDR_NEAR: addr = e->prev_addr + (uint64_t)get_signed(&p); break;
	case PMT_ADDR_SITE: addr = state->last_addr + (uint64_t)get_signed(&p); break;
	}
	state->stride = (int64_t)(addr - state->last_addr);
	state->last_addr = addr;
	e->prev_addr = addr;
	e->prev_bytes = slot->size_bytes;
	ev->addr = addr;
	return p;
}

/* Decodes the event at s->p. False if it is damaged. */
static inline bool decode_event(struct trace *t, struct stream *s, struct trace_event *ev)
{
	struct pmt_encoder *e = &s->tables.encoder;
	struct site_slot *slot = &s->tables.sites.at[e->prev_site];
	const uint8_t *p = s->p;
	uint8_t head = *p++, carries;
	uint64_t site;
	bool is_rare;

	if (head & PMT_H_THREAD)
		e->thread = (uint32_t)get_number(&p);
	site = head & PMT_H_NEXT ? slot->state.next : get_number(&p);
	if (unlikely(site - 1 >= s->tables.sites.n - 1))
		return stream_damage(t, s, "an event's site is unknown");
	slot->state.next = e->prev_site = (uint32_t)site;
	slot = &s->tables.sites.at[site];
	carries = slot->carries;
	is_rare = slot->nargs || carries & PMT_HAS_BLOB;

	*ev = (struct trace_event){
		.seq = s->next_seq,
		.site = slot->site,
		.kind = (enum pmt_kind)slot->kind,
		.stream = s->number,
		.thread = e->thread,
		.size_bytes = slot->size_bytes,
	};
	if (carries & PMT_HAS_ADDR)
		p = decode_addr(e, slot, head >> PMT_H_ADDR_SHIFT & 3, p, ev);
	if (carries & PMT_HAS_VALUE)
		p = decode_value(t, slot, head >> PMT_H_VALUE_SHIFT & 7, p, ev);
	if (unlikely(is_rare && p))
		p = decode_rare(s, slot, p, ev);
	if (unlikely(!p || p > s->end))
		return stream_damage(
			t, s, s->is_cut ? "the file is truncated" : "an event makes no sense");
	s->p = p;
	s->next_seq++;
	s->nevents++;
	if (unlikely(is_rare)) {
		files_note(&t->files, &t->names, ev);
		if (ev->kind == PMT_FORK)
			note_fork(t, s, ev->arg[0]);
	}
	return true;
}

__attribute__((cold)) static void note_gap(struct trace *t, const struct trace_event *ev)
{
	if (ev->seq > t->last_seq + 1)
		set_damage(t, "events %" PRIu64 " to %" PRIu64 " are missing", t->last_seq + 1,
			   ev->seq - 1);
	else
		set_damage(t, "event number %" PRIu64 " of process %u came after %" PRIu64, ev->seq,
			   ev->stream, t->last_seq);
}

__attribute__((cold)) static bool note_end(struct trace *t)
{
	const struct pmt_header *h = &t->chunks->header;

	if (t->is_at_end)
		return false;
	t->is_at_end = true;
	if (h->error) { /* the cause of everything else that was noticed */
		free(t->damage);
		t->damage = NULL;
		set_damage(t,
			   "recording stopped after %" PRIu64
			   " events because the trace could not be written: %s",
			   t->nevents, strerror((int)h->error));
	} else if (t->last_seq < h->seq) {
		set_damage(t, "the last %" PRIu64 " events are missing", h->seq - t->last_seq);
	}
	return false;
}

bool trace_next(struct trace *t, struct trace_event *ev)
{
	struct stream *s;

	while ((s = t->now)) {
		if (unlikely(s->p >= s->end || *s->p & 2) && !stream_advance(t, s)) {
			stream_end(t, s);
			t->now = waiting_take(t);
			continue;
		}
		if (unlikely(s->next_seq > t->limit)) {
			t->now = waiting_take(t);
			waiting_add(t, s);
			continue;
		}
		if (unlikely(!decode_event(t, s, ev))) {
			stream_end(t, s);
			t->now = waiting_take(t);
			continue;
		}
		if (unlikely(ev->seq != t->last_seq + 1))
			note_gap(t, ev);
		t->last_seq = ev->seq;
		t->nevents++;
		return true;
	}
	return note_end(t);
}

/* ---- opening, closing, questions ---- */

/* Makes the streams. A stream waits with the number of its first event; that of a forked process is
 * higher than its FORK event's. */
static void make_streams(struct trace *t)
{
	size_t i, n = t->chunks->list.n;
	const struct chunk_ref *list = t->chunks->list.at;
	struct stream *s = NULL;
	struct pmt_chunk h;

	t->streams = xcalloc(n, sizeof *t->streams);
	for (i = 0; i < n; i++) {
		if (!s || list[i].stream != s->number) {
			s = &t->streams[t->nstreams++];
			memcpy(&h, t->chunks->base + list[i].offset, sizeof h);
			s->number = list[i].stream;
			s->chunk = i;
			s->next_seq = h.first_seq;
		}
		s->last_chunk = i + 1;
	}
	for (i = 0; i < t->nstreams; i++)
		waiting_add(t, &t->streams[i]);
	t->now = waiting_take(t);
}

static struct trace *cursor_new(struct trace_opened *o)
{
	struct trace *t = xcalloc(1, sizeof *t);

	t->opened = o;
	t->chunks = &o->chunks;
	o->ncursors++;
	t->limit = UINT64_MAX;
	if (t->chunks->damage)
		set_damage(t, "%s", t->chunks->damage);
	make_streams(t);
	return t;
}

int trace_open(struct trace **result, const char *path, struct error *err)
{
	struct trace_opened *o = xcalloc(1, sizeof *o);

	if (chunks_open(&o->chunks, path, err) < 0) {
		free(o);
		return -1;
	}
	o->path = xstrdup(path);
	*result = cursor_new(o);
	return 0;
}

struct trace *trace_cursor(const struct trace *t)
{
	return cursor_new(t->opened);
}

static void opened_release(struct trace_opened *o)
{
	if (--o->ncursors > 0)
		return;
	tables_store_release(&o->store);
	chunks_close(&o->chunks);
	free(o->path);
	free(o);
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nstreams; i++)
		tables_release(&t->streams[i].tables);
	free(t->streams);
	vec_release(&t->waiting);
	files_release(&t->files);
	arena_release(&t->names);
	free(t->damage);
	opened_release(t->opened);
	free(t);
}

const char *trace_path(const struct trace *t)
{
	return t->opened->path;
}

const char *trace_damage(const struct trace *t)
{
	return t->damage;
}

bool trace_is_cut_off(const struct trace *t)
{
	return t->is_cut_off && !t->is_worse;
}

struct pmt_ending trace_ending(const struct trace *t)
{
	struct pmt_ending e;

	/* chunks_open() has checked that the file has a whole header */
	memcpy(&e, t->chunks->base + PMT_ENDING_OFFSET, sizeof e);
	if ((e.how == PMT_END_EXIT && e.code <= 255) ||
	    (e.how == PMT_END_SIGNAL && e.code > 0 && e.code <= 64) || e.how == PMT_END_TIME)
		return e;
	return (struct pmt_ending){ PMT_END_UNKNOWN, 0 };
}

bool trace_finished(const struct trace *t)
{
	return t->chunks->header.finished != 0;
}

uint32_t trace_nfiles(const struct trace *t)
{
	return t->files.list.n ? (uint32_t)t->files.list.n - 1 : 0;
}

const struct trace_file *trace_file(const struct trace *t, uint32_t file)
{
	return files_find(&t->files, file);
}

size_t trace_nobjects(const struct trace *t)
{
	return t->met.nobjects;
}

const struct trace_object *trace_object(const struct trace *t, size_t i)
{
	return t->opened->store.objects.at[i];
}

const char *trace_meta(const struct trace *t, const char *key)
{
	return files_meta(&t->files, key, 0);
}

const char *trace_meta_older(const struct trace *t, const char *key, size_t nth)
{
	return files_meta(&t->files, key, nth);
}

const char *trace_unseen(const struct trace *t)
{
	return t->files.unseen;
}

uint64_t trace_size_bytes(const struct trace *t)
{
	return t->chunks->size_bytes;
}
