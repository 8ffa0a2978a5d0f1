/* Finds out whether any jump leads into the bytes that a detour replaces. Jumps of the same
 * function are found by decoding the function from its beginning. In a function with computed
 * jumps, every instruction may be a target. A compiler may put a part of a function elsewhere; that
 * part jumps back with a 32-bit distance, so any four bytes of the object that look like such a
 * distance count. Calls return to the instruction behind them, but only the last instruction of a
 * group is a call. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "detour.h"

#define OBJECT_MAX (16ul << 20)
#define OBJECTS 16u
#define SHORT 160u /* farthest reach of a short jump, for a group of any length */

static bool is_inside(const struct instruction *list, uint32_t n, uint64_t target)
{
	for (uint32_t i = 1; i < n; i++)
		if (list[i].pc == target)
			return true;
	return false;
}

/* The possible targets of jumps in a piece of code. */
struct targets {
	uint64_t start, len_bytes; /* of the code; start 0: none */
	uint8_t *bits;             /* one bit per byte of the code */
};

static bool targets_init(struct targets *t, uint64_t start, uint64_t len_bytes)
{
	long bits = CALL6(SYS_mmap, 0, len_bytes / 8 + 1, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (IS_ERROR(bits))
		return false;
	*t = (struct targets){ start, len_bytes, (uint8_t *)bits };
	return true;
}

static void targets_add(const struct targets *t, uint64_t target)
{
	const uint64_t at = target - t->start;

	if (at < t->len_bytes)
		t->bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static bool is_reached(const struct instruction *list, uint32_t n, const struct targets *t)
{
	for (uint32_t i = 1; i < n; i++) {
		const uint64_t at = list[i].pc - t->start;

		if (at >= t->len_bytes || t->bits[at / 8] >> at % 8 & 1)
			return true;
	}
	return false;
}

/* ---- the function ---- */

static struct targets g_function; /* the function that was asked about last */
static bool g_is_computed;        /* it has computed jumps, whose targets are unknown */

static bool function_decode(const uint8_t *bytes)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t at = 0; at < g_function.len_bytes; at += in.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at,
								g_function.len_bytes - at, &in)))
			return false;
		if (in.mnemonic == ZYDIS_MNEMONIC_JMP && !in.raw.imm[0].is_relative)
			return false;
		if (in.raw.imm[0].is_relative)
			targets_add(&g_function, g_function.start + at + in.length +
							 (uint64_t)in.raw.imm[0].value.s);
	}
	return true;
}

static bool is_function_private(const struct instruction *list, uint32_t n, uint64_t function,
				const uint8_t *bytes, uint64_t len_bytes)
{
	if (g_function.start != function || g_function.len_bytes != len_bytes) {
		if (g_function.bits)
			CALL2(SYS_munmap, g_function.bits, g_function.len_bytes / 8 + 1);
		g_function = (struct targets){ 0 };
		if (!targets_init(&g_function, function, len_bytes))
			return false;
		g_is_computed = !function_decode(bytes);
	}
	return !g_is_computed && !is_reached(list, n, &g_function);
}

/* Asks whether no short jump around the function leads into the group. The code around the function
 * may be another part of it; any two bytes that look like a short jump count. */
static bool is_near_private(const struct instruction *list, uint32_t n, uint64_t function,
			    uint64_t len_bytes, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at + 2 <= to; at++) {
		const uint8_t *b = (const uint8_t *)at;

		if (at - function >= len_bytes &&
		    ((b[0] & 0xf0) == 0x70 || b[0] == 0xeb || (b[0] & 0xfc) == 0xe0) &&
		    is_inside(list, n, at + 2 + (uint64_t)(int64_t)(int8_t)b[1]))
			return false;
	}
	return true;
}

/* ---- the object ---- */

/* targets of jumps with 32-bit distances in each object's original code; searched once */
static struct targets g_objects[OBJECTS];

static bool is_code(const ElfW(Phdr) * p)
{
	return p->p_type == PT_LOAD && p->p_flags & PF_X;
}

static void note_targets(const struct targets *t, const uint8_t *from, uint64_t len_bytes)
{
	for (uint64_t i = 0; i + 6 <= len_bytes; i++) {
		uint32_t opcode = from[i] == 0xe9                                   ? 1
				  : from[i] == 0x0f && (from[i + 1] & 0xf0) == 0x80 ? 2
										    : 0;
		int32_t d;

		if (opcode == 0)
			continue;
		memcpy(&d, from + i + opcode, 4);
		targets_add(t, (uint64_t)(from + i + opcode + 4) + (uint64_t)(int64_t)d);
	}
}

/* An object that the loader has mapped. */
struct object {
	uint64_t base;
	const ElfW(Phdr) * headers;
	uint32_t nheaders;
};

/* Finds the object that contains pc, by the ELF header at the beginning of its first mapping.
 * False: there is no ELF header. */
static bool object_find(struct object *o, uint64_t pc)
{
	struct dl_find_object found;
	const ElfW(Ehdr) * h;

	if (_dl_find_object((void *)pc, &found) != 0)
		return false;
	h = found.dlfo_map_start;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_phentsize != sizeof(ElfW(Phdr)) ||
	    h->e_phoff + h->e_phnum * sizeof(ElfW(Phdr)) > PAGE)
		return false;
	*o = (struct object){ found.dlfo_link_map->l_addr,
			      (const void *)((const char *)h + h->e_phoff), h->e_phnum };
	return true;
}

/* Gives the targets of all jumps in the object; NULL: the object is too large, or there is no
 * memory. */
static const struct targets *targets_of(const struct object *o)
{
	uint64_t start = UINT64_MAX, end = 0;
	struct targets *t = g_objects;

	for (uint32_t i = 0; i < o->nheaders; i++) {
		const ElfW(Phdr) *p = &o->headers[i];

		if (is_code(p) && o->base + p->p_vaddr < start)
			start = o->base + p->p_vaddr;
		if (is_code(p) && o->base + p->p_vaddr + p->p_filesz > end)
			end = o->base + p->p_vaddr + p->p_filesz;
	}
	while (t < g_objects + OBJECTS && t->start && t->start != start)
		t++;
	if (t == g_objects + OBJECTS || start >= end || end - start > OBJECT_MAX)
		return NULL;
	if (t->start)
		return t;
	if (!targets_init(t, start, end - start))
		return NULL;
	for (uint32_t i = 0; i < o->nheaders; i++)
		if (is_code(&o->headers[i]))
			note_targets(t, (const uint8_t *)(o->base + o->headers[i].p_vaddr),
				     o->headers[i].p_filesz);
	return t;
}

bool scan_is_private(const struct instruction *list, uint32_t n, uint64_t function,
		     const uint8_t *bytes, uint64_t len_bytes)
{
	const uint64_t pc = list[0].pc;
	const struct targets *t;
	struct object o;

	if (n == 1)
		return true;
	if (!is_function_private(list, n, function, bytes, len_bytes) || !object_find(&o, pc))
		return false;
	t = targets_of(&o);
	if (!t || is_reached(list, n, t))
		return false;
	for (uint32_t i = 0; i < o.nheaders; i++) {
		const ElfW(Phdr) *p = &o.headers[i];
		const uint64_t start = o.base + p->p_vaddr, end = start + p->p_filesz;
		const uint64_t from = pc - SHORT > start ? pc - SHORT : start,
			       to = pc + SHORT < end ? pc + SHORT : end;

		if (is_code(p) && !is_near_private(list, n, function, len_bytes, from, to))
			return false;
	}
	return true;
}
