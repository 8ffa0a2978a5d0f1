/* Writes traces. Each stream collects records in memory and writes them as one closed chunk. The
 * header is written last, so a trace that was not completed can be recognised. */
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pmtrace_encode.h"
#include "util/vec.h"

/* What identifies a node (pc, parent, is_signal) or a site (pc, node, kind, size). */
struct key {
	uint64_t pc;
	uint32_t a, b, c, unused;
};

/* Numbers keys from 1; equal keys get equal numbers. A hash table with open addressing whose slots
 * hold numbers. */
struct intern {
	VEC(struct key) keys;
	uint32_t *slots;
	size_t nslots; /* a power of two, at least twice keys.n */
};

struct out_stream {
	struct pmt_encoder encoder;
	struct intern nodes, sites;
	/* per site; [0] stands for the state before the first event */
	VEC(struct pmt_site_state) states;
	VEC(uint8_t) payload;
	/* first_seq and nevents describe the chunk; next_seq is the next event's number unless
	 * another stream gets it */
	uint64_t first_seq, next_seq, nevents;
	uint32_t nchunks;
	bool is_used;
};

struct writer {
	int fd;
	int error; /* errno of the first write that failed */
	char *path;
	struct pmt_header header;
	VEC(struct out_stream *) streams;
	struct out_stream *now;
	uint32_t now_number;
	uint32_t chunk_bytes;
	bool is_appending; /* keeps the rest of the header page */
	uint8_t record[PMT_RECORD_MAX_BYTES];
};

static size_t key_hash(const struct key *key)
{
	return pmt_hash(key, sizeof *key);
}

static void intern_grow(struct intern *t)
{
	size_t i, slot;

	free(t->slots);
	t->nslots = t->nslots ? 2 * t->nslots : 64;
	t->slots = xcalloc(t->nslots, sizeof *t->slots);
	for (i = 0; i < t->keys.n; i++) {
		slot = key_hash(&t->keys.at[i]) & (t->nslots - 1);
		while (t->slots[slot])
			slot = (slot + 1) & (t->nslots - 1);
		t->slots[slot] = (uint32_t)i + 1;
	}
}

static uint32_t intern_number(struct intern *t, struct key key, bool *is_new)
{
	size_t slot;

	if (2 * (t->keys.n + 1) > t->nslots)
		intern_grow(t);
	*is_new = false;
	slot = key_hash(&key) & (t->nslots - 1);
	for (; t->slots[slot]; slot = (slot + 1) & (t->nslots - 1))
		if (memcmp(&t->keys.at[t->slots[slot] - 1], &key, sizeof key) == 0)
			return t->slots[slot];
	*is_new = true;
	*vec_add(&t->keys) = key;
	return t->slots[slot] = (uint32_t)t->keys.n;
}

static void intern_copy(struct intern *to, const struct intern *from)
{
	for (size_t i = 0; i < from->keys.n; i++) {
		bool is_new;

		intern_number(to, from->keys.at[i], &is_new);
	}
}

static void intern_release(struct intern *t)
{
	vec_release(&t->keys);
	free(t->slots);
}

static void write_all(struct writer *w, const void *data, size_t len_bytes, uint64_t offset)
{
	const char *p = data;
	ssize_t n;

	while (len_bytes && !w->error) {
		n = pwrite(w->fd, p, len_bytes, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			w->error = n < 0 ? errno : ENOSPC;
			return;
		}
		p += n;
		offset += (uint64_t)n;
		len_bytes -= (size_t)n;
	}
}

static void flush_chunk(struct writer *w, struct out_stream *s, uint32_t number)
{
	uint32_t used = (uint32_t)s->payload.n;
	struct pmt_chunk chunk = {
		.magic = PMT_CHUNK_MAGIC,
		.stream = number,
		/* so that the next chunk header is aligned */
		.capacity = (sizeof chunk + used + 7) & ~7u,
		.used = used,
		.first_seq = s->first_seq,
		.state = PMT_CHUNK_CLOSED,
		.number = s->nchunks,
		.nevents = s->nevents,
	};

	if (used == 0)
		return;
	chunk.hash = pmt_chunk_hash(PMT_VERSION, &chunk, s->payload.at);
	write_all(w, &chunk, sizeof chunk, w->header.end);
	write_all(w, s->payload.at, used, w->header.end + sizeof chunk);
	if (!w->error)
		w->header.end += chunk.capacity;
	s->nchunks++;
	s->payload.n = 0;
	s->nevents = 0;
}

/* Adds the record in w->record to the chunk. A record never spans chunks; one that is too long gets
 * a longer chunk. */
static void put_record(struct writer *w, const uint8_t *end)
{
	struct out_stream *s = w->now;
	size_t len_bytes = (size_t)(end - w->record);

	if (s->payload.n + len_bytes + sizeof(struct pmt_chunk) > w->chunk_bytes)
		flush_chunk(w, s, w->now_number);
	if (s->payload.n == 0)
		s->first_seq = s->next_seq;
	vec_reserve(&s->payload, s->payload.n + len_bytes);
	memcpy(s->payload.at + s->payload.n, w->record, len_bytes);
	s->payload.n += len_bytes;
}

void writer_object(struct writer *w, const struct trace_object *object)
{
	put_record(w, pmt_put_object(w->record, object->va, object->len_bytes, object->offset,
				     object->build_id, object->build_id_len, object->path,
				     (uint32_t)strnlen(object->path, 4096)));
}

void writer_object_gone(struct writer *w, uint64_t va, uint64_t len_bytes)
{
	put_record(w, pmt_put_object_gone(w->record, va, len_bytes));
}

uint32_t writer_node(struct writer *w, uint32_t parent, uint64_t pc, bool is_signal)
{
	struct out_stream *s = w->now;
	bool is_new;
	uint32_t node = intern_number(
		&s->nodes, (struct key){ .pc = pc, .a = parent, .b = is_signal }, &is_new);

	if (parent >= node && is_new)
		BUG("node %u has an unknown parent %u", node, parent);
	if (is_new)
		put_record(w, pmt_put_node(&s->encoder, w->record, parent, is_signal, pc));
	return node;
}

uint32_t writer_site(struct writer *w, uint32_t node, uint64_t pc, enum pmt_kind kind,
		     uint32_t size_bytes)
{
	struct out_stream *s = w->now;
	bool is_new;
	uint32_t site = intern_number(
		&s->sites, (struct key){ .pc = pc, .a = node, .b = kind, .c = size_bytes },
		&is_new);

	if (node > s->nodes.keys.n)
		BUG("site %u is in an unknown node %u", site, node);
	if (!is_new)
		return site;
	*vec_add(&s->states) = (struct pmt_site_state){ 0 };
	put_record(w, pmt_put_site(&s->encoder, w->record, node, pc, kind, size_bytes));
	return site;
}

uint64_t writer_event(struct writer *w, const struct writer_event *ev)
{
	struct out_stream *s = w->now;
	uint64_t seq = ++w->header.seq;
	const struct trace_kind *kind;
	uint32_t size_bytes;
	uint8_t *p = w->record, *start;
	uint32_t head = 0;

	if (ev->site == 0 || ev->site > s->sites.keys.n)
		BUG("event %llu has an unknown site %u", (unsigned long long)seq, ev->site);
	kind = &trace_kinds[s->sites.keys.at[ev->site - 1].b];
	size_bytes = s->sites.keys.at[ev->site - 1].c;
	if (kind->carries & PMT_HAS_BLOB && ev->data_len > WRITER_BLOB_MAX_BYTES)
		BUG("event %llu has a blob of %u bytes", (unsigned long long)seq, ev->data_len);
	if (seq != s->next_seq)
		p = pmt_put_seq(p, seq - s->next_seq);
	start = p++;
	p = pmt_put_event(&s->encoder, &head, p, ev->thread, ev->site,
			  &s->states.at[s->encoder.prev_site]);
	if (kind->carries & PMT_HAS_ADDR)
		p = pmt_put_addr(&s->encoder, &head, p, &s->states.at[ev->site], ev->addr,
				 size_bytes);
	if (kind->carries & PMT_HAS_VALUE)
		p = pmt_put_value(&head, p, &s->states.at[ev->site], ev->data, size_bytes);
	for (int i = 0; i < kind->nargs; i++)
		p = pmt_put_number(p, ev->arg[i]);
	if (kind->carries & PMT_HAS_BLOB)
		p = pmt_put_blob(p, ev->data ? ev->data : "", ev->data_len);
	*start = (uint8_t)head;
	put_record(w, p);
	s->nevents++;
	s->next_seq = seq + 1;
	return seq;
}

static struct out_stream *get_stream(struct writer *w, uint32_t number)
{
	struct out_stream *s;

	while (w->streams.n <= number) {
		s = xcalloc(1, sizeof *s);
		*vec_add(&s->states) = (struct pmt_site_state){ 0 };
		s->next_seq = 1;
		*vec_add(&w->streams) = s;
	}
	return w->streams.at[number];
}

void writer_select(struct writer *w, uint32_t stream)
{
	w->now = get_stream(w, stream);
	w->now->is_used = true;
	w->now_number = stream;
}

uint64_t writer_fork(struct writer *w, uint32_t site, uint32_t thread, uint32_t child)
{
	struct out_stream *to = get_stream(w, child);
	uint64_t seq;

	if (to->is_used)
		BUG("stream %u cannot be forked: it is in use", child);
	to->is_used = true;
	seq = writer_event(
		w, &(struct writer_event){ .site = site, .thread = thread, .arg = { child } });
	to->encoder = w->now->encoder;
	intern_copy(&to->nodes, &w->now->nodes);
	intern_copy(&to->sites, &w->now->sites);
	vec_reserve(&to->states, w->now->states.n);
	memcpy(to->states.at, w->now->states.at, w->now->states.n * sizeof *to->states.at);
	to->states.n = w->now->states.n;
	to->next_seq = seq + 1;
	return seq;
}

void writer_set_chunk_bytes(struct writer *w, uint32_t chunk_bytes)
{
	w->chunk_bytes = chunk_bytes;
}

int writer_open(struct writer **result, const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct writer *w;

	if (fd < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	w = xcalloc(1, sizeof *w);
	w->fd = fd;
	w->path = xstrdup(path);
	w->chunk_bytes = PMT_CHUNK_BYTES;
	w->header = (struct pmt_header){
		.version = PMT_VERSION,
		.header_bytes = PMT_HEADER_BYTES,
		.end = PMT_HEADER_BYTES,
	};
	/* the magic has no final NUL */
	memcpy(w->header.magic, PMT_MAGIC, sizeof w->header.magic);
	writer_select(w, 0);
	*result = w;
	return 0;
}

int writer_append(struct writer **result, const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct writer *w;
	ssize_t n;

	if (fd < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	w = xcalloc(1, sizeof *w);
	n = pread(fd, &w->header, sizeof w->header, 0);
	if (n != sizeof w->header ||
	    memcmp(w->header.magic, PMT_MAGIC, sizeof w->header.magic) != 0 ||
	    w->header.version != PMT_VERSION) {
		close(fd);
		free(w);
		return error_set(err, "%s: no trace that can be appended to", path);
	}
	w->fd = fd;
	w->path = xstrdup(path);
	w->chunk_bytes = PMT_CHUNK_BYTES;
	w->is_appending = true;
	writer_select(w, w->header.nstreams);
	w->now->next_seq = w->header.seq + 1;
	*result = w;
	return 0;
}

static void free_streams(struct writer *w)
{
	for (size_t i = 0; i < w->streams.n; i++) {
		struct out_stream *s = w->streams.at[i];

		intern_release(&s->nodes);
		intern_release(&s->sites);
		vec_release(&s->states);
		vec_release(&s->payload);
		free(s);
	}
	vec_release(&w->streams);
}

static void write_header(struct writer *w)
{
	static const uint8_t page[PMT_HEADER_BYTES];
	int error = w->error;

	w->error = 0; /* try to write the header even after a failure, which it then tells */
	w->header.error = (uint32_t)error;
	w->header.nstreams = (uint32_t)w->streams.n;
	if (!w->is_appending) {
		w->header.finished = !error;
		write_all(w, page + sizeof w->header, sizeof page - sizeof w->header,
			  sizeof w->header);
	}
	write_all(w, &w->header, sizeof w->header, 0);
	if (error)
		w->error = error;
}

int writer_close(struct writer *w, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < w->streams.n; i++)
		flush_chunk(w, w->streams.at[i], (uint32_t)i);
	write_header(w);
	if (close(w->fd) < 0 && !w->error)
		w->error = errno;
	if (w->error)
		result = error_set(err, "%s: cannot be written: %s", w->path, strerror(w->error));
	free_streams(w);
	free(w->path);
	free(w);
	return result;
}
