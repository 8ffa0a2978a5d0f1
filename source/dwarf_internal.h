/* What the files share that read types from debug information. */
#ifndef SOURCE_DWARF_INNER_H
#define SOURCE_DWARF_INNER_H

#include "source/dwarf_types.h"
#include "source/insn.h"
#include "util/map.h"
#include "util/vec.h"

/* A function that was decoded from its beginning. */
struct code {
	Dwfl_Module *module;
	uint64_t start, end;
	VEC(struct insn) list;
};

struct dwarf_types {
	struct arena arena;
	struct map layouts; /* address of the DIE in memory → layout */
	struct code code;   /* the function of the last question */
};

/* Gives the instruction at pc; NULL if none begins there. */
const struct insn *code_at(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);
/* Gives the instruction that ends at pc. */
const struct insn *code_before(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);

/* Gives the bytes of the ELF file from one of its own addresses on. */
const uint8_t *code_bytes(Dwfl_Module *module, uint64_t pc, size_t *len_bytes);

/* Gives the type without typedefs and qualifiers; false for void. */
bool dwarf_real_type(Dwarf_Die *die, Dwarf_Die *out);

#endif
