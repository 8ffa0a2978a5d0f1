/* Makes Zydis, which decodes instructions, safe to call in a signal handler. Zydis is a shared
 * object and calls memcpy and the like, which the program may replace. So its calls of these
 * functions are bound to our own ones, and its calls of itself to itself, before the first call. */
#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "gate.h"
#include "internal.h"

/* The functions that Zydis calls. Others, which its formatter and its assertions call, are not
 * changed. */
static const struct {
	const char *name;
	void *function;
} own[] = {
	{ "memcpy", (void *)memcpy }, { "memmove", (void *)memmove }, { "memset", (void *)memset },
	{ "memcmp", (void *)memcmp }, { "strlen", (void *)strlen },
};

struct object {
	uint64_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * jumps, *others;
	uint64_t jumps_bytes, others_bytes;
};

static void object_read(struct object *o, const struct link_map *map)
{
	*o = (struct object){ .base = map->l_addr };
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		/* the loader may have added the base already */
		const uint64_t at =
			d->d_un.d_ptr < o->base ? d->d_un.d_ptr + o->base : d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB: o->symbols = (const void *)at; break;
		case DT_STRTAB: o->strings = (const void *)at; break;
		case DT_JMPREL: o->jumps = (const void *)at; break;
		case DT_PLTRELSZ: o->jumps_bytes = d->d_un.d_val; break;
		case DT_RELA: o->others = (const void *)at; break;
		case DT_RELASZ: o->others_bytes = d->d_un.d_val; break;
		default: break;
		}
	}
}

static uint64_t target_of(const struct object *o, const ElfW(Sym) * s)
{
	if (s->st_shndx != SHN_UNDEF)
		return o->base + s->st_value;
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (strcmp(o->strings + s->st_name, own[i].name) == 0)
			return (uint64_t)own[i].function;
	return 0;
}

static void bind(const struct object *o, const ElfW(Rela) * list, uint64_t len_bytes)
{
	for (uint64_t i = 0; i < len_bytes / sizeof *list; i++) {
		const uint64_t type = ELF64_R_TYPE(list[i].r_info), at = o->base + list[i].r_offset;
		const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(list[i].r_info)];
		const uint64_t target =
			type == R_X86_64_JUMP_SLOT || (type == R_X86_64_GLOB_DAT &&
						       ELF64_ST_TYPE(s->st_info) == STT_FUNC)
				? target_of(o, s)
				: 0;

		/* the page may be read-only after relocation */
		if (target && CALL3(SYS_mprotect, PAGE_DOWN(at), PAGE, PROT_READ | PROT_WRITE) == 0)
			*(uint64_t *)at = target;
	}
}

const char *arch_refusal(void)
{
	return catch_refusal();
}

void arch_init(void)
{
	static bool is_done;
	struct dl_find_object found;
	struct object o;

	catch_choose();
	if (is_done || _dl_find_object((void *)ZydisDecoderInit, &found) != 0)
		return;
	is_done = true;
	object_read(&o, found.dlfo_link_map);
	if (!o.symbols || !o.strings)
		return;
	bind(&o, o.jumps, o.jumps_bytes);
	bind(&o, o.others, o.others_bytes);
}
