/* What a store instruction writes to, without sources: the base register of its operand is traced back to a variable that debug information
 * places in that register or in the stack slot from which it was loaded; the variable's type says what it points to.
 *
 * Traced: moves, loads through typed pointers (p->next->x), lea and add, results of direct calls. The way back is that of the addresses, not of the
 * jumps: after a branch it may be another variable's, so that a wrong type is possible, if seldom. */
#include <dwarf.h>
#include <stdlib.h>

#include "source/dwarf_inner.h"

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

/* ---- variables ---- */

struct spot {
	bool is_register;
	int number;	/* of the register */
	int64_t offset; /* from the frame's address */
};

/* The frame's address (CFA) is a register plus a number. */
static bool frame_address(struct tracing tr, uint64_t pc, int *reg, int64_t *offset)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(tr.module, &bias);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	bool is_known;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
		return false;
	is_known = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31;
	if (!is_known && n == 1 && ops[0].atom == DW_OP_bregx) {
		*reg = (int)ops[0].number;
		*offset = (int64_t)ops[0].number2;
		is_known = true;
	} else if (is_known) {
		*reg = ops[0].atom - DW_OP_breg0;
		*offset = (int64_t)ops[0].number;
	}
	free(frame);
	return is_known;
}

/* What DW_OP_fbreg counts from, seen from the frame's address. */
static bool frame_base(struct tracing tr, Dwarf_Die *function, uint64_t pc, int64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	int reg;
	int64_t back;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attr) || dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || n != 1)
		return false;
	*offset = 0;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return true;
	if (!frame_address(tr, pc, &reg, &back) || ops[0].atom != DW_OP_reg0 + reg)
		return false;
	*offset = -back;
	return true;
}

static bool variable_spot(struct tracing tr, Dwarf_Die *variable, Dwarf_Die *function, uint64_t pc, struct spot *out)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	int64_t base;

	if (!dwarf_attr(variable, DW_AT_location, &attr) || dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || n != 1)
		return false;
	*out = (struct spot){ .is_register = ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31 };
	out->number = ops[0].atom - DW_OP_reg0;
	if (out->is_register)
		return true;
	if (ops[0].atom != DW_OP_fbreg || !frame_base(tr, function, pc, &base))
		return false;
	out->offset = (int64_t)ops[0].number + base;
	return true;
}

static bool die_type(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, out);
}

/* What a pointer or reference of this type leads to. */
static bool points_to(Dwarf_Die *type, Dwarf_Die *out)
{
	Dwarf_Die real;
	int tag;

	if (!dwarf_real_type(type, &real))
		return false;
	tag = dwarf_tag(&real);
	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) && die_type(&real, out);
}

static bool is_this(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	bool is_hidden = false;

	return dwarf_attr_integrate(die, DW_AT_artificial, &attr) && dwarf_formflag(&attr, &is_hidden) == 0 && is_hidden;
}

static Dwarf_Off origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin) ? dwarf_dieoffset(&origin) : dwarf_dieoffset(die);
}

/* Which parameter it is, as the function declares them: where a function is inlined, gcc lists them in any order. */
static int parameter_number(Dwarf_Die *scope, Dwarf_Die *parameter)
{
	Dwarf_Attribute attr;
	Dwarf_Die declared = *scope, child;
	int n = 0;

	if (is_this(parameter))
		return PLACE_THIS;
	if (dwarf_attr(scope, DW_AT_abstract_origin, &attr))
		dwarf_formref_die(&attr, &declared);
	if (dwarf_child(&declared, &child) != 0)
		return PLACE_NO_PARAMETER;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || is_this(&child))
			continue;
		if (dwarf_dieoffset(&child) == origin_of(parameter))
			return n;
		n++;
	} while (dwarf_siblingof(&child, &child) == 0);
	return PLACE_NO_PARAMETER;
}

/* Looks through the variables of one scope for the one that is kept in this spot. is_itself: the variable is meant, not what it points to. */
static bool search_scope(struct tracing tr, Dwarf_Die *scope, Dwarf_Die *function, uint64_t pc, const struct spot *where, bool is_itself,
			 struct value *out)
{
	Dwarf_Die child, type;
	struct spot spot;

	if (dwarf_child(scope, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
			continue;
		if (!variable_spot(tr, &child, function, pc, &spot) || spot.is_register != where->is_register ||
		    (spot.is_register ? spot.number != where->number : spot.offset != where->offset))
			continue;
		if (!die_type(&child, &type))
			continue;
		if (is_itself)
			out->type = type;
		else if (!points_to(&type, &out->type))
			continue;
		out->offset = 0;
		out->is_moved = false;
		out->scale = 0;
		out->parameter = tag == DW_TAG_formal_parameter && !is_itself ? parameter_number(scope, &child) : PLACE_NO_PARAMETER;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool find_variable(struct tracing tr, uint64_t pc, const struct spot *where, bool is_itself, struct value *out)
{
	Dwarf_Die cu, *inner = NULL, *scopes = NULL, *function = NULL;
	bool is_found = false;
	int n;

	if (!dwarf_unit_at(tr.module, pc, &cu) || dwarf_getscopes(&cu, pc, &inner) <= 0)
		return false;
	n = dwarf_getscopes_die(&inner[0], &scopes);
	for (int i = 0; i < n && !function; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			function = &scopes[i];
	for (int i = 0; i < n && function && !is_found; i++) {
		is_found = search_scope(tr, &scopes[i], function, pc, where, is_itself, out);
		if (&scopes[i] == function)
			break;
	}
	free(scopes);
	free(inner);
	return is_found;
}

/* ---- memory ---- */

/* The type of the part of an object that begins at an offset, elements of arrays included. */
static bool part_at(Dwarf_Die *object, uint64_t offset, Dwarf_Die *out)
{
	Dwarf_Die real, child, element;

	if (!dwarf_real_type(object, &real))
		return false;
	switch (dwarf_tag(&real)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: break;
	case DW_TAG_array_type: {
		Dwarf_Word size;

		return die_type(&real, &element) && dwarf_aggregate_size(&element, &size) == 0 && size && part_at(&element, offset % size, out);
	}
	default: *out = real; return offset == 0;
	}
	if (dwarf_child(&real, &child) != 0)
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0, size;
		Dwarf_Die type;

		if ((dwarf_tag(&child) != DW_TAG_member && dwarf_tag(&child) != DW_TAG_inheritance) || !die_type(&child, &type))
			continue;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr))
			dwarf_formudata(&attr, &at);
		if (dwarf_aggregate_size(&type, &size) != 0)
			size = UINT32_MAX; /* without bounds */
		if (offset >= at && offset < at + size && part_at(&type, offset - at, out))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool in_frame(struct tracing tr, uint64_t pc, const ZydisDecodedOperandMem *m, struct spot *out)
{
	int reg;
	int64_t back;

	if (m->index != ZYDIS_REGISTER_NONE || !frame_address(tr, pc, &reg, &back) || dwarf_number(m->base) != reg)
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
	if (!trace_address(tr, index, m, &from) || from.offset < 0 || !part_at(&from.type, (uint64_t)from.offset, &part) || !points_to(&part, &out->type))
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
			is_found = die_type(&scopes[i], &type) && points_to(&type, &out->type);
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
