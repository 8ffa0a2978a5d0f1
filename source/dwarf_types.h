/* Reads types from debug information: layouts, and what the operand of a store instruction points
 * to. */
#ifndef SOURCE_DWARF_TYPES_H
#define SOURCE_DWARF_TYPES_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "source/layout.h"

struct dwarf_types;

struct dwarf_types *dwarf_types_new(void);
void dwarf_types_free(struct dwarf_types *t);

/* Finds the compilation unit of the address. clang writes no .debug_aranges, so all units may have
 * to be searched. */
bool dwarf_unit_at(Dwfl_Module *module, uint64_t pc, Dwarf_Die *out);

/* Gives the layout of a type; NULL if the type is incomplete. */
const struct layout *dwarf_layout(struct dwarf_types *t, Dwarf_Die *type);

/* Gives the constant that the store instruction at pc adds to its base register; -1 if it is
 * unknown, or if the instruction uses more than one register. */
int64_t operand_offset(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);

/* Finds what the store instruction at pc writes to. False if unknown. */
bool operand_place(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, struct place *out);
/* Gives the name of the function that was called just before pc, if it is in another object, as
 * memcpy is; NULL if unknown. (callee.c) */
const char *operand_callee(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);

/* Finds what an argument of the call just before pc points to. pc is a return address. */
bool operand_argument(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, int argument,
		      struct place *out);

/* Asks whether the compiler made this entry, as it makes a method's `this`. */
static inline bool dwarf_is_artificial(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	bool is_hidden = false;

	return dwarf_attr_integrate(die, DW_AT_artificial, &attr) &&
	       dwarf_formflag(&attr, &is_hidden) == 0 && is_hidden;
}

#endif
