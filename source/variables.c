/* Finds the variable that a register or a stack slot holds at an instruction, in debug information.
 * The frame's address comes from the call frame information, the variable's place from its location
 * expression; only simple expressions are understood. */
#include "source/variables.h"

#include <dwarf.h>
#include <stdlib.h>

#include "source/dwarf_internal.h"
#include "source/dwarf_types.h"

bool frame_address(Dwfl_Module *module, uint64_t pc, int *reg, int64_t *offset)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n = 0;
	bool is_known;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
		return false;
	is_known = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && ops[0].atom >= DW_OP_breg0 &&
		   ops[0].atom <= DW_OP_breg31;
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

/* Gives the distance from the frame's address to the address from which DW_OP_fbreg counts. */
static bool frame_base(Dwfl_Module *module, Dwarf_Die *function, uint64_t pc, int64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	int reg;
	int64_t back;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || n != 1)
		return false;
	*offset = 0;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return true;
	if (!frame_address(module, pc, &reg, &back) || ops[0].atom != DW_OP_reg0 + reg)
		return false;
	*offset = -back;
	return true;
}

static bool variable_spot(Dwfl_Module *module, Dwarf_Die *variable, Dwarf_Die *function,
			  uint64_t pc, struct spot *out)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	int64_t base;

	if (!dwarf_attr(variable, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || n != 1)
		return false;
	*out = (struct spot){ .is_register =
				      ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31 };
	out->number = ops[0].atom - DW_OP_reg0;
	if (out->is_register)
		return true;
	if (ops[0].atom != DW_OP_fbreg || !frame_base(module, function, pc, &base))
		return false;
	out->offset = (int64_t)ops[0].number + base;
	return true;
}

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, out);
}

bool dwarf_points_to(Dwarf_Die *type, Dwarf_Die *out)
{
	Dwarf_Die real;
	int tag;

	if (!dwarf_real_type(type, &real))
		return false;
	tag = dwarf_tag(&real);
	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
		tag == DW_TAG_rvalue_reference_type) &&
	       dwarf_type_of(&real, out);
}

static Dwarf_Off origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin)
		       ? dwarf_dieoffset(&origin)
		       : dwarf_dieoffset(die);
}

/* Gives the number that the parameter has where the function is declared. (Where a function is
 * inlined, gcc lists parameters in any order.) */
static int parameter_number(Dwarf_Die *scope, Dwarf_Die *parameter)
{
	Dwarf_Attribute attr;
	Dwarf_Die declared = *scope, child;
	int n = 0;

	if (dwarf_is_artificial(parameter))
		return PLACE_THIS;
	if (dwarf_attr(scope, DW_AT_abstract_origin, &attr))
		dwarf_formref_die(&attr, &declared);
	if (dwarf_child(&declared, &child) != 0)
		return PLACE_NO_PARAMETER;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || dwarf_is_artificial(&child))
			continue;
		if (dwarf_dieoffset(&child) == origin_of(parameter))
			return n;
		n++;
	} while (dwarf_siblingof(&child, &child) == 0);
	return PLACE_NO_PARAMETER;
}

/* Searches one scope for the variable in this spot. is_itself: the variable's own type is wanted,
 * not the type of what it points to. */
static bool search_scope(Dwfl_Module *module, Dwarf_Die *scope, Dwarf_Die *function, uint64_t pc,
			 const struct spot *where, bool is_itself, struct variable *out)
{
	Dwarf_Die child, type;
	struct spot spot;

	if (dwarf_child(scope, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
			continue;
		if (!variable_spot(module, &child, function, pc, &spot) ||
		    spot.is_register != where->is_register ||
		    (spot.is_register ? spot.number != where->number
				      : spot.offset != where->offset))
			continue;
		if (!dwarf_type_of(&child, &type))
			continue;
		if (is_itself)
			out->type = type;
		else if (!dwarf_points_to(&type, &out->type))
			continue;
		out->parameter = tag == DW_TAG_formal_parameter && !is_itself
					 ? parameter_number(scope, &child)
					 : PLACE_NO_PARAMETER;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool variable_find(Dwfl_Module *module, uint64_t pc, const struct spot *where, bool is_itself,
		   struct variable *out)
{
	Dwarf_Die cu, *inner = NULL, *scopes = NULL, *function = NULL;
	bool is_found = false;
	int n;

	if (!dwarf_unit_at(module, pc, &cu) || dwarf_getscopes(&cu, pc, &inner) <= 0)
		return false;
	n = dwarf_getscopes_die(&inner[0], &scopes);
	for (int i = 0; i < n && !function; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			function = &scopes[i];
	for (int i = 0; i < n && function && !is_found; i++) {
		is_found = search_scope(module, &scopes[i], function, pc, where, is_itself, out);
		if (&scopes[i] == function)
			break;
	}
	free(scopes);
	free(inner);
	return is_found;
}

bool dwarf_part_at(Dwarf_Die *object, uint64_t offset, Dwarf_Die *out)
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

		return dwarf_type_of(&real, &element) &&
		       dwarf_aggregate_size(&element, &size) == 0 && size &&
		       dwarf_part_at(&element, offset % size, out);
	}
	default: *out = real; return offset == 0;
	}
	if (dwarf_child(&real, &child) != 0)
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0, size;
		Dwarf_Die type;

		if ((dwarf_tag(&child) != DW_TAG_member &&
		     dwarf_tag(&child) != DW_TAG_inheritance) ||
		    !dwarf_type_of(&child, &type))
			continue;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr))
			dwarf_formudata(&attr, &at);
		if (dwarf_aggregate_size(&type, &size) != 0)
			size = UINT32_MAX; /* an array without bounds */
		if (offset >= at && offset < at + size && dwarf_part_at(&type, offset - at, out))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}
