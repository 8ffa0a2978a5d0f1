/* What the files that read types from debug information share. */
#ifndef SOURCE_DWARF_INNER_H
#define SOURCE_DWARF_INNER_H

#include "source/dwarf_types.h"
#include "source/insn.h"
#include "util/map.h"
#include "util/vec.h"

/* A function, decoded from its beginning. */
struct code {
	Dwfl_Module *module;
	uint64_t start, end;
	VEC(struct insn) list;
};

struct dwarf_types {
	struct arena arena;
	struct map layouts; /* by the DIE's address in memory */
	struct code code;   /* of the last question */
};

/* in t->code; NULL if that is no instruction's beginning */
const struct insn *code_at(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);
/* the one that ends at pc */
const struct insn *code_before(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc);

/* the file's bytes at an address of its own */
const uint8_t *code_bytes(Dwfl_Module *module, uint64_t pc, size_t *len_bytes);

/* The type without typedefs and qualifiers; false for void. */
bool dwarf_real_type(Dwarf_Die *die, Dwarf_Die *out);

#endif
