/* An append-only log of texts of different lengths, without a library: mmap, and the processor's flushes and fences.
 *
 *	0	magic
 *	64	commit: generation, number of records, and where the next one goes, in one word
 *	4096	segments of 512 bytes: a header line, then records {length, sequence number, checksum, text}
 *
 * The commit word is the only thing that decides: what it does not count does not exist, whatever is in the segments,
 * and what it counts was durable before it was stored. Appending: record, flush, fence, commit, flush, fence. When a
 * segment is full, it is closed (end and next in its header) and the record goes to another, before the same fence.
 * Truncating is a commit word of the next generation.
 *
 * Invariants: (1) Following the segments from the first yields as many records as committed, ends in the segment and
 * at the place that the commit word says, and meets no segment twice. (2) Each record's number and checksum, which
 * depends on the generation, are right. Segments that are not met are free; that is computed when the pool is opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "raw.h"

#define PM_FLUSH(addr, len_bytes) pm_flush(addr, len_bytes)
#define PM_DRAIN() pm_drain()
#include "mutant.h"

#define MAGIC 0x31474f4c444e4550u
enum { SEGMENTS_AT = 4096, SEGMENT_BYTES = 512, NSEGMENTS = 32, POOL_BYTES = SEGMENTS_AT + NSEGMENTS * SEGMENT_BYTES };
enum { TEXT_MAX = 64, FILLER_MAX = 40 };

struct head {
	uint64_t magic;
	_Alignas(LINE_BYTES) uint64_t commit;
};

struct segment { /* end and next are valid in closed segments: all but the one that is committed to */
	_Alignas(LINE_BYTES) uint64_t next;
	uint64_t end;
	uint64_t id; /* generation and place in the chain; of the first segment, nobody asks */
	_Alignas(LINE_BYTES) char records[];
};

struct record {
	uint32_t len_bytes, seq;
	uint64_t sum;
	char text[];
};

struct commit {
	uint32_t generation, count, tail;
};

struct store {
	char *base;
	struct head *head;
	struct commit commit;
	bool is_used[NSEGMENTS];
};

static uint64_t commit_pack(struct commit c)
{
	return (uint64_t)(c.generation & 0xffff) << 48 | (uint64_t)(c.count & 0xffff) << 32 | c.tail;
}

static struct commit commit_unpack(uint64_t word)
{
	return (struct commit){ (uint32_t)(word >> 48), (uint32_t)(word >> 32 & 0xffff), (uint32_t)word };
}

static uint64_t segment_id(uint32_t generation, uint32_t number)
{
	return (uint64_t)generation << 32 | number;
}

static uint32_t segment_of(uint32_t offset)
{
	return (offset - SEGMENTS_AT) / SEGMENT_BYTES;
}

static uint32_t segment_start(uint32_t index)
{
	return SEGMENTS_AT + index * SEGMENT_BYTES;
}

static struct segment *segment_at(struct store *s, uint32_t index)
{
	return (struct segment *)(s->base + segment_start(index));
}

static uint32_t record_bytes(uint32_t len_bytes)
{
	return (uint32_t)(sizeof(struct record) + len_bytes + 7) & ~7u;
}

static uint64_t record_sum(const struct record *r, uint32_t generation)
{
	return checksum(r->text, r->len_bytes, (uint64_t)generation << 32 | r->seq);
}

/* ---- texts: a number and some dots ---- */

static uint32_t text_print(char *text, uint64_t value)
{
	uint32_t n = (uint32_t)sprintf(text, "%lu", value);

	memset(text + n, '.', value % FILLER_MAX);
	return n + (uint32_t)(value % FILLER_MAX);
}

static bool text_parse(const char *text, uint32_t len_bytes, uint64_t *value)
{
	char again[TEXT_MAX], digits[TEXT_MAX] = "";

	if (len_bytes == 0 || len_bytes >= TEXT_MAX)
		return false;
	memcpy(digits, text, len_bytes);
	*value = strtoull(digits, NULL, 10);
	return *value < 1000000 && text_print(again, *value) == len_bytes && memcmp(again, text, len_bytes) == 0;
}

/* ---- reading: trusts nothing ---- */

struct walk {
	struct store *store;
	uint32_t segment, number, at; /* the number of the segment in the chain */
	bool is_met[NSEGMENTS];
};

static const char *walk_next_segment(struct walk *w)
{
	uint64_t next = segment_at(w->store, w->segment)->next;

	if (next >= NSEGMENTS)
		return "a closed segment leads nowhere";
	if (w->is_met[next])
		return "the segments go in circles";
	w->number++;
	if (segment_at(w->store, (uint32_t)next)->id != segment_id(w->store->commit.generation, w->number))
		return "a segment belongs elsewhere";
	w->is_met[next] = true;
	w->segment = (uint32_t)next;
	w->at = segment_start(w->segment) + sizeof(struct segment);
	return NULL;
}

static const char *walk_record(struct walk *w, uint32_t seq, uint64_t *value)
{
	uint32_t end = segment_start(w->segment) + SEGMENT_BYTES;
	const struct record *r = (const struct record *)(w->store->base + w->at);

	if (w->at + sizeof *r > end || r->len_bytes >= TEXT_MAX || w->at + record_bytes(r->len_bytes) > end)
		return "a record does not fit into its segment";
	if (r->seq != seq)
		return "a record has the wrong number";
	if (r->sum != record_sum(r, w->store->commit.generation))
		return "the checksum of a record is wrong";
	if (!text_parse(r->text, r->len_bytes, value))
		return "the text of a record is wrong";
	w->at += record_bytes(r->len_bytes);
	return NULL;
}

/* Visits all records that are committed; visit may be NULL. */
static const char *log_walk(struct store *s, struct walk *w, visit_fn *visit, void *arg)
{
	uint32_t tail = s->commit.tail, last = segment_of(tail);
	const char *why = NULL;
	uint64_t value;

	*w = (struct walk){ .store = s, .at = SEGMENTS_AT + sizeof(struct segment), .is_met = { true } };
	if (tail < SEGMENTS_AT || tail > POOL_BYTES || tail % 8 != 0)
		return "the committed end is outside of the pool";
	if (tail == segment_start(last))
		last--; /* a segment that is full to the last byte */
	for (uint32_t seq = 0; seq < s->commit.count && !why; seq++) {
		if (w->segment != last && w->at == segment_at(s, w->segment)->end)
			why = walk_next_segment(w);
		if (!why)
			why = walk_record(w, seq, &value);
		if (!why && visit)
			visit(seq, value, arg);
	}
	if (!why && w->at != tail)
		why = "the records do not end where they were committed";
	return why;
}

static const char *log_check(struct store *s)
{
	struct walk w;

	return log_walk(s, &w, NULL, NULL);
}

static void log_each(struct store *s, visit_fn *visit, void *arg)
{
	struct walk w;

	log_walk(s, &w, visit, arg);
}

struct search {
	uint64_t key, value;
	bool is_found;
};

static void search_visit(uint64_t key, uint64_t value, void *arg)
{
	struct search *search = arg;

	if (key == search->key) {
		search->value = value;
		search->is_found = true;
	}
}

static bool log_get(struct store *s, uint64_t key, uint64_t *value)
{
	struct search search = { key, 0, false };

	log_each(s, search_visit, &search);
	*value = search.value;
	return search.is_found;
}

static uint64_t log_count(struct store *s)
{
	return s->commit.count;
}

/* ---- writing ---- */

/* Closes the segment that ends at the tail; gives where the next one's records begin. */
static uint32_t log_extend(struct store *s, uint32_t index)
{
	struct segment *old = segment_at(s, index), *new;
	uint32_t fresh = 0, number = 0;

	while (fresh < NSEGMENTS && s->is_used[fresh])
		fresh++;
	if (fresh == NSEGMENTS)
		die("the log is full");
	for (uint32_t i = 0; i < NSEGMENTS; i++)
		number += s->is_used[i];
	new = segment_at(s, fresh);
	new->id = segment_id(s->commit.generation, number);
	FLUSH(1, &new->id, sizeof new->id);
	old->end = s->commit.tail;
	old->next = fresh;
	FLUSH(2, old, sizeof *old);
	s->is_used[fresh] = true;
	return segment_start(fresh) + sizeof *new;
}

static void log_put(struct store *s, uint64_t key, uint64_t value)
{
	uint32_t at = s->commit.tail, index = segment_of(at - 1), len_bytes;
	char text[TEXT_MAX];
	struct record *r;

	if (key != s->commit.count)
		die("a log is appended to");
	len_bytes = text_print(text, value);
	if (at + record_bytes(len_bytes) > segment_start(index) + SEGMENT_BYTES)
		at = log_extend(s, index);
	r = (struct record *)(s->base + at);
	r->len_bytes = len_bytes;
	r->seq = s->commit.count;
	memcpy(r->text, text, len_bytes);
	r->sum = record_sum(r, s->commit.generation);
	FLUSH(3, r, sizeof *r + len_bytes);
	FENCE(4);

	s->commit.count++;
	s->commit.tail = at + record_bytes(len_bytes);
	store64(&s->head->commit, commit_pack(s->commit));
	FLUSH(5, &s->head->commit, sizeof s->head->commit);
	FENCE(6);
}

static void log_truncate(struct store *s)
{
	s->commit = (struct commit){ (s->commit.generation + 1) & 0xffff, 0, SEGMENTS_AT + sizeof(struct segment) };
	store64(&s->head->commit, commit_pack(s->commit));
	FLUSH(7, &s->head->commit, sizeof s->head->commit);
	FENCE(8); /* before the first segment is written to again */
	memset(s->is_used, 0, sizeof s->is_used);
	s->is_used[0] = true;
}

static void log_create(struct store *s)
{
	struct commit empty = { 1, 0, SEGMENTS_AT + sizeof(struct segment) };

	store64(&s->head->commit, commit_pack(empty));
	FLUSH(9, &s->head->commit, sizeof s->head->commit);
	FENCE(10);
	store64(&s->head->magic, MAGIC);
	FLUSH(11, &s->head->magic, sizeof s->head->magic);
	FENCE(12);
}

static const char *log_recover(struct store *s)
{
	const char *why;
	struct walk w;

	s->commit = commit_unpack(s->head->commit);
	why = log_walk(s, &w, NULL, NULL);
	memcpy(s->is_used, w.is_met, sizeof s->is_used);
	return why;
}

static void log_close(struct store *s)
{
	munmap(s->base, POOL_BYTES);
	free(s);
}

static struct store *log_open(const char *path, bool may_write, const char **why)
{
	enum pool_state state = pool_state(path, MAGIC, POOL_BYTES, why);
	struct store *s;

	if (state == POOL_DAMAGED || (state == POOL_NONE && !may_write))
		return NULL;
	s = need(calloc(1, sizeof *s));
	s->base = pool_map(path, POOL_BYTES);
	s->head = (struct head *)s->base;
	if (s->head->magic == 0 && may_write)
		log_create(s);
	if (s->head->magic == MAGIC)
		*why = log_recover(s);
	else if (s->head->magic != 0)
		*why = "the magic word is wrong";
	if (s->head->magic == MAGIC && !*why)
		return s;
	log_close(s);
	return NULL;
}

const struct structure structure = {
	.open = log_open,
	.close = log_close,
	.put = log_put,
	.get = log_get,
	.check = log_check,
	.each = log_each,
	.truncate = log_truncate,
	.count = log_count,
};
