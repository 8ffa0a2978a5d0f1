/* Macros that store and wait: the flush that is missing belongs into them. */
#include <stdint.h>

static inline void line_back(const void *p)
{
#ifdef __aarch64__
	__asm__ volatile("dc cvac, %0" : : "r"(p) : "memory");
#else
	__asm__ volatile("clflush (%0)" : : "r"(p) : "memory");
#endif
}

static inline void wait(void)
{
#ifdef __aarch64__
	__asm__ volatile("dsb sy" : : : "memory");
#else
	__asm__ volatile("sfence" : : : "memory");
#endif
}

#define SET_DURABLE(place, value)   \
	do {                        \
		(place) = (value);  \
		line_back(&(place)); \
		wait();             \
	} while (0)

#define SET_MORE(place, by)         \
	do {                        \
		(place) += (by);    \
		line_back(&(place)); \
		wait();             \
	} while (0)

#define SET_FLAG(o, bit) do { (o)->flags |= 1u << (bit); line_back(&(o)->flags); wait(); } while (0)

/* it does not wait: who uses it flushes */
#define SET_PLAIN(place, value) do { (place) = (value); } while (0)

struct counter {
	uint64_t hits;
	uint32_t flags;
	uint64_t misses;
};

void counter_hit(struct counter *c)
{
	SET_DURABLE(c->misses, 0);
	SET_MORE(c->hits, 1); /* BUG: missing-flush */
	SET_FLAG(c, 3); /* BUG: missing-flush */
}

void counter_reset(struct counter *c)
{
	SET_PLAIN(c->hits, 0); /* BUG: missing-flush */
	line_back(&c->hits);
	wait();
}
