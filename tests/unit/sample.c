/* Random traces of all kinds of events. */
#include "tests/unit/sample.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/writer.h"

#define MAX_STREAMS 8u

struct generator {
	uint64_t random;
	struct sample *sample;
	struct writer *w;
	const struct sample_options *options;
	uint32_t nnodes[MAX_STREAMS];
	uint64_t node_pc[MAX_STREAMS][64];
	bool node_is_signal[MAX_STREAMS][64];
	bool is_alive[MAX_STREAMS];
	uint64_t last_addr, last_value;
};

static uint64_t any(struct generator *g, uint64_t below)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (g->random * 0x2545f4914f6cdd1du >> 11) % below;
}

static void must(bool ok, const char *what)
{
	if (!ok)
		BUG("test set-up failed: %s", what);
}

int memory_file(const void *bytes, size_t len_bytes, char path[64])
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	must(fd >= 0, "memfd_create");
	must(len_bytes == 0 || write(fd, bytes, len_bytes) == (ssize_t)len_bytes, "write");
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static uint64_t any_number(struct generator *g)
{
	return (any(g, (uint64_t)1 << 32) << 32 | any(g, (uint64_t)1 << 32)) >> any(g, 64);
}

static uint64_t any_addr(struct generator *g)
{
	switch (any(g, 4)) {
	case 0: g->last_addr = PMT_ADDR(1 + any(g, 3), any(g, 1 << 20)); break;
	case 1: g->last_addr += any(g, 128); break;
	case 2: g->last_addr -= any(g, 128); break;
	default: g->last_addr += 8;
	}
	return g->last_addr;
}

static void any_value(struct generator *g, uint8_t *data, uint32_t size_bytes)
{
	uint32_t i;

	switch (any(g, 5)) {
	case 0: g->last_value = 0; break;
	case 1: g->last_value += any(g, 1000); break;
	case 2: g->last_value = any(g, 1 << 16); break;
	default: g->last_value = any_number(g);
	}
	for (i = 0; i < size_bytes; i++)
		data[i] = i < 8 ? (uint8_t)(g->last_value >> 8 * i) : (uint8_t)(any(g, 3) && g->last_value ? any(g, 256) : 0);
}

static enum pmt_kind any_kind(struct generator *g)
{
	enum pmt_kind kind;

	do
		kind = any(g, 2) ? PMT_STORE + any(g, 12) : any(g, PMT_NKINDS);
	while (!trace_kinds[kind].name || kind == PMT_FORK);
	return kind;
}

static uint32_t any_size(struct generator *g, enum pmt_kind kind)
{
	static const uint32_t sizes[] = { 8, 8, 4, 1, 2, 3, 5, 6, 7, 16, 32, 64, 0 };

	if (trace_kinds[kind].carries & PMT_HAS_VALUE || kind == PMT_LOAD)
		return sizes[any(g, sizeof sizes / sizeof *sizes)];
	return kind >= PMT_CLFLUSH && kind <= PMT_CLWB ? 64 : 0;
}

/* A node of the stream, perhaps a new one. */
static uint32_t any_node(struct generator *g, uint32_t stream)
{
	uint32_t n = g->nnodes[stream], parent, node;
	uint64_t pc;
	bool is_signal;

	if (n == 0 || (n < 63 && any(g, 8) == 0)) {
		parent = (uint32_t)any(g, n + 1);
		pc = 0x400000 + any(g, 1 << 20);
		is_signal = any(g, 4) == 0;
		node = writer_node(g->w, parent, pc, is_signal);
		g->node_pc[stream][node] = pc;
		g->node_is_signal[stream][node] = is_signal;
		g->nnodes[stream] = node > n ? node : n;
		return node;
	}
	return (uint32_t)any(g, n + 1);
}

static void add_event(struct generator *g, uint32_t stream, enum pmt_kind kind, uint32_t child)
{
	uint32_t node = any_node(g, stream), nargs = trace_kinds[kind].nargs;
	struct sample_event *e = vec_add(&g->sample->events);
	struct trace_event *ev = &e->event;
	struct writer_event out;

	*e = (struct sample_event){ .pc = 0x400000 + 16 * any(g, 8), .node_pc = g->node_pc[stream][node] };
	e->is_signal = g->node_is_signal[stream][node];
	*ev = (struct trace_event){ .kind = kind, .stream = stream, .thread = 1 + (uint32_t)any(g, 3) };
	ev->size_bytes = any_size(g, kind);
	if (trace_kinds[kind].carries & PMT_HAS_ADDR)
		ev->addr = any_addr(g);
	for (uint32_t i = 0; i < nargs; i++)
		ev->arg[i] = any_number(g);
	if (kind == PMT_FILE)
		ev->arg[0] = 1 + any(g, 5);
	if (kind == PMT_FORK)
		ev->arg[0] = child;
	if (trace_kinds[kind].carries & (PMT_HAS_VALUE | PMT_HAS_BLOB)) {
		ev->data_len = trace_kinds[kind].carries & PMT_HAS_BLOB ? (uint32_t)any(g, 64) : ev->size_bytes;
		any_value(g, e->data, ev->data_len);
	}
	out = (struct writer_event){ .addr = ev->addr, .data = e->data, .data_len = ev->data_len, .thread = ev->thread };
	memcpy(out.arg, ev->arg, sizeof out.arg);
	out.site = writer_site(g->w, node, e->pc, kind, ev->size_bytes);
	ev->seq = kind == PMT_FORK ? writer_fork(g->w, out.site, out.thread, child) : writer_event(g->w, &out);
}

static void fork_stream(struct generator *g, uint32_t parent, uint32_t child)
{
	writer_select(g->w, parent);
	add_event(g, parent, PMT_FORK, child);
	g->nnodes[child] = g->nnodes[parent];
	memcpy(g->node_pc[child], g->node_pc[parent], sizeof g->node_pc[child]);
	memcpy(g->node_is_signal[child], g->node_is_signal[parent], sizeof g->node_is_signal[child]);
	g->is_alive[child] = true;
}

static void generate(struct generator *g)
{
	uint32_t stream;

	g->is_alive[0] = true;
	while (g->sample->events.n < g->options->nevents) {
		stream = (uint32_t)any(g, g->options->nstreams);
		if (!g->is_alive[stream]) {
			if (!g->options->has_forks)
				g->is_alive[stream] = true;
			else if (g->is_alive[stream - 1] && any(g, 10) == 0)
				fork_stream(g, stream - 1, stream);
			continue;
		}
		writer_select(g->w, stream);
		for (uint64_t run = any(g, 20); run > 0 && g->sample->events.n < g->options->nevents; run--)
			add_event(g, stream, any_kind(g), 0);
	}
}

void sample_init(struct sample *s, const struct sample_options *o)
{
	struct generator g = { .random = o->seed * 0x9e3779b97f4a7c15u + 1, .sample = s, .options = o };
	struct error err;
	struct stat st;

	*s = (struct sample){ 0 };
	s->fd = memory_file(NULL, 0, s->path);
	must(writer_open(&g.w, s->path, &err) == 0, "writer_open");
	writer_set_chunk_bytes(g.w, o->chunk_bytes);
	generate(&g);
	must(writer_close(g.w, &err) == 0, "writer_close");
	must(fstat(s->fd, &st) == 0, "fstat");
	s->len_bytes = (size_t)st.st_size;
	s->bytes = xmalloc(s->len_bytes);
	must(pread(s->fd, s->bytes, s->len_bytes, 0) == (ssize_t)s->len_bytes, "pread");
}

void sample_release(struct sample *s)
{
	close(s->fd);
	free(s->bytes);
	vec_release(&s->events);
}

const char *sample_difference(const struct sample_event *want, const struct trace_event *got, bool with_seq)
{
	const struct trace_event *ev = &want->event;
	const struct trace_node *node = got->site->node;

	if (with_seq && ev->seq != got->seq)
		return "number";
	if (ev->kind != got->kind || got->site->kind != ev->kind)
		return "kind";
	if (ev->stream != got->stream || ev->thread != got->thread)
		return "stream or thread";
	if (ev->size_bytes != got->size_bytes || got->site->size_bytes != ev->size_bytes)
		return "size";
	if (ev->addr != got->addr)
		return "address";
	if (memcmp(ev->arg, got->arg, sizeof ev->arg) != 0)
		return "arguments";
	if (ev->data_len != got->data_len || (got->data_len && memcmp(want->data, got->data, got->data_len) != 0))
		return "data";
	if (want->pc != got->site->pc || want->node_pc != (node ? node->pc : 0))
		return "stack";
	return node && node->is_signal != want->is_signal ? "is_signal" : NULL;
}
