/* How many events model_step() takes in a second of processor time: model_speed [MILLIONS]. Each
 * row is a pattern of programs; the model is asked nothing. "image" also keeps the durable content,
 * as `crash` does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/model.h"

#define POOL_BYTES ((uint64_t)64 << 20)

struct pattern {
	const char *name;
	/* s store 8, v store 32, n store-nt 16, w clwb, c clflush, f sfence, r rmw */
	const char *kinds;
	uint32_t nlines; /* walked one after the other, one for each round of kinds */
	bool has_image;
};

static const struct pattern patterns[] = {
	{ "store, clwb, sfence", "swf", 1u << 20, false },
	{ "store, clwb, sfence; image", "swf", 1u << 20, true },
	{ "store, clwb, sfence; one line", "swf", 1, true },
	{ "8 stores, clwb, sfence; image", "sssssssswf", 1u << 20, true },
	{ "vector store, clwb, sfence; image", "vwf", 1u << 20, true },
	{ "non-temporal, sfence; image", "nnnnf", 1u << 20, true },
	{ "store, clflush; image", "sc", 1u << 20, true },
	{ "locked store, clwb; image", "rw", 1u << 20, true },
	{ "stores, never flushed: one line", "s", 1, true },
	{ "stores, never flushed: 8 Ki lines", "s", 1u << 13, true },
	{ "stores, never flushed: 64 Ki lines", "s", 1u << 16, true },
	{ "stores, never flushed: 1 Mi lines", "s", 1u << 20, true },
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(bytes, (uint8_t *)arg + PMT_OFFSET(addr), len_bytes);
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	memcpy((uint8_t *)arg + PMT_OFFSET(addr), bytes, len_bytes);
}

static struct trace_event event_of(char letter)
{
	switch (letter) {
	case 's': return (struct trace_event){ .kind = PMT_STORE, .size_bytes = 8 };
	case 'v': return (struct trace_event){ .kind = PMT_STORE, .size_bytes = 32 };
	case 'n': return (struct trace_event){ .kind = PMT_STORE_NT, .size_bytes = 16 };
	case 'r': return (struct trace_event){ .kind = PMT_STORE_RMW, .size_bytes = 8 };
	case 'w': return (struct trace_event){ .kind = PMT_CLWB };
	case 'c': return (struct trace_event){ .kind = PMT_CLFLUSH };
	default: return (struct trace_event){ .kind = PMT_SFENCE };
	}
}

static double run(const struct pattern *p, uint64_t nevents, uint8_t *pool)
{
	struct model_image image = { image_read, image_write, pool };
	struct model *m = model_new(platforms[0], p->has_image ? &image : NULL);
	struct trace_event events[16];
	struct trace_site site = { .id = 1 };
	uint64_t seq = 0, value[4] = { 0 };
	size_t n = strlen(p->kinds);
	double start;

	for (size_t i = 0; i < n; i++)
		events[i] = event_of(p->kinds[i]);
	start = now_s();
	for (uint64_t round = 0; seq < nevents; round++) {
		uint64_t addr = PMT_ADDR(1, round % p->nlines * PMT_LINE_BYTES);

		for (size_t i = 0; i < n; i++) {
			struct trace_event ev = events[i];

			value[0] = ev.seq = ++seq;
			ev.site = &site;
			ev.thread = 1;
			ev.addr = addr + (ev.size_bytes ? i * ev.size_bytes % PMT_LINE_BYTES : 0);
			ev.data = (const uint8_t *)value;
			model_step(m, &ev);
		}
	}
	start = now_s() - start;
	model_free(m);
	return (double)seq / start;
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
	uint8_t *pool = calloc(1, POOL_BYTES);

	if (!pool)
		return 1;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		printf("%-38s %6.1f million events/s\n", patterns[i].name,
		       run(&patterns[i], millions * 1000000, pool) * 1e-6);
	free(pool);
	return 0;
}
