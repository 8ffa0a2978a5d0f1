/* Instructions that only arm64 has: pairs, vectors, exclusive and acquiring loads. */
#include "tests/ways/ways.h"

static uint64_t paired(void)
{
	uint64_t first, second;

	__asm__ volatile("ldp %0, %1, [%2, #-8]" : "=r"(first), "=r"(second) : "r"(WORD) : "memory");
	return first ? 0 : second;
}

static uint64_t with_writeback(void)
{
	const char *at = WORD - 16;
	uint64_t w;

	__asm__ volatile("ldr %0, [%1, #16]!" : "=r"(w), "+r"(at)::"memory");
	return at == WORD ? w : 0;
}

static uint64_t by_vector(void)
{
	uint64_t w;

	__asm__ volatile("ldr q0, [%1, #-8]; mov %0, v0.d[1]" : "=r"(w) : "r"(WORD) : "v0", "memory");
	return w;
}

static uint64_t deinterleaved(void)
{
	uint64_t w;

	__asm__ volatile("ld2 {v0.2d, v1.2d}, [%1]; mov %0, v0.d[0]" : "=r"(w) : "r"(WORD) : "v0", "v1", "memory");
	return w;
}

static uint64_t one_lane(void)
{
	uint64_t w;

	__asm__ volatile("ld1 {v0.d}[1], [%1]; mov %0, v0.d[1]" : "=r"(w) : "r"(WORD) : "v0", "memory");
	return w;
}

static uint64_t acquired(void)
{
	uint64_t w;

	__asm__ volatile("ldar %0, [%1]" : "=r"(w) : "r"(WORD) : "memory");
	return w;
}

static uint64_t exclusive(void)
{
	uint64_t w;

	__asm__ volatile("ldaxr %0, [%1]; clrex" : "=r"(w) : "r"(WORD) : "memory");
	return w;
}

static uint64_t exclusive_pair(void)
{
	uint64_t w, other;

	__asm__ volatile("ldxp %0, %1, [%2]; clrex" : "=r"(w), "=r"(other) : "r"(WORD) : "memory");
	return w;
}

static uint64_t unprivileged(void)
{
	uint64_t w;

	__asm__ volatile("ldtr %0, [%1]" : "=r"(w) : "r"(WORD) : "memory");
	return w;
}

const struct way ways_insns[] = {
	{ "insn.ldp", paired, 0 },
	{ "insn.writeback", with_writeback, 0 },
	{ "insn.ldr_q", by_vector, 0 },
	{ "insn.ld2", deinterleaved, 0 },
	{ "insn.ld1_lane", one_lane, 0 },
	{ "insn.ldar", acquired, 0 },
	{ "insn.ldaxr", exclusive, 0 },
	{ "insn.ldxp", exclusive_pair, 0 },
	{ "insn.ldtr", unprivileged, 0 },
	{ 0 },
};
