/* No file makes the reader of traces crash, hang, or need much memory.
 * An input is a trace without the unused part of its header page, which would only slow the fuzzer down. The mutator
 * starts from random good traces and mostly mends checksums and chunk headers, so that the decoder is reached. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"

#define PADDING_BYTES (PMT_HEADER_BYTES - sizeof(struct pmt_header))
#define NSTREAMS 8u

static void use_event(const struct trace_event *ev)
{
	volatile uint8_t sink = 0; /* every byte is read */
	unsigned depth = 0;

	for (uint32_t i = 0; i < ev->data_len; i++)
		sink = ev->data[i];
	for (const struct trace_node *n = ev->site->node; n && depth < 100; n = n->parent, depth++)
		sink = n->object ? (uint8_t)strlen(n->object->path) : 0;
	(void)sink;
	if (ev->kind != ev->site->kind || !trace_kinds[ev->kind].name || ev->size_bytes != ev->site->size_bytes)
		abort();
}

void fuzz_trace_read(const char *path)
{
	struct trace_event ev;
	struct error err;
	struct trace *t;
	uint64_t n = 0;

	if (trace_open(&t, path, &err) < 0) {
		if (err.msg[0] == '\0')
			abort();
		return;
	}
	for (; trace_next(t, &ev); n++)
		use_event(&ev);
	if (n > trace_size_bytes(t)) /* an event takes a byte at least */
		abort();
	for (uint32_t i = 0; i <= trace_nfiles(t) && i < 1000; i++)
		if (trace_file(t, i) && !trace_file(t, i)->path)
			abort();
	trace_meta(t, "platform");
	trace_close(t);
}

static void reader_run(const uint8_t *data, size_t size)
{
	uint8_t *bytes = calloc(1, size + PADDING_BYTES);
	size_t head = size < sizeof(struct pmt_header) ? size : sizeof(struct pmt_header);
	char path[64];
	int fd;

	memcpy(bytes, data, head);
	if (size > head)
		memcpy(bytes + PMT_HEADER_BYTES, data + head, size - head);
	fd = memory_file(bytes, size > head ? size + PADDING_BYTES : size, path);
	fuzz_trace_read(path);
	close(fd);
	free(bytes);
}

static size_t new_sample(uint8_t *data, size_t max_size, unsigned seed)
{
	struct sample_options o = { .seed = seed + 1, .nevents = 1 + seed % 60, .nstreams = 1 + seed % 4,
				    .chunk_bytes = 150 + seed % 600, .has_forks = seed & 64 };
	struct sample s;
	size_t size;

	sample_init(&s, &o);
	size = s.len_bytes - PADDING_BYTES;
	if (size > max_size)
		size = max_size;
	memcpy(data, s.bytes, sizeof(struct pmt_header));
	memcpy(data + sizeof(struct pmt_header), s.bytes + PMT_HEADER_BYTES, size - sizeof(struct pmt_header));
	sample_release(&s);
	return size;
}

static void mend_chunks(uint8_t *p, size_t left)
{
	uint32_t next_number[NSTREAMS] = { 0 };
	struct pmt_chunk h;

	for (; left >= sizeof h; p += h.capacity, left -= h.capacity) {
		memcpy(&h, p, sizeof h);
		h.magic = PMT_CHUNK_MAGIC;
		h.stream %= NSTREAMS;
		if (h.used > left - sizeof h)
			h.used = (uint32_t)(left - sizeof h);
		h.capacity = (uint32_t)sizeof h + h.used;
		h.state = h.state == PMT_CHUNK_OPEN ? PMT_CHUNK_OPEN : PMT_CHUNK_CLOSED;
		h.number = next_number[h.stream]++;
		h.hash = pmt_chunk_hash(PMT_VERSION, &h, p + sizeof h);
		memcpy(p, &h, sizeof h);
	}
}

static size_t reader_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct pmt_header h;

	if (max_size <= sizeof h)
		return LLVMFuzzerMutate(data, size, max_size);
	if (size <= sizeof h || seed % 512 == 0)
		size = new_sample(data, max_size, seed);
	size = LLVMFuzzerMutate(data, size, max_size);
	if (size < sizeof h || seed % 16 == 1)
		return size;
	memcpy(&h, data, sizeof h);
	memcpy(h.magic, PMT_MAGIC, sizeof h.magic);
	h.version = PMT_VERSION;
	h.header_bytes = PMT_HEADER_BYTES;
	h.nstreams = NSTREAMS;
	h.end = size + PADDING_BYTES;
	memcpy(data, &h, sizeof h);
	mend_chunks(data + sizeof h, size - sizeof h);
	return size;
}

const struct fuzz_target fuzz_reader = { .name = "reader", .flags = "-max_len=4096", .run = reader_run, .mutate = reader_mutate };
