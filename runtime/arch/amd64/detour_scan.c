/* See detour.h. Jumps inside of a function are found by decoding it from its beginning; a function with computed jumps may come to any of its
 * instructions. Another part of the same function, which the compiler put elsewhere, comes back by jumps with 32 bits of distance: any four bytes of the
 * object that look like one count. Calls return behind themselves, and only the last of a group is one. */
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "detour.h"

#define OBJECT_MAX (16ul << 20)
#define OBJECTS 16u
#define SHORT 160u /* a short jump reaches no further, whatever the length of the group */

static bool is_inside(const struct instruction *list, uint32_t n, uint64_t target)
{
	for (uint32_t i = 1; i < n; i++)
		if (list[i].pc == target)
			return true;
	return false;
}

/* What of some code jumps may lead to. */
struct targets {
	uint64_t start, len_bytes; /* of the code; 0: none */
	uint8_t *bits;		   /* one a byte */
};

static bool targets_init(struct targets *t, uint64_t start, uint64_t len_bytes)
{
	void *bits = mmap(NULL, len_bytes / 8 + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bits == MAP_FAILED)
		return false;
	*t = (struct targets){ start, len_bytes, bits };
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

static struct targets g_function; /* the last one that was asked about */
static bool g_is_computed;	  /* where its jumps lead is not known */

static bool function_decode(const uint8_t *bytes)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t at = 0; at < g_function.len_bytes; at += in.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at, g_function.len_bytes - at, &in)))
			return false;
		if (in.mnemonic == ZYDIS_MNEMONIC_JMP && !in.raw.imm[0].is_relative)
			return false;
		if (in.raw.imm[0].is_relative)
			targets_add(&g_function, g_function.start + at + in.length + (uint64_t)in.raw.imm[0].value.s);
	}
	return true;
}

static bool is_function_private(const struct instruction *list, uint32_t n, uint64_t function, const uint8_t *bytes, uint64_t len_bytes)
{
	if (g_function.start != function || g_function.len_bytes != len_bytes) {
		if (g_function.bits)
			munmap(g_function.bits, g_function.len_bytes / 8 + 1);
		g_function = (struct targets){ 0 };
		if (!targets_init(&g_function, function, len_bytes))
			return false;
		g_is_computed = !function_decode(bytes);
	}
	return !g_is_computed && !is_reached(list, n, &g_function);
}

/* Short jumps from what lies around the function, which may be another part of it: any two bytes that look like one count. */
static bool is_near_private(const struct instruction *list, uint32_t n, uint64_t function, uint64_t len_bytes, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at + 2 <= to; at++) {
		const uint8_t *b = (const uint8_t *)at;

		if (at - function >= len_bytes && ((b[0] & 0xf0) == 0x70 || b[0] == 0xeb || (b[0] & 0xfc) == 0xe0) &&
		    is_inside(list, n, at + 2 + (uint64_t)(int64_t)(int8_t)b[1]))
			return false;
	}
	return true;
}

/* ---- the object ---- */

static struct targets g_objects[OBJECTS]; /* of jumps with 32 bits, in the code as it was: looked for once */

static bool is_code(const ElfW(Phdr) *p)
{
	return p->p_type == PT_LOAD && p->p_flags & PF_X;
}

static void note_targets(const struct targets *t, const uint8_t *from, uint64_t len_bytes)
{
	for (uint64_t i = 0; i + 6 <= len_bytes; i++) {
		uint32_t opcode = from[i] == 0xe9 ? 1 : from[i] == 0x0f && (from[i + 1] & 0xf0) == 0x80 ? 2 : 0;
		int32_t d;

		if (opcode == 0)
			continue;
		memcpy(&d, from + i + opcode, 4);
		targets_add(t, (uint64_t)(from + i + opcode + 4) + (uint64_t)(int64_t)d);
	}
}

/* NULL: too large, or no room. */
static const struct targets *targets_of(const struct dl_phdr_info *info)
{
	uint64_t start = UINT64_MAX, end = 0;
	struct targets *t = g_objects;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (is_code(p) && info->dlpi_addr + p->p_vaddr < start)
			start = info->dlpi_addr + p->p_vaddr;
		if (is_code(p) && info->dlpi_addr + p->p_vaddr + p->p_filesz > end)
			end = info->dlpi_addr + p->p_vaddr + p->p_filesz;
	}
	while (t < g_objects + OBJECTS && t->start && t->start != start)
		t++;
	if (t == g_objects + OBJECTS || start >= end || end - start > OBJECT_MAX)
		return NULL;
	if (t->start)
		return t;
	if (!targets_init(t, start, end - start))
		return NULL;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (is_code(&info->dlpi_phdr[i]))
			note_targets(t, (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), info->dlpi_phdr[i].p_filesz);
	return t;
}

struct search {
	const struct instruction *list;
	uint32_t n;
	uint64_t function, len_bytes;
	bool is_found, is_reached;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct targets *t;
	struct search *s = arg;
	bool is_here = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		is_here |= info->dlpi_phdr[i].p_type == PT_LOAD && s->list[0].pc - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz;
	if (!is_here)
		return 0;
	s->is_found = true;
	t = targets_of(info);
	s->is_reached = !t || is_reached(s->list, s->n, t);
	for (int i = 0; i < info->dlpi_phnum && !s->is_reached; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_filesz;
		const uint64_t from = s->list[0].pc - SHORT > start ? s->list[0].pc - SHORT : start, to = s->list[0].pc + SHORT < end ? s->list[0].pc + SHORT : end;

		if (is_code(p))
			s->is_reached = !is_near_private(s->list, s->n, s->function, s->len_bytes, from, to);
	}
	return 1;
}

bool scan_is_private(const struct instruction *list, uint32_t n, uint64_t function, const uint8_t *bytes, uint64_t len_bytes)
{
	struct search s = { .list = list, .n = n, .function = function, .len_bytes = len_bytes };

	if (n == 1)
		return true;
	if (!is_function_private(list, n, function, bytes, len_bytes))
		return false;
	dl_iterate_phdr(search_object, &s);
	return s.is_found && !s.is_reached;
}
