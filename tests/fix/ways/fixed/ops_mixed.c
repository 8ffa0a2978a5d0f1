/* A pointer behind which there is one thing or the other: it is no way to flush, so the file gets its own. */
#include "tests/fix/ways/ops.h"

/* PM_FLUSH writes the cache line of an address back to persistent memory; PM_FENCE waits until it is there. */
#ifdef __aarch64__
#define PM_FLUSH(p) __asm__ volatile("sys #3, c7, c12, #1, %0" : : "r"(p) : "memory") /* dc cvap */
#define PM_FENCE() __asm__ volatile("dsb sy" : : : "memory")
#else
#define PM_FLUSH(p) __asm__ volatile("clwb (%0)" : : "r"(p) : "memory")
#define PM_FENCE() __asm__ volatile("sfence" : : : "memory")
#endif

void correct(const struct medium_ops *ops, uint64_t *data);
void correct(const struct medium_ops *ops, uint64_t *data)
{
	data[0] = 1;
	ops->mixed(&data[0], sizeof(data[0]));
}

void stores(uint64_t *data);
void stores(uint64_t *data)
{
	data[1] = 2; /* BUG: missing-flush-fence */
	PM_FLUSH(&data[1]);
	PM_FENCE();
}
