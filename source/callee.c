/* Which function of another object a call leads to: through the procedure linkage table, whose entry jumps to where a slot of the global offset
 * table points, for which there is a relocation with the function's name. */
#include <gelf.h>

#include "source/dwarf_internal.h"

/* The name of the function whose address the dynamic linker writes to this slot. */
static const char *slot_name(Dwfl_Module *module, uint64_t slot)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;
	GElf_Shdr header, symbols;

	while (elf && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize || !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
			Elf_Scn *table = elf_getscn(elf, header.sh_link);
			GElf_Rela rela;
			GElf_Sym sym;

			if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != slot - bias)
				continue;
			if (!table || !gelf_getshdr(table, &symbols) || !gelf_getsym(elf_getdata(table, NULL), (int)GELF_R_SYM(rela.r_info), &sym))
				return NULL;
			return elf_strptr(elf, symbols.sh_link, sym.st_name);
		}
	}
	return NULL;
}

/* Where an entry of the table jumps to: a few instructions, of which one is that jump. */
static const char *entry_name(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	size_t len_bytes;
	const uint8_t *bytes = code_bytes(module, pc, &len_bytes);
	struct insn i;
	ZyanU64 slot;

	for (unsigned n = 0; bytes && n < 3 && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&t->decoder, bytes, len_bytes, &i.in, i.ops)); n++) {
		if (i.in.mnemonic == ZYDIS_MNEMONIC_JMP)
			return i.ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&i.in, &i.ops[0], pc, &slot)) ?
				       slot_name(module, slot) :
				       NULL;
		bytes += i.in.length;
		len_bytes -= i.in.length;
		pc += i.in.length;
	}
	return NULL;
}

const char *operand_callee(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	const struct insn *call = code_before(t, module, pc);
	ZyanU64 target;

	if (!call || call->in.meta.category != ZYDIS_CATEGORY_CALL ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&call->in, &call->ops[0], call->pc, &target)))
		return NULL;
	return call->ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? slot_name(module, target) : entry_name(t, module, target);
}
