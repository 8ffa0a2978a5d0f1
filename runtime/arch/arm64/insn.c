/* Says which memory an instruction accesses. Reads may be overestimated: that costs a needless
 * decision. Writes may not: elements that a predicate may leave unchanged count as read and
 * written. An exclusive load stands for all instructions up to its store, which are stepped
 * together (exclusive.c). */
#include <string.h>

#include "a64/a64.h"
#include "exclusive.h"
#include "frame.h"
#include "internal.h"

/* Gives the address without its upper byte, which may hold a tag. */
static uint64_t without_tag(uint64_t addr)
{
	return (uint64_t)((int64_t)(addr << 8) >> 8);
}

static uint64_t index_value(const struct a64 *a, const ucontext_t *uc)
{
	uint64_t v = frame_general(uc, a->rm);

	if (a->extend == 2)
		v = (uint32_t)v;
	else if (a->extend == 6)
		v = (uint64_t)(int64_t)(int32_t)v;
	return v << a->shift;
}

static uint64_t address(const struct a64 *a, const ucontext_t *uc, uint32_t len_bytes)
{
	const int64_t offset = a->is_vector_multiple ? a->offset * len_bytes : a->offset;

	switch (a->mode) {
	case A64_OFFSET:
	case A64_PRE: return frame_base(uc, a->rn) + (uint64_t)offset;
	case A64_POST: break;
	case A64_INDEX: return frame_base(uc, a->rn) + index_value(a, uc);
	case A64_LITERAL: return frame_pc(uc) + (uint64_t)offset;
	}
	return frame_base(uc, a->rn);
}

static uint32_t clear_bytes(void)
{
	uint64_t dczid;

	__asm__("mrs %0, dczid_el0" : "=r"(dczid));
	return 4u << (dczid & 15);
}

static void add(struct insn *out, uint64_t addr, uint32_t len_bytes, uint32_t kind)
{
	if (out->naccesses == MAX_ACCESSES)
		out->kind = INSN_UNKNOWN;
	else
		out->accesses[out->naccesses++] = (struct access){ addr, len_bytes, kind };
}

static uint32_t access_kind(const struct a64 *a)
{
	uint32_t kind = 0;

	if (a64_reads(a) || a->kind == A64_STORE_EXCLUSIVE)
		kind |= ACCESS_READ;
	if (a64_writes(a) || a->kind == A64_LOAD_EXCLUSIVE)
		kind |= ACCESS_WRITE;
	return kind;
}

/* Adds an access for each run of elements that the predicate selects. If there are too many, adds
 * one access for all elements; a store may leave some unchanged, so that access reads, too. */
static void add_elements(struct insn *out, const struct a64 *a, const ucontext_t *uc, uint64_t addr,
			 uint32_t len_bytes)
{
	const uint8_t *p = frame_predicate(uc, a->pg);
	const uint32_t each = a->nregs * a->each_bytes, n = len_bytes / each, kind = access_kind(a);
	uint32_t i = 0;

	while (i < n) {
		uint32_t from;

#define IS_ACTIVE(element) (p[(element)*a->element_bytes / 8] >> (element)*a->element_bytes % 8 & 1)
		while (i < n && !IS_ACTIVE(i))
			i++;
		for (from = i; i < n && IS_ACTIVE(i); i++)
			;
#undef IS_ACTIVE
		if (i > from && out->naccesses == MAX_ACCESSES) {
			out->naccesses = 0;
			add(out, addr, len_bytes, kind | ACCESS_READ);
			return;
		}
		if (i > from)
			add(out, addr + from * each, (i - from) * each, kind);
	}
}

static void decode_scalable(struct insn *out, const struct a64 *a, const ucontext_t *uc)
{
	const uint32_t vector_bytes = frame_vector_bytes(uc),
		       len_bytes = a64_bytes(a, vector_bytes, 0);
	const uint64_t addr = without_tag(address(a, uc, len_bytes));

	out->kind = vector_bytes ? INSN_PLAIN : INSN_UNKNOWN;
	if (vector_bytes == 0)
		return;
	if (a->element_bytes && !(a->is_structure && a->nelements == 1))
		add_elements(out, a, uc, addr, len_bytes);
	else
		add(out, addr, len_bytes, access_kind(a));
}

/* Asks whether our handlers can do the instruction themselves. Forms whose result the architecture
 * leaves open, or that may fault for other reasons, are left to the processor. */
static bool is_simple(const struct a64 *a, const ucontext_t *uc, const struct access *access)
{
	const bool writes_back = a->mode == A64_PRE || a->mode == A64_POST,
		   is_load = a->kind == A64_LOAD;

	if ((a->kind != A64_LOAD && a->kind != A64_STORE) || a->is_structure)
		return false;
	if (is_load && a->nregs == 2 && a->rt == a->rt2)
		return false;
	if (writes_back && a->file == A64_GENERAL && a->rn != A64_ZERO &&
	    (a->rt == a->rn || (a->nregs == 2 && a->rt2 == a->rn)))
		return false;
	if (a->mode != A64_LITERAL && a->rn == A64_ZERO && frame_sp(uc) % 16 != 0)
		return false;
	return !(a->acquires || a->releases) || access->addr % access->len_bytes == 0;
}

static void decode_word(struct insn *out, const struct a64 *a, const ucontext_t *uc)
{
	uint32_t len_bytes;
	uint64_t addr;

	switch (a->kind) {
	case A64_OTHER: return;
	case A64_PREFETCH:
	case A64_FLUSH: out->kind = INSN_FLUSH; return;
	case A64_LOAD_EXCLUSIVE:
		out->len_bytes = 4 * exclusive_length(a, frame_pc(uc));
		out->kind = out->len_bytes ? INSN_PLAIN : INSN_UNKNOWN;
		break;
	case A64_LOAD:
	case A64_STORE:
	case A64_STORE_EXCLUSIVE:
	case A64_ATOMIC:
	case A64_CLEAR: out->kind = INSN_PLAIN; break;
	}
	if (a->file == A64_SCALABLE || a->file == A64_PREDICATE) {
		decode_scalable(out, a, uc);
		return;
	}
	len_bytes = a64_bytes(a, 0, a->kind == A64_CLEAR ? clear_bytes() : 0);
	addr = without_tag(address(a, uc, len_bytes));
	if (a->kind == A64_CLEAR)
		addr &= ~(uint64_t)(len_bytes - 1);
	add(out, addr, len_bytes, access_kind(a));
	if (is_simple(a, uc, &out->accesses[0]))
		out->kind = a->kind == A64_LOAD ? INSN_LOAD : INSN_STORE;
}

void insn_decode(struct insn *out, const ucontext_t *uc)
{
	uint32_t word;
	struct a64 a;

	memset(out, 0, sizeof *out);
	out->kind = INSN_UNKNOWN;
	out->len_bytes = 4;
	if (gate_copy(&word, (const void *)frame_pc(uc), sizeof word) != 0)
		return;
	out->value = word;
	a64_decode(&a, word);
	decode_word(out, &a, uc);
}
