/* How many events trace_next() reads in a second of processor time: read_speed [MILLIONS [FILE]]. A
 * persistent-array-like mix: 60% stores of 8 bytes (some counters, some random, some short), 25%
 * clwb, 15% sfence. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/trace.h"
#include "trace/writer.h"

#define NSITES 24u

static uint64_t g_random = 88172645463325252u;

static uint64_t next_random(void)
{
	g_random ^= g_random << 13;
	g_random ^= g_random >> 7;
	g_random ^= g_random << 17;
	return g_random;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int generate(const char *path, uint64_t nevents, struct error *err)
{
	static const uint32_t sizes[4] = { 8, 8, 4, 16 };
	uint32_t store[NSITES], flush[NSITES], fence[NSITES];
	uint64_t value[8] = { 0 }, addr = 0, i = 0;
	struct writer *w;

	if (writer_open(&w, path, err) < 0)
		return -1;
	for (uint32_t k = 0; k < NSITES; k++) {
		uint32_t node = writer_node(w, k ? k : 0, 0x401000 + 16 * k, false);

		store[k] = writer_site(w, node, 0x402000 + 8 * k, PMT_STORE, sizes[k % 4]);
		flush[k] = writer_site(w, node, 0x403000 + 8 * k, PMT_CLWB, 64);
		fence[k] = writer_site(w, node, 0x404000 + 8 * k, PMT_SFENCE, 0);
	}
	while (i < nevents) {
		uint64_t r = next_random();
		uint32_t k = (r >> 8) % NSITES;

		if (r & 1)
			addr = PMT_ADDR(1, (r >> 20) % (1 << 26) & ~(uint64_t)63);
		for (unsigned j = 0; j < 4; j++, i++, addr += 8) {
			value[0] = r & 2 ? i : r >> (r >> 58);
			writer_event(w, &(struct writer_event){ .site = store[(k + j) % NSITES],
								.thread = 1,
								.addr = addr,
								.data = value });
		}
		writer_event(w, &(struct writer_event){ .site = flush[k],
							.thread = 1,
							.addr = addr & ~(uint64_t)63 });
		i++;
		if (r & 4) {
			writer_event(w,
				     &(struct writer_event){ .site = flush[(k + 1) % NSITES],
							     .thread = 1,
							     .addr = (addr & ~(uint64_t)63) + 64 });
			i++;
		}
		writer_event(w, &(struct writer_event){ .site = fence[k], .thread = 1 });
		i++;
	}
	return writer_close(w, err);
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
	const char *path = argc > 2 ? argv[2] : "/tmp/read_speed.pmt";
	struct trace_event ev;
	struct error err;
	struct trace *t;

	if (generate(path, millions * 1000000, &err) < 0)
		goto fail;
	for (int round = 0; round < 3; round++) {
		uint64_t n = 0, sum = 0;
		double start = now_s(), seconds;

		if (trace_open(&t, path, &err) < 0)
			goto fail;
		for (; trace_next(t, &ev); n++)
			sum += ev.addr + (ev.data ? ev.data[0] : 0);
		seconds = now_s() - start;
		printf("%.1f million events/s (%.2f bytes an event, checksum %llx)%s%s\n",
		       (double)n / seconds * 1e-6, (double)trace_size_bytes(t) / (double)n,
		       (unsigned long long)sum, trace_damage(t) ? ": " : "",
		       trace_damage(t) ? trace_damage(t) : "");
		trace_close(t);
	}
	remove(path);
	return 0;
fail:
	fprintf(stderr, "read_speed: %s\n", err.msg);
	return 1;
}
