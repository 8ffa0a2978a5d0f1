/* Finds the name of the function that a call calls in another object. The call goes to an entry of
 * the procedure linkage table; the entry jumps through a slot of the global offset table; the slot
 * has a relocation with the function's name. */
#include <gelf.h>

#include "source/dwarf_internal.h"

/* Gives the name of the function whose address the dynamic linker writes into this slot. */
static const char *slot_name(Dwfl_Module *module, uint64_t slot)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;
	GElf_Shdr header, symbols;

	while (elf && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    !header.sh_entsize || !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
			Elf_Scn *table = elf_getscn(elf, header.sh_link);
			GElf_Rela rela;
			GElf_Sym sym;

			if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != slot - bias)
				continue;
			if (!table || !gelf_getshdr(table, &symbols) ||
			    !gelf_getsym(elf_getdata(table, NULL), (int)GELF_R_SYM(rela.r_info),
					 &sym))
				return NULL;
			return elf_strptr(elf, symbols.sh_link, sym.st_name);
		}
	}
	return NULL;
}

const char *operand_callee(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	const struct insn *call = code_before(t, module, pc);
	uint64_t slot = call && call->does == INSN_CALL ? call->slot : 0;
	const uint8_t *entry;
	size_t len_bytes;

	if (call && call->does == INSN_CALL && call->target &&
	    (entry = code_bytes(module, call->target, &len_bytes)))
		slot = insn_entry_slot(entry, len_bytes, call->target);
	return slot ? slot_name(module, slot) : NULL;
}
