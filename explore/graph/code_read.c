/* Reads the machine code of an object. Executable sections are decoded from beginning to end,
 * including the padding between functions, and twice: first to find where blocks begin, then to
 * fill them. */
#include "explore/graph/code.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore/graph/code_cache.h"
#include "explore/graph/insn.h"
#include "util/map.h"
#include "util/order.h"

struct section {
	const uint8_t *bytes;
	uint64_t address, len_bytes;
};

struct reader {
	struct code *code;
	Elf *elf;
	VEC(struct section) sections;
	/* address of a GOT entry → offset of its function's name in names */
	struct map slots;
	VEC(uint32_t) indirect; /* blocks that end in a jump through a register or memory */
	const struct insn_set *insns;
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

		if (!gelf_getsym(d, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(r->elf, sh->sh_link, sym.st_name);
		if (!name)
			continue;
		*vec_add(&r->code->starts) = sym.st_value;
		*vec_add(&r->code->functions) = sym.st_value;
		if (GELF_ST_BIND(sym.st_info) != STB_LOCAL)
			*vec_add(&r->code->exports) =
				(struct code_symbol){ sym.st_value, name_add(r->code, name) };
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

		if (!gelf_getrela(d, (int)i, &rela) ||
		    !gelf_getsym(s, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		if (GELF_R_TYPE(rela.r_info) != r->insns->jump_slot &&
		    GELF_R_TYPE(rela.r_info) != r->insns->glob_dat)
			continue;
		name = elf_strptr(r->elf, symbols_sh.sh_link, sym.st_name);
		if (name && *name)
			map_set(&r->slots, rela.r_offset,
				(void *)(uintptr_t)name_add(r->code, name));
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
				*vec_add(&r->sections) =
					(struct section){ d->d_buf, sh.sh_addr, d->d_size };
		}
	}
}

static void starts_find(struct reader *r)
{
	for (size_t k = 0; k < r->sections.n; k++) {
		const struct section *s = &r->sections.at[k];

		*vec_add(&r->code->starts) = s->address;
		for (uint64_t at = 0; at < s->len_bytes;) {
			struct insn i =
				r->insns->decode(s->bytes + at, s->len_bytes - at, s->address + at);

			if (i.ends)
				*vec_add(&r->code->starts) = i.next;
			if (i.target)
				*vec_add(&r->code->starts) = i.target;
			at = i.next - s->address;
		}
	}
}

/* Sorts the numbers and drops duplicates. */
static size_t numbers_sort(uint64_t *at, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(at, n, sizeof *at, order_u64);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || at[i] != at[kept - 1])
			at[kept++] = at[i];
	return kept;
}

static bool is_function(const struct code *c, uint64_t address)
{
	uint64_t from, to;

	code_function(c, address, &from, &to);
	return from == address;
}

static void call_add(struct reader *r, const struct insn *i, uint32_t block, uint32_t name)
{
	uint64_t from, to;

	if (!i->is_call) {
		if (i->falls || !i->target || !is_function(r->code, i->target))
			return;
		code_function(r->code, i->address, &from, &to);
		if (from == i->target)
			return;
	}
	*vec_add(&r->code->calls) =
		(struct code_call){ i->next, name ? 0 : i->target, name, block };
}

/* Names the calls that go through the procedure linkage table. */
static void calls_name(struct code *c)
{
	uint32_t *names = xcalloc(c->starts.n + 1, sizeof *names);

	for (size_t i = 0; i < c->edges.n; i++)
		if (c->edges.at[i].name)
			names[c->edges.at[i].from] = c->edges.at[i].name;
	for (size_t i = 0; i < c->calls.n; i++) {
		struct code_call *call = &c->calls.at[i];
		uint32_t stub = call->to ? code_block(c, call->to) : UINT32_MAX;

		if (stub != UINT32_MAX && c->starts.at[stub] == call->to && !call->name)
			call->name = names[stub];
	}
	free(names);
}

static void blocks_fill(struct reader *r)
{
	for (size_t k = 0; k < r->sections.n; k++) {
		const struct section *s = &r->sections.at[k];

		for (uint64_t at = 0; at < s->len_bytes;) {
			struct insn i =
				r->insns->decode(s->bytes + at, s->len_bytes - at, s->address + at);
			uint32_t block = code_block(r->code, i.address);
			uint32_t name =
				i.slot ? (uint32_t)(uintptr_t)map_get(&r->slots, i.slot) : 0;

			if (i.is_pm)
				*vec_add(&r->code->pm) = i.address;
			if (i.is_store)
				*vec_add(&r->code->stores) = i.address;
			if (i.target || name)
				*vec_add(&r->code->edges) =
					(struct code_edge){ block, name, i.target };
			if (i.falls && i.next < s->address + s->len_bytes &&
			    code_block(r->code, i.next) != block)
				*vec_add(&r->code->edges) = (struct code_edge){ block, 0, i.next };
			call_add(r, &i, block, name);
			if (i.is_indirect)
				*vec_add(&r->indirect) = block;
			at = i.next - s->address;
		}
	}
}

/* Adds edges for jump tables: in a function with an indirect jump, blocks to which no other edge
 * leads are taken for its targets. */
static void tables_guess(struct reader *r)
{
	struct code *c = r->code;
	bool *is_known = xcalloc(c->starts.n + 1, sizeof *is_known);
	uint64_t from, to;

	for (size_t i = 0; i < c->edges.n; i++) {
		uint32_t b = c->edges.at[i].name ? UINT32_MAX : code_block(c, c->edges.at[i].to);

		if (b != UINT32_MAX)
			is_known[b] = true;
	}
	for (size_t i = 0; i < r->indirect.n; i++) {
		uint32_t jump = r->indirect.at[i];

		code_function(c, c->starts.at[jump], &from, &to);
		for (size_t b = code_block(c, from) + 1; b < c->starts.n && c->starts.at[b] < to;
		     b++)
			if (!is_known[b])
				*vec_add(&c->edges) =
					(struct code_edge){ jump, 0, c->starts.at[b] };
	}
	free(is_known);
}

/* ---- the whole object ---- */

static void machine_code_read(struct reader *r)
{
	*vec_add(&r->code->names) = '\0';
	elf_read(r);
	starts_find(r);
	r->code->starts.n = numbers_sort(r->code->starts.at, r->code->starts.n);
	r->code->functions.n = numbers_sort(r->code->functions.at, r->code->functions.n);
	blocks_fill(r);
	tables_guess(r);
	calls_name(r->code);
	vec_release(&r->indirect);
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
	r.insns = r.elf && gelf_getehdr(r.elf, &eh) && eh.e_machine == insn_set.machine ? &insn_set
											: NULL;
	if (!r.insns) {
		error_set(err, "%s has no machine code that pmend knows", path);
		goto out;
	}
	result = 0;
	name = code_cache_name(r.elf, cache);
	if (code_cache_read(c, name))
		goto out;
	machine_code_read(&r);
	if (name)
		code_cache_write(c, name);
out:
	free(name);
	if (r.elf)
		elf_end(r.elf);
	close(fd);
	return result;
}
