/* Does loads, stores and comparisons of one register in the signal handler, which costs half of a
 * single step. Each is one access of the original size, so that other threads see the same as
 * without us. The flags are those of the same instruction, executed here. */
#include "arch.h"
#include "gate.h"

#define FLAGS 0x8d5l /* CF PF AF ZF SF OF */

static uint64_t extend(uint64_t v, uint32_t bytes, bool is_signed)
{
	uint32_t shift = 64 - 8 * bytes;

	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static void set_register(greg_t *g, uint64_t v, uint32_t bytes)
{
	switch (bytes) {
	case 1: *g = (greg_t)(((uint64_t)*g & ~0xfful) | (v & 0xff)); break;
	case 2: *g = (greg_t)(((uint64_t)*g & ~0xfffful) | (v & 0xffff)); break;
	case 4: *g = (greg_t)(v & 0xffffffff); break; /* this also clears the upper half */
	default: *g = (greg_t)v; break;
	}
}

/* Reads the flags by lahf and seto. pushf would write below the stack pointer, where the red zone
 * may be in use. */
#define FLAGS_OF(instruction, suffix, type) \
	__asm__(instruction " %" suffix "3, %" suffix "2; lahf; seto %b1" \
		: "=&a"(ax), "=&q"(overflow) \
		: "q"((type)a), "q"((type)b) \
		: "cc")

static long compare_flags(uint64_t a, uint64_t b, uint32_t bytes, bool is_test)
{
	uint32_t ax = 0;
	uint8_t overflow = 0;

	if (is_test) { /* test: flags of a & b; overflow and carry are clear */
		a = extend(a & b, bytes, false);
		b = 0;
	}
	switch (bytes) {
	case 1: FLAGS_OF("cmp", "b", uint8_t); break;
	case 2: FLAGS_OF("cmp", "w", uint16_t); break;
	case 4: FLAGS_OF("cmp", "k", uint32_t); break;
	default: FLAGS_OF("cmp", "q", uint64_t); break;
	}
	return (long)(ax >> 8 & 0xd5) | (overflow & 1) << 11;
}

static void finish(const struct insn *in, ucontext_t *uc, uint64_t memory)
{
	greg_t *g = uc->uc_mcontext.gregs;
	uint32_t bytes = in->accesses[0].len_bytes;
	uint64_t value = extend(in->value, bytes, false);

	if (in->kind == INSN_LOAD)
		set_register(&g[in->greg], extend(memory, bytes, in->is_signed), in->greg_bytes);
	if (in->kind == INSN_COMPARE)
		g[REG_EFL] = (g[REG_EFL] & ~FLAGS) |
			     (in->is_swapped ? compare_flags(value, memory, bytes, in->is_test)
					     : compare_flags(memory, value, bytes, in->is_test));
	g[REG_RIP] += in->len_bytes;
}

bool insn_perform(const struct insn *in, ucontext_t *uc)
{
	const struct access *a = &in->accesses[0];
	struct gate_access g = { a->addr, in->value };

	if (uc->uc_mcontext.gregs[REG_EFL] & 0x100) /* the program steps itself */
		return false;
	if (!rt_access(&g, a->len_bytes, in->kind == INSN_STORE))
		return false;
	finish(in, uc, g.value);
	return true;
}
