/* Types from debug information: layouts, and what the operand of a store instruction points to. */
#ifndef SOURCE_DWARF_TYPES_H
#define SOURCE_DWARF_TYPES_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "source/layout.h"

struct dwarf_types;

struct dwarf_types *dwarf_types_new(void);
void dwarf_types_free(struct dwarf_types *t);

/* The compilation unit that holds the address. clang writes no .debug_aranges, so all of them may
 * have to be asked. */
bool dwarf_unit_at(Dwfl_Module *module, uint64_t pc, Dwarf_Die *out);

/* NULL if it is incomplete */
const struct layout *dwarf_layout(struct dwarf_types *t, Dwarf_Die *type);

/* The store instruction at pc writes so far from what its base register holds; -1: not known, or
 * more than one register. */
int64_t operand_offset(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);

/* What the store at pc writes to; what the argument of the call before pc (a return address) points
 * to. */
bool operand_place(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, struct place *out);
/* The name of the function of another object that is called before pc, as memcpy is; NULL: not
 * known. (callee.c) */
const char *operand_callee(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);

bool operand_argument(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc, int argument,
		      struct place *out);

/* Made by the compiler: `this` of a method. */
static inline bool dwarf_is_artificial(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	bool is_hidden = false;

	return dwarf_attr_integrate(die, DW_AT_artificial, &attr) &&
	       dwarf_formflag(&attr, &is_hidden) == 0 && is_hidden;
}

#endif
