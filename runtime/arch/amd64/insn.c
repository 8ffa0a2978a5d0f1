/* Says which memory an instruction accesses, by means of Zydis. Reads may be overestimated: that
 * costs a needless decision. Writes may not: bytes that an instruction may leave unchanged count as
 * read and written. Unknown are xsave and similar instructions, and stacks in PM. */
#include <Zydis/Zydis.h>
#include <asm/prctl.h>
#include <cpuid.h>
#include <string.h>

#include "internal.h"

static const int8_t greg_of[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15 };

struct decoded {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	const ucontext_t *uc;
};

/* Gives the index in the signal frame of the 64-bit register that contains r. Zydis numbers 8-bit
 * registers differently. */
static int8_t greg_of_register(ZydisRegister r)
{
	return greg_of[ZydisRegisterGetId(
			       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r)) &
		       15];
}

static uint64_t register_value(const struct decoded *d, ZydisRegister r)
{
	uint64_t v;

	if (r == ZYDIS_REGISTER_NONE)
		return 0;
	if (r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP)
		return (uint64_t)d->uc->uc_mcontext.gregs[REG_RIP] + d->in.length;
	if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
		return (uint64_t)d->uc->uc_mcontext.gregs[greg_of[r - ZYDIS_REGISTER_AH]] >> 8 &
		       0xff;
	v = (uint64_t)d->uc->uc_mcontext.gregs[greg_of_register(r)];
	switch (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, r)) {
	case 8: return v & 0xff;
	case 16: return v & 0xffff;
	case 32: return v & 0xffffffff;
	default: return v;
	}
}

static uint64_t segment_base(ZydisRegister segment)
{
	uint64_t base = 0;

	if (segment == ZYDIS_REGISTER_FS)
		CALL2(SYS_arch_prctl, ARCH_GET_FS, &base);
	else if (segment == ZYDIS_REGISTER_GS)
		CALL2(SYS_arch_prctl, ARCH_GET_GS, &base);
	return base;
}

static uint64_t operand_address(const struct decoded *d, const ZydisDecodedOperand *op,
				uint64_t index)
{
	uint64_t a = register_value(d, op->mem.base) + index * op->mem.scale;

	if (op->mem.disp.has_displacement)
		a += (uint64_t)op->mem.disp.value;
	if (d->in.address_width == 32)
		a &= 0xffffffff;
	return a + segment_base(op->mem.segment);
}

static void add(struct insn *out, uint64_t addr, uint64_t len_bytes, uint32_t kind)
{
	if (out->naccesses == MAX_ACCESSES) {
		out->kind = INSN_UNKNOWN;
		return;
	}
	out->accesses[out->naccesses++] = (struct access){ addr, (uint32_t)len_bytes, kind };
}

/* ---- registers that are only in the extended part of a signal frame ---- */

#define FXSAVE_XMM 160u
#define FXSAVE_SOFTWARE 464u /* a magic number and sizes that the kernel stores about the frame */
/* behind it comes the header, whose first word has a bit for each component that is present; then
 * the components */
#define FXSAVE_BYTES 512u
#define XSTATE_MAGIC 0x46505853u

enum { XSTATE_YMM = 2, XSTATE_MASKS = 5, XSTATE_ZMM = 6, XSTATE_ZMM_16 = 7 };

/* Copies bytes of a component of the extended state. A component that has its initial value is not
 * stored; its bytes are zero. False: the frame has no such component. */
static bool component(const struct decoded *d, uint32_t number, uint32_t at, void *to, uint32_t n)
{
	const char *x = (const char *)d->uc->uc_mcontext.fpregs;
	uint32_t software[5], size, offset, c, dd;
	uint64_t present;

	memcpy(software, x + FXSAVE_SOFTWARE, sizeof software);
	memcpy(&present, x + FXSAVE_BYTES, sizeof present);
	__cpuid_count(0xd, number, size, offset, c, dd);
	if (software[0] != XSTATE_MAGIC || offset == 0 || at + n > size ||
	    offset + size > software[4])
		return false;
	if (present >> number & 1)
		memcpy(to, x + offset + at, n);
	else
		memset(to, 0, n);
	return true;
}

/* Reads element i of a vector register as a signed number. False: the frame does not have it. */
static bool vector_element(const struct decoded *d, ZydisRegister r, uint32_t i, uint32_t bytes,
			   int64_t *value)
{
	const uint32_t id = (uint32_t)ZydisRegisterGetId(r), at = i * bytes;
	uint8_t element[8];
	int32_t narrow;

	if (id >= 16) {
		if (!component(d, XSTATE_ZMM_16, 64 * (id - 16) + at, element, bytes))
			return false;
	} else if (at < 16) {
		memcpy(element, (const char *)d->uc->uc_mcontext.fpregs + FXSAVE_XMM + 16 * id + at,
		       bytes);
	} else if (at < 32 ? !component(d, XSTATE_YMM, 16 * id + at - 16, element, bytes)
			   : !component(d, XSTATE_ZMM, 32 * id + at - 32, element, bytes)) {
		return false;
	}
	if (bytes == 8) {
		memcpy(value, element, 8);
	} else {
		memcpy(&narrow, element, 4);
		*value = narrow;
	}
	return true;
}

/* Gives the size of an index in bytes, by the name of the gather or scatter; 0: it is another
 * instruction. */
static uint32_t index_bytes_of(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_VPGATHERDD:
	case ZYDIS_MNEMONIC_VGATHERDPS:
	case ZYDIS_MNEMONIC_VPGATHERDQ:
	case ZYDIS_MNEMONIC_VGATHERDPD:
	case ZYDIS_MNEMONIC_VPSCATTERDD:
	case ZYDIS_MNEMONIC_VSCATTERDPS:
	case ZYDIS_MNEMONIC_VPSCATTERDQ:
	case ZYDIS_MNEMONIC_VSCATTERDPD: return 4;
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VGATHERQPD:
	case ZYDIS_MNEMONIC_VPSCATTERQD:
	case ZYDIS_MNEMONIC_VSCATTERQPS:
	case ZYDIS_MNEMONIC_VPSCATTERQQ:
	case ZYDIS_MNEMONIC_VSCATTERQPD: return 8;
	default: return 0;
	}
}

/* Sets a bit in *mask for each element that the gather or scatter accesses. AVX-512 has mask
 * registers. AVX2 has vectors as masks; there, all elements count as read. */
static bool gather_mask(const struct decoded *d, uint64_t *mask)
{
	*mask = ~(uint64_t)0;
	if (d->in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		return true;
	return d->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
	       component(d, XSTATE_MASKS, 8u * (uint32_t)ZydisRegisterGetId(d->in.avx.mask.reg),
			 mask, sizeof *mask);
}

/* Adds the accesses of a gather or scatter. Its data vector is the first or the last operand. */
static void add_gather(struct insn *out, const struct decoded *d, const ZydisDecodedOperand *op)
{
	const uint32_t index_bytes = index_bytes_of(d->in.mnemonic),
		       element = op->element_size / 8u,
		       kind = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? ACCESS_WRITE
									    : ACCESS_READ;
	const ZydisDecodedOperand *vector = op == &d->ops[0] ? &d->ops[2] : &d->ops[0];
	uint64_t mask;
	uint32_t n;

	if (index_bytes == 0 || element == 0 || !gather_mask(d, &mask)) {
		out->kind = INSN_UNKNOWN;
		return;
	}
	n = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->mem.index) / 8u / index_bytes;
	if (n > vector->size / 8u / element)
		n = vector->size / 8u / element;
	for (uint32_t i = 0; i < n && out->kind != INSN_UNKNOWN; i++) {
		int64_t index;

		if (!(mask >> i & 1))
			continue;
		if (vector_element(d, op->mem.index, i, index_bytes, &index))
			add(out, operand_address(d, op, (uint64_t)index), element, kind);
		else
			out->kind = INSN_UNKNOWN;
	}
}

/* Gives how many bytes the register of bt, bts, btr and btc adds to the address of the memory
 * operand: the bit may be outside of the operand. */
static uint64_t bit_offset(const struct decoded *d, const ZydisDecodedOperand *op)
{
	int64_t bit;

	if (d->ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	bit = (int64_t)(register_value(d, d->ops[1].reg.value) << (64 - op->size)) >>
	      (64 - op->size);
	return (uint64_t)((bit >> (op->size == 64 ? 6 : op->size == 32 ? 5 : 4)) * (op->size / 8));
}

static bool is_bit_test(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_BT || m == ZYDIS_MNEMONIC_BTS || m == ZYDIS_MNEMONIC_BTR ||
	       m == ZYDIS_MNEMONIC_BTC;
}

/* Asks whether the store may leave some bytes of its operand unchanged. */
static bool is_masked(const struct decoded *d)
{
	switch (d->in.mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64: return true;
	default:
		return d->in.avx.mask.mode == ZYDIS_MASK_MODE_MERGING ||
		       d->in.avx.mask.mode == ZYDIS_MASK_MODE_ZEROING;
	}
}

static void add_operand(struct insn *out, const struct decoded *d, const ZydisDecodedOperand *op)
{
	uint32_t kind = 0;
	uint64_t addr;

	if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		add_gather(out, d, op);
		return;
	}
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		kind |= ACCESS_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		kind |= ACCESS_WRITE;
	if (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE || (kind & ACCESS_WRITE && is_masked(d)))
		kind |= ACCESS_READ;
	addr = operand_address(d, op, register_value(d, op->mem.index));
	if (is_bit_test(d->in.mnemonic))
		addr += bit_offset(d, op);
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op->mem.base == ZYDIS_REGISTER_RSP)
		/* a stack in PM is impossible here: the kernel could not have delivered this
		 * signal */
		return;
	add(out, addr, op->size / 8u, kind);
}

static enum insn_kind kind_of(const struct decoded *d, uint32_t *element_bytes)
{
	bool is_rep = d->in.attributes &
		      (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);

	*element_bytes = d->in.operand_width / 8u;
	switch (d->in.mnemonic) {
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLDEMOTE: return INSN_FLUSH;
	case ZYDIS_MNEMONIC_MOVSB: *element_bytes = 1; return is_rep ? INSN_COPY : INSN_PLAIN;
	case ZYDIS_MNEMONIC_MOVSW: *element_bytes = 2; return is_rep ? INSN_COPY : INSN_PLAIN;
	case ZYDIS_MNEMONIC_MOVSD: *element_bytes = 4; return is_rep ? INSN_COPY : INSN_PLAIN;
	case ZYDIS_MNEMONIC_MOVSQ: *element_bytes = 8; return is_rep ? INSN_COPY : INSN_PLAIN;
	case ZYDIS_MNEMONIC_STOSB: *element_bytes = 1; return is_rep ? INSN_FILL : INSN_PLAIN;
	case ZYDIS_MNEMONIC_STOSW: *element_bytes = 2; return is_rep ? INSN_FILL : INSN_PLAIN;
	case ZYDIS_MNEMONIC_STOSD: *element_bytes = 4; return is_rep ? INSN_FILL : INSN_PLAIN;
	case ZYDIS_MNEMONIC_STOSQ: *element_bytes = 8; return is_rep ? INSN_FILL : INSN_PLAIN;
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64: return INSN_UNKNOWN;
	default: return INSN_PLAIN;
	}
}

/* Asks whether an instruction that Zydis calls movsd is the string instruction. Zydis has the same
 * name for an SSE move. */
static bool is_string_move(const struct decoded *d)
{
	return d->in.mnemonic != ZYDIS_MNEMONIC_MOVSD ||
	       d->in.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

static bool is_general(const ZydisDecodedOperand *op)
{
	ZydisRegisterClass c;

	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    (op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH))
		return false;
	c = ZydisRegisterGetClass(op->reg.value);
	return c == ZYDIS_REGCLASS_GPR8 || c == ZYDIS_REGCLASS_GPR16 || c == ZYDIS_REGCLASS_GPR32 ||
	       c == ZYDIS_REGCLASS_GPR64;
}

/* Recognises simple moves and comparisons, which are the most frequent instructions. */
static void recognise_simple(struct insn *out, const struct decoded *d)
{
	const ZydisDecodedOperand *a = &d->ops[0], *b = &d->ops[1];
	bool is_load =
		a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_MEMORY;
	const ZydisDecodedOperand *other = is_load ? a : b;
	uint32_t bytes = (is_load ? b->size : a->size) / 8u;

	if (d->in.operand_count < 2 || d->in.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    (bytes & (bytes - 1)) || bytes == 0 || bytes > 8 || out->naccesses != 1)
		return;
	if (other->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		out->value = other->imm.value.u;
	else if (is_general(other))
		out->value = register_value(d, other->reg.value);
	else
		return;
	out->greg = other->type == ZYDIS_OPERAND_TYPE_REGISTER ? greg_of_register(other->reg.value)
							       : -1;
	out->greg_bytes = (uint8_t)(other->size / 8u);
	out->is_swapped = is_load;
	switch (d->in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVNTI: out->kind = is_load ? INSN_LOAD : INSN_STORE; break;
	case ZYDIS_MNEMONIC_MOVZX: out->kind = INSN_LOAD; break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		out->kind = INSN_LOAD;
		out->is_signed = true;
		break;
	case ZYDIS_MNEMONIC_CMP: out->kind = INSN_COMPARE; break;
	case ZYDIS_MNEMONIC_TEST:
		out->kind = INSN_COMPARE;
		out->is_test = true;
		break;
	default: break;
	}
}

static uint32_t fetch(uint8_t bytes[15], uint64_t rip)
{
	uint32_t first = (uint32_t)(PAGE - rip % PAGE);

	if (first >= 15) {
		memcpy(bytes, (const void *)rip, 15);
		return 15;
	}
	memcpy(bytes, (const void *)rip, first);
	return 15 - (uint32_t)gate_copy(bytes + first, (const void *)(rip + first), 15 - first);
}

/* A cache of decoded instructions: the same few fault again and again. */
#define KEPT 64u

struct kept {
	uint32_t lock; /* a thread that does not get the lock decodes without the cache */
	uint32_t n;    /* number of bytes; 0: the entry is empty */
	uint64_t rip;
	uint8_t bytes[15];
	struct decoded d;
};

static struct kept g_kept[KEPT];

static bool decode(struct decoded *d, const uint8_t *bytes, uint32_t n)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &d->in, d->ops));
}

/* Decodes the instruction into *k, unless *k has this instruction already. The caller holds the
 * lock of *k. */
static bool decode_kept(struct kept *k, uint64_t rip, const uint8_t *bytes, uint32_t n)
{
	if (k->n == n && k->rip == rip && memcmp(k->bytes, bytes, n) == 0)
		return true;
	k->n = 0;
	if (!decode(&k->d, bytes, n))
		return false;
	k->n = n;
	k->rip = rip;
	memcpy(k->bytes, bytes, n);
	return true;
}

static void insn_of(struct insn *out, const struct decoded *d)
{
	out->len_bytes = d->in.length;
	out->kind = is_string_move(d) ? kind_of(d, &out->element_bytes) : INSN_PLAIN;
	for (uint32_t i = 0; i < d->in.operand_count && out->kind != INSN_UNKNOWN; i++)
		if (d->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_operand(out, d, &d->ops[i]);
	if (out->kind == INSN_PLAIN)
		recognise_simple(out, d);
	if (d->in.address_width != 64 && (out->kind == INSN_COPY || out->kind == INSN_FILL))
		out->kind = INSN_UNKNOWN;
}

void insn_decode(struct insn *out, const ucontext_t *uc)
{
	const uint64_t rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	struct kept *k = &g_kept[(rip ^ rip >> 6) % KEPT];
	struct decoded own;
	uint8_t bytes[15];
	uint32_t n = fetch(bytes, rip);

	memset(out, 0, sizeof(*out));
	out->kind = INSN_UNKNOWN;
	if (!__atomic_exchange_n(&k->lock, 1, __ATOMIC_ACQUIRE)) {
		k->d.uc = uc;
		if (decode_kept(k, rip, bytes, n))
			insn_of(out, &k->d);
		__atomic_store_n(&k->lock, 0, __ATOMIC_RELEASE);
		return;
	}
	own.uc = uc;
	if (decode(&own, bytes, n))
		insn_of(out, &own);
}
