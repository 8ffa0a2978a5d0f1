/* Decodes x86-64 instructions with Zydis: where they lead, and whether they modify PM. The mnemonic
 * alone says whether an instruction is a flush, a fence or a non-temporal store. */
#include <Zydis/Zydis.h>
#include <elf.h>

#include "explore/graph/insn.h"

static bool modifies_pm(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_SFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVNTQ:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_MOVDIRI:
	case ZYDIS_MNEMONIC_MOVDIR64B: return true;
	default: return false;
	}
}

/* Finds where a jump or call goes: to an address, or through an entry of the GOT. */
static void target_find(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
			struct insn *i)
{
	ZyanU64 address;

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(z, o, i->address, &address)))
			i->target = address;
	} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP) {
		if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(z, o, i->address, &address)))
			i->slot = address;
	}
}

/* Asks whether the instruction writes memory in another way than a push or call does. */
static bool writes_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < z->operand_count_visible; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	return z->meta.category == ZYDIS_CATEGORY_STRINGOP;
}

static struct insn decode(const uint8_t *bytes, uint64_t len_bytes, uint64_t address)
{
	struct insn i = { .address = address, .falls = true };
	ZydisDecoder decoder;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len_bytes, &z, operands))) {
		i.next = i.address + 1;
		return i;
	}
	i.next = i.address + z.length;
	i.is_pm = modifies_pm(z.mnemonic);
	i.is_store = writes_memory(&z, operands);
	switch (z.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
		i.ends = true;
		i.falls = z.meta.category != ZYDIS_CATEGORY_UNCOND_BR;
		i.is_call = z.meta.category == ZYDIS_CATEGORY_CALL;
		target_find(&z, &operands[0], &i);
		i.is_indirect = !i.falls && !i.target && !i.slot;
		break;
	case ZYDIS_CATEGORY_RET:
		i.ends = true;
		i.falls = false;
		break;
	default:
		if (z.mnemonic == ZYDIS_MNEMONIC_UD2 || z.mnemonic == ZYDIS_MNEMONIC_HLT) {
			i.ends = true;
			i.falls = false;
		}
	}
	return i;
}

const struct insn_set insn_set = {
	.machine = EM_X86_64,
	.jump_slot = R_X86_64_JUMP_SLOT,
	.glob_dat = R_X86_64_GLOB_DAT,
	.decode = decode,
};
