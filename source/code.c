/* Decodes the instructions of one function from its beginning, and keeps them for the next
 * question. x86 code cannot be decoded backwards, so the instruction before an address needs
 * this. */
#include <gelf.h>
#include <stdlib.h>

#include "source/dwarf_internal.h"

enum { FUNCTION_MAX_BYTES = 1 << 16 };

struct dwarf_types *dwarf_types_new(void)
{
	return xcalloc(1, sizeof(struct dwarf_types));
}

void dwarf_types_free(struct dwarf_types *t)
{
	if (!t)
		return;
	vec_release(&t->code.list);
	map_release(&t->layouts);
	arena_release(&t->arena);
	free(t);
}

const uint8_t *code_bytes(Dwfl_Module *module, uint64_t pc, size_t *len_bytes)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	GElf_Ehdr header;
	GElf_Phdr ph;
	size_t n, file_bytes;
	const char *raw = elf ? elf_rawfile(elf, &file_bytes) : NULL;

	if (!raw || elf_getphdrnum(elf, &n) != 0)
		return NULL;
	if (!gelf_getehdr(elf, &header) || header.e_machine != insn_machine.elf)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    pc - bias >= ph.p_vaddr && pc - bias < ph.p_vaddr + ph.p_filesz) {
			uint64_t offset = pc - bias - ph.p_vaddr + ph.p_offset;

			if (offset >= file_bytes)
				return NULL;
			*len_bytes = ph.p_vaddr + ph.p_filesz - (pc - bias);
			if (*len_bytes > file_bytes - offset)
				*len_bytes = file_bytes - offset;
			return (const uint8_t *)raw + offset;
		}
	return NULL;
}

/* Gives the range of the function around pc. Without a symbol its beginning is unknown. */
static bool function_range(Dwfl_Module *module, uint64_t pc, uint64_t *start, uint64_t *end)
{
	GElf_Sym sym;
	GElf_Off offset;

	if (!dwfl_module_addrinfo(module, pc, &offset, &sym, NULL, NULL, NULL) ||
	    sym.st_size == 0 || offset >= sym.st_size)
		return false;
	*start = pc - offset;
	*end = *start + sym.st_size;
	return *end - *start <= FUNCTION_MAX_BYTES;
}

static bool load_function(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	struct code *c = &t->code;
	const uint8_t *bytes;
	size_t len_bytes;
	uint64_t at;

	if (c->module == module && pc >= c->start && pc < c->end)
		return true;
	c->list.n = 0;
	c->module = NULL;
	if (!function_range(module, pc, &c->start, &c->end) ||
	    !(bytes = code_bytes(module, c->start, &len_bytes)))
		return false;
	c->module = module;
	for (at = 0; at < c->end - c->start && at < len_bytes;) {
		struct insn *i = vec_add(&c->list);

		if (!insn_decode(i, bytes + at, len_bytes - at, c->start + at)) {
			c->list.n--;
			break;
		}
		at += i->len_bytes;
	}
	return true;
}

const struct insn *code_at(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	size_t low = 0, high;

	if (!load_function(t, module, pc))
		return NULL;
	for (high = t->code.list.n; low < high;) {
		size_t middle = (low + high) / 2;

		if (t->code.list.at[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->code.list.n && t->code.list.at[low].pc == pc ? &t->code.list.at[low] : NULL;
}

const struct insn *code_before(struct dwarf_types *t, Dwfl_Module *module, uint64_t pc)
{
	if (!load_function(t, module, pc - 1))
		return NULL;
	for (size_t i = 0; i < t->code.list.n; i++)
		if (t->code.list.at[i].pc + t->code.list.at[i].len_bytes == pc)
			return &t->code.list.at[i];
	return NULL;
}
