/* Moves a stream over table records and into new chunks, up to the next event, and keeps the
 * waiting streams ordered. Nothing of a closed chunk is used before its hash was checked; a chunk
 * that is open or truncated has no valid hash. */
#include "trace/stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_SEQ ((uint64_t)1 << 63)

void set_damage(struct trace *t, const char *fmt, ...)
{
	va_list args;

	t->is_worse = true;
	if (t->damage)
		return;
	va_start(args, fmt);
	if (vasprintf(&t->damage, fmt, args) < 0)
		t->damage = xstrdup("the trace is damaged");
	va_end(args);
}

bool stream_damage(struct trace *t, const struct stream *s, const char *problem)
{
	uint64_t offset = s->is_in_chunk ? (uint64_t)(s->p - t->chunks->base)
					 : t->chunks->list.at[s->chunk].offset;

	set_damage(t,
		   "%s at file offset %" PRIu64 " (process %u), after %" PRIu64
		   " readable events of this process",
		   problem, offset, s->number, s->nevents);
	return false;
}

/* The waiting streams form a heap with the lowest event number at the top. */

static bool is_before(const struct stream *a, const struct stream *b)
{
	return a->next_seq != b->next_seq ? a->next_seq < b->next_seq : a->number < b->number;
}

void waiting_add(struct trace *t, struct stream *s)
{
	size_t i, parent;

	vec_add(&t->waiting);
	for (i = t->waiting.n - 1; i > 0; i = parent) {
		parent = (i - 1) / 2;
		if (!is_before(s, t->waiting.at[parent]))
			break;
		t->waiting.at[i] = t->waiting.at[parent];
	}
	t->waiting.at[i] = s;
	t->limit = t->waiting.at[0]->next_seq;
}

struct stream *waiting_take(struct trace *t)
{
	struct stream *top, *s;
	size_t i = 0, child;

	t->limit = UINT64_MAX;
	if (t->waiting.n == 0)
		return NULL;
	top = t->waiting.at[0];
	s = t->waiting.at[--t->waiting.n];
	for (; (child = 2 * i + 1) < t->waiting.n; i = child) {
		if (child + 1 < t->waiting.n &&
		    is_before(t->waiting.at[child + 1], t->waiting.at[child]))
			child++;
		if (!is_before(t->waiting.at[child], s))
			break;
		t->waiting.at[i] = t->waiting.at[child];
	}
	t->waiting.at[i] = s;
	if (t->waiting.n)
		t->limit = t->waiting.at[0]->next_seq;
	return top;
}

/* ---- chunks ---- */

/* Notes that the process was killed here. What it wrote before is readable. */
static void note_cut(struct trace *t, const struct stream *s)
{
	bool was_worse = t->is_worse;

	stream_damage(t, s, "recording was cut off");
	t->is_worse = was_worse;
	t->is_cut_off = true;
}

static bool finish_chunk(struct trace *t, struct stream *s)
{
	bool is_whole = false;

	if (s->is_cut)
		stream_damage(t, s, "the file is truncated");
	else if (s->header.state == PMT_CHUNK_OPEN)
		note_cut(t, s);
	else if (s->nevents - s->nevents_before != s->header.nevents)
		stream_damage(t, s, "a chunk has too few or too many events");
	else if (t->chunks->list.at[s->chunk - 1].is_copy)
		note_cut(t, s);
	else
		is_whole = true;
	s->is_in_chunk = false;
	return is_whole;
}

bool chunk_is_right(const struct trace *t, const struct stream *s, struct chunk_ref *ref)
{
	if (s->header.state != PMT_CHUNK_CLOSED || s->is_cut || ref->is_right)
		return true;
	ref->is_right =
		pmt_chunk_hash(t->chunks->header.version, &s->header,
			       t->chunks->base + ref->offset + sizeof s->header) == s->header.hash;
	return ref->is_right;
}

static bool begin_chunk(struct trace *t, struct stream *s)
{
	struct chunk_ref *ref = &t->chunks->list.at[s->chunk];
	const uint8_t *base = t->chunks->base + ref->offset;
	uint64_t room = t->chunks->size_bytes - ref->offset - sizeof s->header;

	memcpy(&s->header, base, sizeof s->header);
	if (s->header.number != s->nchunks)
		return stream_damage(t, s, "a chunk is missing before the one");
	if (s->header.used && (s->header.first_seq < s->next_seq || s->header.first_seq >= MAX_SEQ))
		return stream_damage(t, s, "events are out of order in the chunk");
	s->is_cut = s->header.used > room;
	if (!chunk_is_right(t, s, ref))
		return stream_damage(t, s, "the checksum is wrong in the chunk");
	s->p = base + sizeof s->header;
	s->end = s->p + (s->is_cut ? room : s->header.used);
	s->nevents_before = s->nevents;
	if (s->header.used)
		s->next_seq = s->header.first_seq;
	s->is_in_chunk = true;
	s->nchunks++;
	s->chunk++;
	return true;
}

static bool read_skipped(struct trace *t, struct stream *s)
{
	const uint8_t *p = s->p + 1;
	uint64_t n = get_number(&p);

	if (p > s->end)
		return stream_damage(t, s, "a record is cut off");
	if (n >= MAX_SEQ || s->next_seq + n >= MAX_SEQ)
		return stream_damage(t, s, "an event number is impossible");
	s->next_seq += n;
	s->p = p;
	return true;
}

static bool read_table(struct trace *t, struct stream *s)
{
	const char *problem;
	const uint8_t *p;

	if ((*s->p & 3) != PMT_H_TABLE)
		return stream_damage(t, s, "a record is unknown");
	if (*s->p >> 2 == PMT_TABLE_SEQ)
		return read_skipped(t, s);
	p = tables_read(&s->tables, &t->opened->store, &t->met, s->p, s->end, &problem);
	if (!p)
		return stream_damage(t, s, problem);
	s->p = p;
	return true;
}

/* Starts a stream that no FORK event has made. It begins with empty tables and at number 1. One
 * that begins later in a damaged trace may be a child whose FORK event was lost: without the tables
 * of its parent it would be decoded wrongly. */
static bool stream_start(struct trace *t, struct stream *s)
{
	if (t->damage && s->next_seq > 1)
		return stream_damage(t, s, "a forked process has lost its beginning");
	tables_init(&s->tables);
	s->is_started = true;
	return true;
}

bool stream_advance(struct trace *t, struct stream *s)
{
	if (!s->is_started && !stream_start(t, s))
		return false;
	for (;;) {
		while (s->p < s->end) {
			if (!(*s->p & 2))
				return true;
			if (!read_table(t, s))
				return false;
		}
		if (s->is_in_chunk && !finish_chunk(t, s))
			return false;
		if (s->chunk == s->last_chunk || !begin_chunk(t, s))
			return false;
	}
}

void stream_end(struct trace *t, struct stream *s)
{
	tables_release(&s->tables);
	t->nforked -= s->nforked;
	s->nforked = 0;
	s->p = s->end = NULL;
}
