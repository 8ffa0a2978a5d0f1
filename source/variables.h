/* Which variable of a function is kept in a register or in a slot of its frame, and what types lead
 * to. */
#ifndef SOURCE_VARIABLES_H
#define SOURCE_VARIABLES_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct spot {
	bool is_register;
	int number;     /* of the register */
	int64_t offset; /* from the frame's address */
};

struct variable {
	Dwarf_Die type;
	int parameter; /* or PLACE_NO_PARAMETER */
};

/* The frame's address (CFA) is a register plus a number. */
bool frame_address(Dwfl_Module *module, uint64_t pc, int *reg, int64_t *offset);
/* is_itself: the variable's own type is wanted, not that of what it points to. */
bool variable_find(Dwfl_Module *module, uint64_t pc, const struct spot *where, bool is_itself,
		   struct variable *out);

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *out);
/* What a pointer or reference of this type leads to. */
bool dwarf_points_to(Dwarf_Die *type, Dwarf_Die *out);
/* The type of the part of an object that begins at an offset, elements of arrays included. */
bool dwarf_part_at(Dwarf_Die *object, uint64_t offset, Dwarf_Die *out);

#endif
