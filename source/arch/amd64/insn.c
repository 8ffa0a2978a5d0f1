/* Decodes x86-64 instructions with Zydis, as far as they form addresses. A part of a register (eax,
 * al) counts as the whole register (rax). */
#include "source/insn.h"

#include <Zydis/Zydis.h>
#include <elf.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15 };
#define BIT(r) (1ull << (r))

const struct insn_machine insn_machine = {
	.elf = EM_X86_64,
	.kept = BIT(RBX) | BIT(RBP) | BIT(RSP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15),
	.result = RAX,
	.stack = RSP,
	.frame = RBP,
	.arguments = { RDI, RSI, RDX, RCX, R8, R9 },
	.narguments = 6,
};

static int number(ZydisRegister r)
{
	static const int8_t numbers[16] = { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI,
					    R8,  R9,  R10, R11, R12, R13, R14, R15 };

	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15 ? numbers[r - ZYDIS_REGISTER_RAX]
								  : INSN_NO_REGISTER;
}

static struct insn_address address(const ZydisDecodedOperandMem *m)
{
	return (struct insn_address){ number(m->base), number(m->index), m->scale, m->disp.value };
}

/* Notes the registers and the memory that the instruction writes, also implicitly. */
static void note_writes(struct insn *out, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < in->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && number(op->reg.value) >= 0)
			out->writes |= BIT(number(op->reg.value));
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && !out->stored_bytes) {
			out->at = address(&op->mem);
			out->stored_bytes = op->size / 8;
		}
	}
}

static void decode_move(struct insn *out, const ZydisDecodedOperand *to,
			const ZydisDecodedOperand *from)
{
	int reg = from->type == ZYDIS_OPERAND_TYPE_REGISTER ? number(from->reg.value)
							    : INSN_NO_REGISTER;

	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->does = INSN_SAVE;
		out->saved[0] = reg;
	} else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->does = INSN_LOAD;
		out->at = address(&from->mem);
	} else if (reg >= 0) {
		out->does = INSN_MOVE;
		out->from = reg;
	}
}

static void decode_add(struct insn *out, const ZydisDecodedOperand *by, int sign)
{
	out->at = (struct insn_address){ out->to[0], INSN_NO_REGISTER, 1, 0 };
	if (by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		out->at.offset = sign * by->imm.value.s;
	else if (by->type == ZYDIS_OPERAND_TYPE_REGISTER && sign > 0)
		out->at.index = number(by->reg.value);
	else
		return;
	out->does = INSN_FORM;
}

static void where_to(struct insn *out, const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *to)
{
	ZyanU64 address;

	if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(in, to, out->pc, &address)))
		return;
	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY)
		out->slot = address;
	else
		out->target = address;
}

static void decode_kind(struct insn *out, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops)
{
	out->to[0] = ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number(ops[0].reg.value)
								: INSN_NO_REGISTER;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV: decode_move(out, &ops[0], &ops[1]); break;
	case ZYDIS_MNEMONIC_LEA:
		if (ops[1].mem.base == ZYDIS_REGISTER_RIP)
			break;
		out->does = INSN_FORM;
		out->at = address(&ops[1].mem);
		break;
	case ZYDIS_MNEMONIC_ADD:
		if (out->to[0] >= 0)
			decode_add(out, &ops[1], 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		if (out->to[0] >= 0)
			decode_add(out, &ops[1], -1);
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (out->to[0] < 0 || ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			break;
		out->does = INSN_SHIFT;
		out->from = out->to[0];
		out->shift = ops[1].imm.value.u & 63;
		break;
	case ZYDIS_MNEMONIC_CDQE:
		out->does = INSN_EXTEND;
		out->to[0] = out->from = RAX;
		break;
	default: break;
	}
	if (in->meta.category == ZYDIS_CATEGORY_CALL)
		out->does = INSN_CALL;
	else if (in->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		out->does = INSN_JUMP;
	if (out->does == INSN_CALL || out->does == INSN_JUMP)
		where_to(out, in, &ops[0]);
}

uint32_t insn_decode(struct insn *out, const uint8_t *bytes, size_t len_bytes, uint64_t pc)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len_bytes, &in, ops)))
		return 0;
	*out = (struct insn){ .pc = pc,
			      .len_bytes = in.length,
			      .to = { INSN_NO_REGISTER, INSN_NO_REGISTER },
			      .saved = { INSN_NO_REGISTER, INSN_NO_REGISTER },
			      .from = INSN_NO_REGISTER,
			      .at = { .base = INSN_NO_REGISTER, .index = INSN_NO_REGISTER } };
	note_writes(out, &in, ops);
	decode_kind(out, &in, ops);
	return out->len_bytes;
}

/* Finds the slot through which an entry of the procedure linkage table jumps: decodes its few
 * instructions, one of which is the jump. */
uint64_t insn_entry_slot(const uint8_t *bytes, size_t len_bytes, uint64_t pc)
{
	struct insn i;
	uint32_t at = 0;

	for (unsigned n = 0; n < 3 && insn_decode(&i, bytes + at, len_bytes - at, pc + at); n++) {
		if (i.does == INSN_JUMP)
			return i.slot;
		at += i.len_bytes;
	}
	return 0;
}
