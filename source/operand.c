/* Finds what a store instruction writes to without sources. It traces the base register of the
 * operand back to a variable that debug information places in that register, or in the stack slot
 * from which the register was loaded; the variable's type says what it points to. For example:
 *
 *	mov  rax, [rbp-8]      debug information: struct node *n is at rbp-8
 *	mov  rax, [rax+16]     the member at 16 is struct node *next
 *	mov  [rax+24], rcx     so this stores to the member at 24 of struct node
 *
 * It follows moves, loads through typed pointers, sums, and results of direct calls. It goes back
 * by address, not along jumps: after a branch the value may be another variable's, so a wrong type
 * is possible, but rare. */
#include <dwarf.h>
#include <stdlib.h>

#include "source/dwarf_internal.h"
#include "source/variables.h"

enum { DEPTH_MAX = 12, LOOK_BACK = 200 };

/* An address: an offset into an object of this type. */
struct value {
	Dwarf_Die type;
	int64_t offset;
	bool is_moved;  /* moved further by an unknown distance, as to an element of an array */
	unsigned scale; /* the unknown distance is a multiple of this many bytes; 0 if unknown */
	int parameter;
};

struct tracing {
	struct dwarf_types *t;
	Dwfl_Module *module;
	uint64_t pc; /* of the instruction in question */
	unsigned depth;
};

static bool trace_register(struct tracing tr, size_t index, int r, struct value *out);

static const struct insn *insn_at(struct tracing tr, size_t index)
{
	return &tr.t->code.list.at[index];
}

static bool is_kept_by_calls(int r)
{
	return insn_machine.kept >> r & 1;
}

static bool writes(const struct insn *in, int r)
{
	return in->writes >> r & 1;
}

/* ---- memory ---- */

static bool find_variable(struct tracing tr, uint64_t pc, const struct spot *where, bool is_itself,
			  struct value *out)
{
	struct variable v;

	if (!variable_find(tr.module, pc, where, is_itself, &v))
		return false;
	*out = (struct value){ .type = v.type, .parameter = v.parameter };
	return true;
}

static bool in_frame(struct tracing tr, uint64_t pc, const struct insn_address *m, struct spot *out)
{
	int reg;
	int64_t back;

	if (m->index >= 0 || !frame_address(tr.module, pc, &reg, &back) || m->base != reg)
		return false;
	*out = (struct spot){ .offset = m->offset - back };
	return true;
}

/* Gives the register that the instruction saves at this address of the stack; INSN_NO_REGISTER if
 * it saves none there. */
static int saved_at(const struct insn *in, const struct insn_address *m)
{
	int64_t beyond = m->offset - in->at.offset;

	if (in->does != INSN_SAVE || in->at.base != m->base || in->at.index != m->index ||
	    (beyond != 0 && beyond != 8))
		return INSN_NO_REGISTER;
	return in->saved[beyond / 8];
}

/* Traces a value that was loaded from a slot of the stack: finds the register that was saved there,
 * and traces that. */
static bool trace_slot(struct tracing tr, size_t index, const struct insn_address *m,
		       struct value *out)
{
	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		int r = saved_at(insn_at(tr, i), m);

		if (r >= 0)
			return trace_register(tr, i, r, out);
	}
	return false;
}

static int64_t trace_constant(struct tracing tr, size_t index, int r);

static int64_t formed_constant(struct tracing tr, size_t index, const struct insn_address *m)
{
	return m->offset + (m->index >= 0 ? trace_constant(tr, index, m->index) * m->scale : 0) +
	       (m->base >= 0 ? trace_constant(tr, index, m->base) : 0);
}

/* Gives the constant part of a register's value: 2 for i + 2. */
static int64_t trace_constant(struct tracing tr, size_t index, int r)
{
	if (tr.depth++ > DEPTH_MAX)
		return 0;
	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		const struct insn *in = insn_at(tr, i);

		if (in->does == INSN_CALL && !is_kept_by_calls(r))
			return 0;
		if (!writes(in, r))
			continue;
		if (in->to[0] != r)
			return 0;
		switch (in->does) {
		case INSN_FORM: return formed_constant(tr, i, &in->at);
		case INSN_SHIFT: return trace_constant(tr, i, in->from) * ((int64_t)1 << in->shift);
		case INSN_MOVE:
		case INSN_EXTEND: return trace_constant(tr, i, in->from);
		case INSN_OTHER:
		case INSN_LOAD:
		case INSN_SAVE:
		case INSN_CALL:
		case INSN_JUMP: return 0;
		}
	}
	return 0;
}

/* Traces the address that a memory operand forms. */
static bool trace_address(struct tracing tr, size_t index, const struct insn_address *m,
			  struct value *out)
{
	bool is_indexed = m->index >= 0;
	int other = m->index;
	uint64_t pc = insn_at(tr, index)->pc;
	struct spot spot;

	/* variables share stack slots: take the one that lives where the address is used */
	if (in_frame(tr, pc, m, &spot))
		return find_variable(tr, tr.pc, &spot, true, out);
	if (m->base < 0)
		return false;
	if (!trace_register(tr, index, m->base, out)) {
		/* the pointer may be in the index register */
		if (!is_indexed || m->scale != 1 || !trace_register(tr, index, m->index, out))
			return false;
		other = m->base;
	}
	out->offset += m->offset;
	if (is_indexed) {
		out->is_moved = true;
		out->scale = m->scale;
		out->offset += trace_constant(tr, index, other) * m->scale;
	}
	return true;
}

static bool trace_load(struct tracing tr, size_t index, const struct insn_address *m,
		       struct value *out)
{
	uint64_t pc = insn_at(tr, index)->pc;
	struct value from;
	struct spot spot;
	Dwarf_Die part;

	if (in_frame(tr, pc, m, &spot))
		return find_variable(tr, pc, &spot, false, out) || trace_slot(tr, index, m, out);
	if (!trace_address(tr, index, m, &from) || from.offset < 0 ||
	    !dwarf_part_at(&from.type, (uint64_t)from.offset, &part) ||
	    !dwarf_points_to(&part, &out->type))
		return false;
	out->offset = 0;
	out->is_moved = false;
	out->parameter = PLACE_NO_PARAMETER;
	return true;
}

/* Finds the type of a called function's result, if the function is in the same file. */
static bool trace_result(struct tracing tr, const struct insn *call, struct value *out)
{
	Dwarf_Die cu, type, *scopes = NULL;
	bool is_found = false;
	int n;

	if (!call->target || !dwarf_unit_at(tr.module, call->target, &cu))
		return false;
	n = dwarf_getscopes(&cu, call->target, &scopes);
	for (int i = 0; i < n && !is_found; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			is_found = dwarf_type_of(&scopes[i], &type) &&
				   dwarf_points_to(&type, &out->type);
	free(scopes);
	out->offset = 0;
	out->is_moved = false;
	out->parameter = PLACE_NO_PARAMETER;
	return is_found;
}

/* Traces the value that the instruction leaves in register r. */
static bool trace_instruction(struct tracing tr, size_t index, int r, struct value *out)
{
	const struct insn *in = insn_at(tr, index);

	if (in->does == INSN_CALL)
		return r == insn_machine.result && trace_result(tr, in, out);
	if (in->to[0] == r || in->to[1] == r) {
		struct insn_address second = in->at;

		second.offset += 8;
		switch (in->does) {
		case INSN_MOVE: return trace_register(tr, index, in->from, out);
		case INSN_FORM: return trace_address(tr, index, &in->at, out);
		case INSN_LOAD:
			return trace_load(tr, index, in->to[0] == r ? &in->at : &second, out);
		case INSN_OTHER:
		case INSN_EXTEND:
		case INSN_SHIFT:
		case INSN_SAVE:
		case INSN_CALL:
		case INSN_JUMP: return false;
		}
	}
	if (!in->moves || in->at.base != r || !trace_register(tr, index, r, out))
		return false;
	out->offset += in->moves;
	out->is_moved = true; /* as in a loop */
	return true;
}

static bool is_scalar(struct tracing tr, const struct value *v)
{
	const struct layout *l = dwarf_layout(tr.t, (Dwarf_Die *)&v->type);

	return l && l->kind == LAYOUT_SCALAR;
}

/* Traces a pointer to a field back to its object. An inline function gets such a pointer where
 * addresses have no offset, as for arm64's atomics. */
static bool trace_field(struct tracing tr, size_t index, int r, struct value *field)
{
	struct value v;

	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		const struct insn *in = insn_at(tr, i);

		if (in->does == INSN_CALL || in->does == INSN_JUMP)
			return false;
		if (!writes(in, r))
			continue;
		if (in->does != INSN_FORM || in->at.index >= 0 ||
		    !trace_address(tr, i, &in->at, &v) || is_scalar(tr, &v))
			return false;
		*field = v;
		return true;
	}
	return false;
}

/* Traces the value that register r has just before an instruction. */
static bool trace_register(struct tracing tr, size_t index, int r, struct value *out)
{
	struct spot spot = { .is_register = true, .number = r };

	if (tr.depth++ > DEPTH_MAX || r < 0)
		return false;
	if (find_variable(tr, insn_at(tr, index)->pc, &spot, false, out)) {
		if (is_scalar(tr, out))
			trace_field(tr, index, r, out);
		return true;
	}
	for (size_t i = index; i-- > 0 && index - i < LOOK_BACK;) {
		const struct insn *in = insn_at(tr, i);

		if (in->does == INSN_CALL && is_kept_by_calls(r))
			continue;
		if (in->does == INSN_CALL || writes(in, r))
			return trace_instruction(tr, i, r, out);
	}
	return false;
}

/* ---- questions ---- */

int64_t operand_offset(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	const struct insn *in = code_at(t, module, pc);

	return in && in->stored_bytes && in->at.index < 0 ? in->at.offset : -1;
}

/* Turns a traced address into a place. If the address was moved by an unknown distance, it is taken
 * for an element of an array, which begins at the offset or before it. */
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
	if (l->size_bytes && offset < 0) /* it is an earlier element */
		offset = (int64_t)l->size_bytes - (-offset - 1) % (int64_t)l->size_bytes - 1;
	if (l->size_bytes && !(l->nfields && l->fields[l->nfields - 1].size_bytes == 0) &&
	    (uint64_t)offset >= l->size_bytes) {
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

			for (uint32_t i = (uint32_t)out->target->nfields;
			     i-- > 0 && out->nsteps == n;)
				if (out->target->fields[i].offset <= (uint64_t)offset &&
				    out->target->fields[i].type->kind != LAYOUT_SCALAR) {
					offset -= (int64_t)out->target->fields[i].offset;
					place_step(out, i);
				}
			if (out->nsteps == n && v->scale > 1 && l->size_bytes > v->scale)
				return false;   /* an array inside it, but unknown which */
			if (out->nsteps == n) { /* the whole object is an element */
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
	struct value v;

	return in && in->stored_bytes &&
	       trace_address((struct tracing){ .t = t, .module = module, .pc = pc },
			     (size_t)(in - t->code.list.at), &in->at, &v) &&
	       place_value(t, &v, out);
}

bool operand_argument(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, int argument,
		      struct place *out)
{
	const struct insn *in = code_before(t, module, pc);
	struct value v;

	if (!in || argument < 0 || argument >= insn_machine.narguments ||
	    !trace_register((struct tracing){ .t = t, .module = module, .pc = in->pc },
			    (size_t)(in - t->code.list.at), insn_machine.arguments[argument], &v) ||
	    !place_value(t, &v, out))
		return false;
	out->is_region = true;
	out->is_exact = false;
	out->origin = pc;
	return true;
}
