/* A random reader of a pool, as a function of a seed: loads of all sizes at fixed and computed places, stores, atomics, copies, branches on what
 * was read. reader.c runs it as recovery; test_lazy.c runs it on every state that the model allows. Both must see the same. */
#ifndef TESTS_CRASH_SCRIPT_H
#define TESTS_CRASH_SCRIPT_H

#include <stdint.h>
#include <string.h>

typedef uint64_t script_vector __attribute__((vector_size(16), aligned(1), may_alias));

#define SCRIPT_POOL_BYTES 8192u
#define SCRIPT_FIRST (4096u - 128u) /* four lines, two on each page */
#define SCRIPT_BYTES 256u
#define SCRIPT_STEPS 14u

static inline uint64_t script_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline uint32_t script_pick(uint64_t *seed, uint32_t n)
{
	return (uint32_t)((script_mix(*seed += 0x9e3779b97f4a7c15u) >> 32) % n);
}

static inline uint64_t script_hash(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = script_mix(h ^ p[i]) + 1;
	return h;
}

static inline uint64_t script_load(const uint8_t *p, uint32_t size, uint64_t h)
{
	switch (size) {
	case 0: { uint8_t v = *(const volatile uint8_t *)p; return script_hash(h, &v, 1); }
	case 1: { uint16_t v = *(const volatile uint16_t *)p; return script_hash(h, &v, 2); }
	case 2: { uint32_t v = *(const volatile uint32_t *)p; return script_hash(h, &v, 4); }
	case 3: { uint64_t v = *(const volatile uint64_t *)p; return script_hash(h, &v, 8); }
	default: {
		script_vector v = *(const volatile script_vector *)p;

		return script_hash(h, &v, 16);
	}
	}
}

static inline void script_store(uint8_t *p, uint32_t size, uint64_t v)
{
	switch (size) {
	case 0: *(volatile uint8_t *)p = (uint8_t)v; return;
	case 1: *(volatile uint16_t *)p = (uint16_t)v; return;
	case 2: *(volatile uint32_t *)p = (uint32_t)v; return;
	case 3: *(volatile uint64_t *)p = v; return;
	default: *(volatile script_vector *)p = (script_vector){ v, ~v };
	}
}

/* pool has SCRIPT_POOL_BYTES. */
static inline uint64_t script_run(uint8_t *pool, uint64_t seed)
{
	uint64_t h = 1, first;
	uint8_t copy[128];

	for (uint32_t i = 0; i < SCRIPT_STEPS; i++) {
		uint32_t what = script_pick(&seed, 12), size = script_pick(&seed, 5), at = script_pick(&seed, SCRIPT_BYTES - 16);
		uint32_t n = 1 + script_pick(&seed, sizeof copy), skip = script_pick(&seed, 4);
		uint8_t *lines = pool + SCRIPT_FIRST;

		if (script_pick(&seed, 3) > 0)
			at &= ~7u; /* most programs align their accesses */
		switch (what) {
		case 0: case 1: case 2: case 3: case 4:
			h = script_load(lines + at, size, h);
			break;
		case 5: /* reads through a pointer that was read */
			first = *(volatile uint64_t *)(lines + (at & ~7u));
			h = script_load(lines + first % (SCRIPT_BYTES - 16), size, script_hash(h, &first, 8));
			break;
		case 6: case 7:
			script_store(lines + at, size, h);
			break;
		case 8:
			first = __atomic_fetch_add((uint64_t *)(lines + (at & ~7u)), 1, __ATOMIC_SEQ_CST);
			h = script_hash(h, &first, 8);
			break;
		case 9:
			if (at + n > SCRIPT_BYTES)
				n = SCRIPT_BYTES - at;
			memcpy(copy, lines + at, n);
			h = script_hash(h, copy, n);
			break;
		case 10: /* branches on what was read, as on a commit flag */
			if (*(volatile uint8_t *)(lines + at) & 1)
				i += skip;
			break;
		case 11:
			h = script_hash(h, &(uint8_t){ (uint8_t)(memcmp(lines + at, lines + at / 2, 16) < 0) }, 1);
			break;
		}
	}
	return h;
}

#endif
