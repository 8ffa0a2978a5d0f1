/* Reads and sets registers of a signal frame. Vector registers and the cause of a fault are in
 * records behind the general registers. Each record has a number and a size; one kind says that
 * more records are elsewhere. */
#include "frame.h"

#include <asm/sigcontext.h>
#include <string.h>

#include "a64/a64.h"
#include "arch.h"

/* Fields of ESR: the class of the exception; for a data abort, whether a cache maintenance
 * instruction faulted, and whether the access was a write. */
#define ESR_CLASS(esr) ((esr) >> 26 & 0x3f)
#define CLASS_FETCH 0x20
#define ESR_CACHE 0x100
#define ESR_WRITE 0x40

uint64_t frame_pc(const ucontext_t *uc)
{
	return uc->uc_mcontext.pc;
}

void frame_set_pc(ucontext_t *uc, uint64_t pc)
{
	uc->uc_mcontext.pc = pc;
}

uint64_t frame_sp(const ucontext_t *uc)
{
	return uc->uc_mcontext.sp;
}

/* ---- records ---- */

static const void *find_record(const void *from, uint64_t len_bytes, uint32_t magic)
{
	const char *at = from, *end = at + len_bytes;

	while (end - at >= (long)sizeof(struct _aarch64_ctx)) {
		const struct _aarch64_ctx *h = (const void *)at;

		if (h->magic == magic)
			return h;
		if (h->magic == 0 || h->size < sizeof *h || h->size > (uint64_t)(end - at))
			return NULL;
		at += h->size;
	}
	return NULL;
}

static const void *record(const ucontext_t *uc, uint32_t magic)
{
	const void *found =
		find_record(uc->uc_mcontext.__reserved, sizeof uc->uc_mcontext.__reserved, magic);
	const struct extra_context *extra;

	if (found)
		return found;
	extra = find_record(uc->uc_mcontext.__reserved, sizeof uc->uc_mcontext.__reserved,
			    EXTRA_MAGIC);
	return extra ? find_record((const void *)extra->datap, extra->size, magic) : NULL;
}

/* Finds the SVE record; NULL: there is none, or it is empty because the program did not use SVE. */
static const struct sve_context *sve_record(const ucontext_t *uc)
{
	const struct sve_context *sve = record(uc, SVE_MAGIC);

	return sve && sve->vl >= 16 &&
			       sve->head.size >= SVE_SIG_CONTEXT_SIZE(sve_vq_from_vl(sve->vl))
		       ? sve
		       : NULL;
}

/* ---- registers ---- */

uint64_t frame_base(const ucontext_t *uc, uint32_t reg)
{
	return reg == A64_ZERO ? uc->uc_mcontext.sp : uc->uc_mcontext.regs[reg];
}

void frame_set_base(ucontext_t *uc, uint32_t reg, uint64_t value)
{
	if (reg == A64_ZERO)
		uc->uc_mcontext.sp = value;
	else
		uc->uc_mcontext.regs[reg] = value;
}

uint64_t frame_general(const ucontext_t *uc, uint32_t reg)
{
	return reg == A64_ZERO ? 0 : uc->uc_mcontext.regs[reg];
}

void frame_set_general(ucontext_t *uc, uint32_t reg, uint64_t value)
{
	if (reg != A64_ZERO)
		uc->uc_mcontext.regs[reg] = value;
}

bool frame_vector(const ucontext_t *uc, uint32_t reg, uint64_t value[2])
{
	const struct fpsimd_context *v = record(uc, FPSIMD_MAGIC);

	if (v)
		memcpy(value, &v->vregs[reg], 16);
	return v != NULL;
}

bool frame_set_vector(ucontext_t *uc, uint32_t reg, const uint64_t value[2])
{
	struct fpsimd_context *v = (void *)record(uc, FPSIMD_MAGIC);
	struct sve_context *sve = (void *)sve_record(uc);

	if (!v)
		return false;
	memcpy(&v->vregs[reg], value, 16);
	if (sve) {
		char *z = (char *)sve + SVE_SIG_ZREG_OFFSET(sve_vq_from_vl(sve->vl), reg);

		memset(z, 0, sve->vl);
		memcpy(z, value, 16);
	}
	return true;
}

uint32_t frame_vector_bytes(const ucontext_t *uc)
{
	const struct sve_context *sve = sve_record(uc);

	return sve ? sve->vl : 0;
}

const uint8_t *frame_predicate(const ucontext_t *uc, uint32_t reg)
{
	const struct sve_context *sve = sve_record(uc);

	return sve ? (const uint8_t *)sve + SVE_SIG_PREG_OFFSET(sve_vq_from_vl(sve->vl), reg)
		   : NULL;
}

/* ---- faults ---- */

/* Gives the kind of access that faulted, decoded from the instruction. Used for frames without an
 * ESR record. */
static uint32_t fault_of_insn(const ucontext_t *uc)
{
	uint32_t word;
	struct a64 a;

	if (uc->uc_mcontext.fault_address == uc->uc_mcontext.pc ||
	    gate_copy(&word, (const void *)uc->uc_mcontext.pc, sizeof word) != 0)
		return ACCESS_FETCH;
	a64_decode(&a, word);
	return a64_writes(&a) ? ACCESS_WRITE : ACCESS_READ;
}

/* Gives the kind of access that faulted. Cache maintenance counts as a read: the kernel needs only
 * read permission for it, although ESR calls it a write. */
uint32_t frame_fault(const ucontext_t *uc)
{
	const struct esr_context *esr = record(uc, ESR_MAGIC);

	if (!esr)
		return fault_of_insn(uc);
	if (ESR_CLASS(esr->esr) == CLASS_FETCH)
		return ACCESS_FETCH;
	return esr->esr & ESR_WRITE && !(esr->esr & ESR_CACHE) ? ACCESS_WRITE : ACCESS_READ;
}

/* ---- return addresses ---- */

#define LINK_REGISTER 30u
#define FRAME_WORDS_MAX 8192u

/* Asks whether the word is this return address. The upper bits of the word may be a signature
 * (pointer authentication). */
static bool is_address(uint64_t word, uint64_t address)
{
	return ((word ^ address) & 0xffffffffffff) == 0;
}

/* Finds where the return address of a function is kept. Functions save the return address anywhere
 * in their frame, or not at all if they call no other. The link register is tested first: the frame
 * of a function that did not save it may contain an old copy. */
uint64_t frame_return_slot(const ucontext_t *uc, uint64_t from, uint64_t cfa, uint64_t address)
{
	uint64_t words[16];

	if (from == frame_sp(uc) && is_address(uc->uc_mcontext.regs[LINK_REGISTER], address))
		return LINK_REGISTER;
	for (uint64_t at = from; at < cfa && at - from < FRAME_WORDS_MAX * 8; at += sizeof words) {
		const uint64_t n = cfa - at < sizeof words ? (cfa - at) / 8 : 16;

		if (gate_copy(words, (const void *)at, n * 8) != 0)
			return 0;
		for (uint64_t i = 0; i < n; i++)
			if (is_address(words[i], address))
				return at + 8 * i;
	}
	return 0;
}

bool frame_has_return(const ucontext_t *uc, uint64_t slot, uint64_t address)
{
	uint64_t word;

	if (slot == LINK_REGISTER)
		return is_address(uc->uc_mcontext.regs[LINK_REGISTER], address);
	return slot != 0 && gate_copy(&word, (const void *)slot, sizeof word) == 0 &&
	       is_address(word, address);
}
