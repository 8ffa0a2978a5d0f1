/* See code.h. Executable sections are decoded from their beginning to their end (what compilers put between functions decodes as well), twice: once to
 * find where blocks begin, once to fill them. The cache holds the arrays as they are, behind a magic number with a version. */
#include "explore/code.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/map.h"

struct section {
	const uint8_t *bytes;
	uint64_t address, len_bytes;
};

struct reader {
	struct code *code;
	Elf *elf;
	VEC(struct section) sections;
	struct map slots; /* address of a GOT entry -> its function's name in names */
	ZydisDecoder decoder;
};

struct insn {
	uint64_t address, next, target; /* target 0: none that is known */
	uint32_t name;			/* of the function elsewhere that it goes to */
	bool ends, falls;		/* a block ends here; the next instruction may follow */
	bool is_pm;
};

/* ---- ELF ---- */

static uint32_t name_add(struct code *c, const char *name)
{
	uint32_t at = (uint32_t)c->names.n;
	size_t n = strlen(name) + 1;

	vec_reserve(&c->names, c->names.n + n);
	memcpy(c->names.at + c->names.n, name, n);
	c->names.n += n;
	return at;
}

static void symbols_read(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (size_t i = 0; d && sh->sh_entsize && i < sh->sh_size / sh->sh_entsize; i++) {
		const char *name;

		if (!gelf_getsym(d, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(r->elf, sh->sh_link, sym.st_name);
		if (!name)
			continue;
		*vec_add(&r->code->starts) = sym.st_value;
		if (GELF_ST_BIND(sym.st_info) != STB_LOCAL)
			*vec_add(&r->code->exports) = (struct code_symbol){ sym.st_value, name_add(r->code, name) };
	}
}

static void relocations_read(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Scn *symbols = elf_getscn(r->elf, sh->sh_link);
	Elf_Data *d = elf_getdata(scn, NULL), *s = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr symbols_sh;
	GElf_Rela rela;
	GElf_Sym sym;

	if (!d || !s || !gelf_getshdr(symbols, &symbols_sh))
		return;
	for (size_t i = 0; sh->sh_entsize && i < sh->sh_size / sh->sh_entsize; i++) {
		const char *name;

		if (!gelf_getrela(d, (int)i, &rela) || !gelf_getsym(s, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		if (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT)
			continue;
		name = elf_strptr(r->elf, symbols_sh.sh_link, sym.st_name);
		if (name && *name)
			map_set(&r->slots, rela.r_offset, (void *)(uintptr_t)name_add(r->code, name));
	}
}

static void elf_read(struct reader *r)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(r->elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)
			symbols_read(r, scn, &sh);
		else if (sh.sh_type == SHT_RELA)
			relocations_read(r, scn, &sh);
		else if (sh.sh_type == SHT_PROGBITS && (sh.sh_flags & SHF_EXECINSTR)) {
			Elf_Data *d = elf_getdata(scn, NULL);

			if (d && d->d_buf)
				*vec_add(&r->sections) = (struct section){ d->d_buf, sh.sh_addr, d->d_size };
		}
	}
}

/* ---- instructions ---- */

static bool modifies_pm(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_SFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVNTQ:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_MOVDIRI:
	case ZYDIS_MNEMONIC_MOVDIR64B: return true;
	default: return false;
	}
}

/* Where a jump or call goes: to an address, or through an entry of the GOT. */
static void target_find(const struct reader *r, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn *i)
{
	ZyanU64 address;

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(z, o, i->address, &address)))
			i->target = address;
	} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP) {
		if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(z, o, i->address, &address)))
			i->name = (uint32_t)(uintptr_t)map_get(&r->slots, address);
	}
}

static struct insn decode(const struct reader *r, const struct section *s, uint64_t at)
{
	struct insn i = { .address = s->address + at, .falls = true };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, s->bytes + at, s->len_bytes - at, &z, operands))) {
		i.next = i.address + 1;
		return i;
	}
	i.next = i.address + z.length;
	i.is_pm = modifies_pm(z.mnemonic);
	switch (z.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
		i.ends = true;
		i.falls = z.meta.category != ZYDIS_CATEGORY_UNCOND_BR;
		target_find(r, &z, &operands[0], &i);
		break;
	case ZYDIS_CATEGORY_RET:
		i.ends = true;
		i.falls = false;
		break;
	default:
		if (z.mnemonic == ZYDIS_MNEMONIC_UD2 || z.mnemonic == ZYDIS_MNEMONIC_HLT) {
			i.ends = true;
			i.falls = false;
		}
	}
	return i;
}

static void starts_find(struct reader *r)
{
	for (size_t k = 0; k < r->sections.n; k++) {
		const struct section *s = &r->sections.at[k];

		*vec_add(&r->code->starts) = s->address;
		for (uint64_t at = 0; at < s->len_bytes;) {
			struct insn i = decode(r, s, at);

			if (i.ends)
				*vec_add(&r->code->starts) = i.next;
			if (i.target)
				*vec_add(&r->code->starts) = i.target;
			at = i.next - s->address;
		}
	}
}

static int numbers_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void starts_sort(struct code *c)
{
	size_t n = 0;

	if (c->starts.n)
		qsort(c->starts.at, c->starts.n, sizeof c->starts.at[0], numbers_compare);
	for (size_t i = 0; i < c->starts.n; i++)
		if (n == 0 || c->starts.at[i] != c->starts.at[n - 1])
			c->starts.at[n++] = c->starts.at[i];
	c->starts.n = n;
}

uint32_t code_block(const struct code *c, uint64_t address)
{
	size_t low = 0, high = c->starts.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->starts.at[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)(low - 1) : UINT32_MAX;
}

static void blocks_fill(struct reader *r)
{
	for (size_t k = 0; k < r->sections.n; k++) {
		const struct section *s = &r->sections.at[k];

		for (uint64_t at = 0; at < s->len_bytes;) {
			struct insn i = decode(r, s, at);
			uint32_t block = code_block(r->code, i.address);

			if (i.is_pm)
				*vec_add(&r->code->pm) = i.address;
			if (i.target || i.name)
				*vec_add(&r->code->edges) = (struct code_edge){ block, i.name, i.target };
			if (i.falls && i.next < s->address + s->len_bytes && code_block(r->code, i.next) != block)
				*vec_add(&r->code->edges) = (struct code_edge){ block, 0, i.next };
			at = i.next - s->address;
		}
	}
}

/* ---- the cache ---- */

#define CACHE_MAGIC "PMCODE1\n"

static char *cache_name(Elf *elf, const char *folder)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (folder && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *d;
		GElf_Nhdr note;
		size_t name, desc, at = 0;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE || !(d = elf_getdata(scn, NULL)))
			continue;
		while ((at = gelf_getnote(d, at, &note, &name, &desc)) > 0) {
			char id[65] = "", *to = id;

			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > 32)
				continue;
			for (size_t i = 0; i < note.n_descsz; i++)
				to += sprintf(to, "%02x", ((const uint8_t *)d->d_buf)[desc + i]);
			return xasprintf("%s/%s.code", folder, id);
		}
	}
	return NULL;
}

#define ARRAYS(c) { (void **)&(c)->starts.at, &(c)->starts.n, sizeof(c)->starts.at[0] }, { (void **)&(c)->edges.at, &(c)->edges.n, sizeof(c)->edges.at[0] }, \
	{ (void **)&(c)->pm.at, &(c)->pm.n, sizeof(c)->pm.at[0] }, { (void **)&(c)->exports.at, &(c)->exports.n, sizeof(c)->exports.at[0] }, \
	{ (void **)&(c)->names.at, &(c)->names.n, 1 }

struct array {
	void **at;
	size_t *n, width;
};

static bool cache_read(struct code *c, const char *name)
{
	const struct array arrays[] = { ARRAYS(c) };
	FILE *f = name ? fopen(name, "rb") : NULL;
	char magic[8];
	uint64_t n;
	bool ok;

	if (!f)
		return false;
	ok = fread(magic, sizeof magic, 1, f) == 1 && memcmp(magic, CACHE_MAGIC, sizeof magic) == 0;
	for (size_t i = 0; ok && i < sizeof arrays / sizeof arrays[0]; i++) {
		ok = fread(&n, sizeof n, 1, f) == 1 && n < 1u << 28;
		if (!ok)
			break;
		*arrays[i].at = xmalloc((n + 1) * arrays[i].width);
		*arrays[i].n = n;
		ok = n == 0 || fread(*arrays[i].at, arrays[i].width, n, f) == n;
	}
	ok = ok && fgetc(f) == EOF && c->names.n && c->names.at[c->names.n - 1] == '\0';
	for (size_t i = 0; ok && i < c->edges.n; i++)
		ok = c->edges.at[i].from < c->starts.n && c->edges.at[i].name < c->names.n;
	for (size_t i = 0; ok && i < c->exports.n; i++)
		ok = c->exports.at[i].name < c->names.n;
	fclose(f);
	if (!ok)
		code_release(c);
	return ok;
}

/* Under another name first: somebody may be reading. A cache that cannot be written is no failure. */
static void cache_write(struct code *c, const char *name)
{
	const struct array arrays[] = { ARRAYS(c) };
	char *fresh = xasprintf("%s.%d", name, (int)getpid());
	FILE *f = fopen(fresh, "wb");
	bool ok;

	if (f) {
		ok = fwrite(CACHE_MAGIC, 8, 1, f) == 1;
		for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
			uint64_t n = *arrays[i].n;

			ok = ok && fwrite(&n, sizeof n, 1, f) == 1 && fwrite(*arrays[i].at, arrays[i].width, n, f) == n;
		}
		if (fclose(f) != 0 || !ok || rename(fresh, name) < 0)
			unlink(fresh);
	}
	free(fresh);
}

/* ---- all of it ---- */

static void machine_code_read(struct reader *r)
{
	*vec_add(&r->code->names) = '\0';
	ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	elf_read(r);
	starts_find(r);
	starts_sort(r->code);
	blocks_fill(r);
	map_release(&r->slots);
	vec_release(&r->sections);
}

int code_read(struct code *c, const char *path, const char *cache, struct error *err)
{
	struct reader r = { .code = c };
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = -1;
	char *name = NULL;
	GElf_Ehdr eh;

	*c = (struct code){ 0 };
	if (fd < 0)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	r.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!r.elf || !gelf_getehdr(r.elf, &eh) || eh.e_machine != EM_X86_64) {
		error_set(err, "%s is no x86-64 object", path);
		goto out;
	}
	result = 0;
	name = cache_name(r.elf, cache);
	if (cache_read(c, name))
		goto out;
	machine_code_read(&r);
	if (name)
		cache_write(c, name);
out:
	free(name);
	if (r.elf)
		elf_end(r.elf);
	close(fd);
	return result;
}

uint64_t code_address(const char *path, uint64_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t address = 0;
	GElf_Phdr ph;
	size_t n = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_getphdrnum(elf, &n) == 0)
		for (size_t i = 0; i < n && !address; i++)
			if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && offset - ph.p_offset < ph.p_filesz)
				address = ph.p_vaddr + (offset - ph.p_offset);
	if (elf)
		elf_end(elf);
	close(fd);
	return address;
}

void code_release(struct code *c)
{
	vec_release(&c->starts);
	vec_release(&c->edges);
	vec_release(&c->pm);
	vec_release(&c->exports);
	vec_release(&c->names);
}
