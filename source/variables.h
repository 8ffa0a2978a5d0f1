/* Finds the variable that is in a register or stack slot, and what types point to or contain. */
#ifndef SOURCE_VARIABLES_H
#define SOURCE_VARIABLES_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct spot {
	bool is_register;
	int number;     /* of the register, as DWARF counts */
	int64_t offset; /* from the frame's address (CFA) */
};

struct variable {
	Dwarf_Die type;
	int parameter; /* its number, or PLACE_NO_PARAMETER */
};

/* Gives the frame's address (CFA) at pc as a register plus an offset. */
bool frame_address(Dwfl_Module *module, uint64_t pc, int *reg, int64_t *offset);
/* Finds the variable in this spot at pc. is_itself: the variable's own type is wanted, not the type
 * of what it points to. */
bool variable_find(Dwfl_Module *module, uint64_t pc, const struct spot *where, bool is_itself,
		   struct variable *out);

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *out);
/* Gives the type that a pointer or reference points to. */
bool dwarf_points_to(Dwarf_Die *type, Dwarf_Die *out);
/* Gives the type of the part at an offset into an object; array elements count as parts. */
bool dwarf_part_at(Dwarf_Die *object, uint64_t offset, Dwarf_Die *out);

#endif
