/* What a store instruction writes to, without sources: the base register of its operand is traced back to a variable that debug information
 * places in that register or in the stack slot from which it was loaded; the variable's type says what it points to.
 *
 * Traced: moves, loads through typed pointers (p->next->x), lea and add, results of direct calls. The way back is that of the addresses, not of the
 * jumps: after a branch it may be another variable's, so that a wrong type is possible, if seldom. */
#include <dwarf.h>
#include <stdlib.h>

#include "source/dwarf_internal.h"
#include "source/variables.h"

enum { DEPTH_MAX = 12, LOOK_BACK = 200 };

/* An address: so far into an object of this type. */
struct value {
	Dwarf_Die type;
	int64_t offset;
	bool is_moved; /* by some more, as to an element of an array */
	unsigned scale; /* of which each has this size or more; 0: not known */
	int parameter;
};

struct tracing {
	struct dwarf_types *t;
	Dwfl_Module *module;
	uint64_t pc; /* of the instruction that is asked about */
	unsigned depth;
};

static bool trace_register(struct tracing tr, size_t index, ZydisRegister r, struct value *out);

/* ---- registers ---- */

static ZydisRegister whole(ZydisRegister r)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

/* DWARF's numbers of RAX, RCX, RDX… */
static int dwarf_number(ZydisRegister r)
{
	static const int8_t numbers[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

	r = whole(r);
	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15 ? numbers[r - ZYDIS_REGISTER_RAX] : -1;
}

static bool is_kept_by_calls(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_RBX || r == ZYDIS_REGISTER_RBP || (r >= ZYDIS_REGISTER_R12 && r <= ZYDIS_REGISTER_R15) || r == ZYDIS_REGISTER_RSP;
}

static bool writes(const struct insn *i, ZydisRegister r)
{
	for (unsigned n = 0; n < i->in.operand_count; n++)
		if (i->ops[n].type == ZYDIS_OPERAND_TYPE_REGISTER && (i->ops[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    whole(i->ops[n].reg.value) == r)
			return true;
	return false;
}

/* ---- memory ---- */

static bool find_variable(struct tracing tr, uint64_t pc, const struct spot *where, bool is_itself, struct value *out)
{
	struct variable v;

	if (!variable_find(tr.module, pc, where, is_itself, &v))
		return false;
	*out = (struct value){ .type = v.type, .parameter = v.parameter };
	return true;
}

static bool in_frame(struct tracing tr, uint64_t pc, const ZydisDecodedOperandMem *m, struct spot *out)
{
	int reg;
	int64_t back;

	if (m->index != ZYDIS_REGISTER_NONE || !frame_address(tr.module, pc, &reg, &back) || dwarf_number(m->base) != reg)
		return false;
	*out = (struct spot){ .offset = m->disp.value - back };
	return true;
}

static bool same_operand(const ZydisDecodedOperandMem *a, const ZydisDecodedOperandMem *b)
{
	return a->base == b->base && a->index == b->index && a->disp.value == b->disp.value;
}

/* A register that was saved on the stack. */
static bool trace_slot(struct tracing tr, size_t index, const ZydisDecodedOperandMem *m, struct value *out)
{
	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		const struct insn *in = &tr.t->code.list.at[i];

		if (in->in.mnemonic == ZYDIS_MNEMONIC_MOV && in->ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY && same_operand(&in->ops[0].mem, m))
			return in->ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER && trace_register(tr, i, whole(in->ops[1].reg.value), out);
	}
	return false;
}

/* What is known to be part of a number: i + 2 is at least 2. */
static int64_t trace_constant(struct tracing tr, size_t index, ZydisRegister r)
{
	if (tr.depth++ > DEPTH_MAX)
		return 0;
	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		const struct insn *in = &tr.t->code.list.at[i];
		const ZydisDecodedOperand *b = &in->ops[1];

		if (in->in.meta.category == ZYDIS_CATEGORY_CALL && !is_kept_by_calls(r))
			return 0;
		if (!writes(in, r))
			continue;
		switch (in->in.mnemonic) {
		case ZYDIS_MNEMONIC_ADD:
			return b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? b->imm.value.s + trace_constant(tr, i, r) : 0;
		case ZYDIS_MNEMONIC_SHL:
			return b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? trace_constant(tr, i, r) * ((int64_t)1 << (b->imm.value.u & 63)) : 0;
		case ZYDIS_MNEMONIC_LEA:
			return b->mem.disp.value + (b->mem.index != ZYDIS_REGISTER_NONE ? trace_constant(tr, i, b->mem.index) * b->mem.scale : 0) +
			       (b->mem.base != ZYDIS_REGISTER_NONE && b->mem.base != ZYDIS_REGISTER_RIP ? trace_constant(tr, i, b->mem.base) : 0);
		case ZYDIS_MNEMONIC_MOV:
			return b->type == ZYDIS_OPERAND_TYPE_REGISTER ? trace_constant(tr, i, whole(b->reg.value)) : 0;
		case ZYDIS_MNEMONIC_CDQE: continue;
		default: return 0;
		}
	}
	return 0;
}

/* The address that a memory operand forms. */
static bool trace_address(struct tracing tr, size_t index, const ZydisDecodedOperandMem *m, struct value *out)
{
	bool is_indexed = m->index != ZYDIS_REGISTER_NONE;
	ZydisRegister other = m->index;
	uint64_t pc = tr.t->code.list.at[index].pc;
	struct spot spot;

	if (in_frame(tr, pc, m, &spot)) /* variables share slots: the one that lives where the address is used */
		return find_variable(tr, tr.pc, &spot, true, out);
	if (m->base == ZYDIS_REGISTER_NONE || m->base == ZYDIS_REGISTER_RIP)
		return false;
	if (!trace_register(tr, index, m->base, out)) {
		/* the pointer may be what is called the index */
		if (!is_indexed || m->scale != 1 || !trace_register(tr, index, m->index, out))
			return false;
		other = m->base;
	}
	out->offset += m->disp.value;
	if (is_indexed) {
		out->is_moved = true;
		out->scale = m->scale;
		out->offset += trace_constant(tr, index, other) * m->scale;
	}
	return true;
}

static bool trace_load(struct tracing tr, size_t index, const ZydisDecodedOperandMem *m, struct value *out)
{
	uint64_t pc = tr.t->code.list.at[index].pc;
	struct value from;
	struct spot spot;
	Dwarf_Die part;

	if (in_frame(tr, pc, m, &spot))
		return find_variable(tr, pc, &spot, false, out) || trace_slot(tr, index, m, out);
	if (!trace_address(tr, index, m, &from) || from.offset < 0 || !dwarf_part_at(&from.type, (uint64_t)from.offset, &part) || !dwarf_points_to(&part, &out->type))
		return false;
	out->offset = 0;
	out->is_moved = false;
	out->parameter = PLACE_NO_PARAMETER;
	return true;
}

/* The result of a function of the same file. */
static bool trace_result(struct tracing tr, const struct insn *call, struct value *out)
{
	ZyanU64 target;
	Dwarf_Die cu, type, *scopes = NULL;
	bool is_found = false;
	int n;

	if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&call->in, &call->ops[0], call->pc, &target)) || !dwarf_unit_at(tr.module, target, &cu))
		return false;
	n = dwarf_getscopes(&cu, target, &scopes);
	for (int i = 0; i < n && !is_found; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			is_found = dwarf_type_of(&scopes[i], &type) && dwarf_points_to(&type, &out->type);
	free(scopes);
	out->offset = 0;
	out->is_moved = false;
	out->parameter = PLACE_NO_PARAMETER;
	return is_found;
}

/* Of two registers, one is a pointer and the other a distance. */
static bool trace_sum(struct tracing tr, size_t index, ZydisRegister a, ZydisRegister b, struct value *out)
{
	ZydisRegister distance = b;

	if (!trace_register(tr, index, a, out)) {
		if (!trace_register(tr, index, b, out))
			return false;
		distance = a;
	}
	out->offset += trace_constant(tr, index, distance);
	out->is_moved = true;
	out->scale = 0;
	return true;
}

/* What the instruction leaves in the register. */
static bool trace_instruction(struct tracing tr, size_t index, ZydisRegister r, struct value *out)
{
	const struct insn *in = &tr.t->code.list.at[index];
	const ZydisDecodedOperand *a = &in->ops[0], *b = &in->ops[1];

	if (in->in.meta.category == ZYDIS_CATEGORY_CALL)
		return r == ZYDIS_REGISTER_RAX && trace_result(tr, in, out);
	if (a->type != ZYDIS_OPERAND_TYPE_REGISTER || whole(a->reg.value) != r)
		return false;
	switch (in->in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (b->type == ZYDIS_OPERAND_TYPE_REGISTER)
			return trace_register(tr, index, whole(b->reg.value), out);
		return b->type == ZYDIS_OPERAND_TYPE_MEMORY && trace_load(tr, index, &b->mem, out);
	case ZYDIS_MNEMONIC_LEA: return trace_address(tr, index, &b->mem, out);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			if (!trace_register(tr, index, r, out))
				return false;
			out->offset += in->in.mnemonic == ZYDIS_MNEMONIC_ADD ? b->imm.value.s : -b->imm.value.s;
			return true;
		}
		return in->in.mnemonic == ZYDIS_MNEMONIC_ADD && b->type == ZYDIS_OPERAND_TYPE_REGISTER && trace_sum(tr, index, r, whole(b->reg.value), out);
	default: return false;
	}
}

/* What the register holds just before an instruction. */
static bool trace_register(struct tracing tr, size_t index, ZydisRegister r, struct value *out)
{
	struct spot spot = { .is_register = true, .number = dwarf_number(r) };

	if (tr.depth++ > DEPTH_MAX || spot.number < 0)
		return false;
	if (find_variable(tr, tr.t->code.list.at[index].pc, &spot, false, out))
		return true;
	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		const struct insn *in = &tr.t->code.list.at[i];
		bool is_call = in->in.meta.category == ZYDIS_CATEGORY_CALL;

		if (is_call && is_kept_by_calls(r))
			continue;
		if (is_call || writes(in, r))
			return trace_instruction(tr, i, r, out);
	}
	return false;
}

/* ---- questions ---- */

static const ZydisDecodedOperandMem *stored_operand(const struct insn *in)
{
	for (unsigned i = 0; in && i < in->in.operand_count; i++)
		if (in->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY && (in->ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return &in->ops[i].mem;
	return NULL;
}

int64_t operand_offset(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	const ZydisDecodedOperandMem *m = stored_operand(code_at(t, module, pc));

	return m && m->index == ZYDIS_REGISTER_NONE ? m->disp.value : -1;
}

/* So far into the object: an element of an array that begins at or before that, if it was moved. */
static bool place_value(struct dwarf_types *t, const struct value *v, struct place *out)
{
	const struct layout *l = dwarf_layout(t, (Dwarf_Die *)&v->type);
	int64_t offset = v->offset;
	bool is_moved = v->is_moved;

	if (!l)
		return false;
	*out = (struct place){ .root = l, .target = l, .parameter = v->parameter };
	if (l->kind == LAYOUT_SCALAR)
		return true;
	if (l->size_bytes && offset < 0) /* an element before it */
		offset = (int64_t)l->size_bytes - (-offset - 1) % (int64_t)l->size_bytes - 1;
	if (l->size_bytes && !(l->nfields && l->fields[l->nfields - 1].size_bytes == 0) && (uint64_t)offset >= l->size_bytes) {
		offset %= (int64_t)l->size_bytes;
		out->parameter = PLACE_NO_PARAMETER;
	}
	while (is_moved && out->target->kind != LAYOUT_SCALAR) {
		if (out->target->kind == LAYOUT_ARRAY) {
			uint64_t each = out->target->element->size_bytes;

			if (!place_step(out, PLACE_ANY_INDEX) || !each)
				return false;
			offset %= (int64_t)each;
			is_moved = false;
		} else {
			uint32_t n = out->nsteps;

			for (uint32_t i = (uint32_t)out->target->nfields; i-- > 0 && out->nsteps == n;)
				if (out->target->fields[i].offset <= (uint64_t)offset && out->target->fields[i].type->kind != LAYOUT_SCALAR) {
					offset -= (int64_t)out->target->fields[i].offset;
					place_step(out, i);
				}
			if (out->nsteps == n && v->scale > 1 && l->size_bytes > v->scale)
				return false; /* an array in it, but nobody knows which */
			if (out->nsteps == n) { /* the whole of it is an element */
				while (out->nsteps)
					offset += (int64_t)step_offset(&out->step[--out->nsteps]);
				out->target = l;
				out->parameter = PLACE_NO_PARAMETER;
				break;
			}
		}
	}
	out->extra_bytes = (uint64_t)offset;
	out->is_exact = true;
	return true;
}

bool operand_place(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, struct place *out)
{
	const struct insn *in = code_at(t, module, pc);
	const ZydisDecodedOperandMem *m = stored_operand(in);
	struct value v;

	return m && trace_address((struct tracing){ .t = t, .module = module, .pc = pc }, (size_t)(in - t->code.list.at), m, &v) && place_value(t, &v, out);
}

bool operand_argument(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, int argument, struct place *out)
{
	static const ZydisRegister registers[] = { ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8,
						   ZYDIS_REGISTER_R9 };
	const struct insn *in = code_before(t, module, pc);
	struct value v;

	if (!in || argument < 0 || argument >= (int)(sizeof registers / sizeof registers[0]) ||
	    !trace_register((struct tracing){ .t = t, .module = module, .pc = in->pc }, (size_t)(in - t->code.list.at), registers[argument], &v) ||
	    !place_value(t, &v, out))
		return false;
	out->is_region = true;
	out->is_exact = false;
	out->origin = pc;
	return true;
}
