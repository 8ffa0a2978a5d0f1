/* Decides which loads get a detour (detour.h), finds memory for its code, and handles faults in it.
 * The program is changed only between runs, in the server. Meanwhile, no function of the program's
 * libraries is called: it may be the one that is being changed. */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "detour.h"

#define FUNCTION_MAX (1u << 20)
#define NEAR (1ul << 30) /* largest distance; a jump reaches twice as far */

struct area {
	uint8_t *at;
	uint32_t used_bytes;
};

/* Bytes of the program that were replaced by a jump. */
struct patch {
	uint64_t pc;
	uint32_t len_bytes;
	uint8_t bytes[GROUP_BYTES];
};

static struct area g_areas[AREAS];
static uint32_t g_nareas;
static struct patch g_patches[DETOURS];
static uint32_t g_npatches;
static struct detour_part g_parts[DETOURS + GROUP_MAX];
static uint32_t g_nparts;

/* ---- in a run ---- */

static const struct detour_part *part_of(uint64_t rip)
{
	bool is_in_area = false;

	for (uint32_t i = 0; i < g_nareas; i++)
		is_in_area |= rip - (uint64_t)g_areas[i].at < AREA_BYTES;
	for (uint32_t i = 0; is_in_area && i < g_nparts; i++)
		if (rip - g_parts[i].begin < g_parts[i].end - g_parts[i].begin)
			return &g_parts[i];
	return NULL;
}

uint64_t detour_original(uint64_t rip)
{
	const struct detour_part *p = part_of(rip);

	return p ? p->original : rip;
}

bool detour_leave(ucontext_t *uc)
{
	greg_t *g = uc->uc_mcontext.gregs;
	const struct detour_part *p = part_of((uint64_t)g[REG_RIP]);
	static const int8_t greg_of[8] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX,
					   REG_RSP, REG_RBP, REG_RSI, REG_RDI };

	if (!p || !p->fast || (uint64_t)g[REG_RIP] != p->fast)
		return false;
	g[greg_of[p->address]] = *(const greg_t *)g[REG_RSP];
	g[REG_RSP] += 8 + 128;
	g[REG_RIP] = (greg_t)p->slow;
	return true;
}

bool detours_exist(void)
{
	return g_nareas > 0;
}

void detours_lead(const struct window *w)
{
	for (uint32_t i = 0; i < g_nareas; i++) {
		struct window *of_area = (struct window *)g_areas[i].at;

		of_area->len_bytes = 0; /* set first, so that no load is redirected meanwhile */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		of_area->start = w->start;
		of_area->map = w->map;
		of_area->delta = w->delta;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		of_area->len_bytes = w->len_bytes;
	}
}

/* ---- what is possible ---- */

static bool names_stack(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) ==
		       ZYDIS_REGISTER_RSP;
}

/* Asks whether the instruction has the same effect at another address. */
static bool is_movable(const struct instruction *in)
{
	switch (in->in.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_CET:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR: return false;
	default: break;
	}
	if (in->in.raw.imm[0].is_relative)
		return false;
	for (uint32_t i = 0; i < in->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->ops[i];

		if (names_stack(o) ||
		    (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP))
			return false;
	}
	return true;
}

static bool is_plain_jump(const struct instruction *in)
{
	const uint8_t op = in->in.opcode;

	if (!in->in.raw.imm[0].is_relative || in->in.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		return false;
	if (in->in.mnemonic == ZYDIS_MNEMONIC_JMP)
		return true;
	return in->in.meta.category == ZYDIS_CATEGORY_COND_BR &&
	       (in->in.opcode_map == ZYDIS_OPCODE_MAP_0F
			? (op & 0xf0) == 0x80
			: in->in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (op & 0xf0) == 0x70);
}

/* Asks whether the instruction is a call without prefixes. Processors disagree about calls with
 * prefixes. */
static bool is_plain_call(const struct instruction *in)
{
	return in->in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && in->in.opcode == 0xe8 &&
	       in->in.length == 5;
}

/* Asks whether the instruction may be the last of a group. A call may be: it returns behind the
 * group. */
static bool is_last(const struct instruction *in)
{
	return is_plain_jump(in) || is_plain_call(in) || in->in.meta.category == ZYDIS_CATEGORY_RET;
}

/* Gives the memory operand of an instruction that accesses memory only by one read from a plain
 * address; NULL: the instruction is no such load. */
static const ZydisDecodedOperand *load_of(const struct instruction *in)
{
	const ZydisDecodedOperand *found = NULL;

	if (in->in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    in->in.encoding != ZYDIS_INSTRUCTION_ENCODING_VEX &&
	    in->in.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return NULL;
	if (in->in.address_width != 64 || !(in->in.attributes & ZYDIS_ATTRIB_HAS_MODRM) ||
	    in->in.attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_SEGMENT |
				 ZYDIS_ATTRIB_HAS_ADDRESSSIZE))
		return NULL;
	if (in->in.mnemonic == ZYDIS_MNEMONIC_BT || !is_movable(in))
		return NULL;
	for (uint32_t i = 0; i < in->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->ops[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (found || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    o->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT ||
		    o->actions != ZYDIS_OPERAND_ACTION_READ || o->mem.base == ZYDIS_REGISTER_RSP ||
		    o->size % 8)
			return NULL;
		found = o;
	}
	return found && found->size && found->size / 8u <= DETOUR_MAX_BYTES &&
			       (found->size & (found->size - 1)) == 0
		       ? found
		       : NULL;
}

static bool overlaps_patch(uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < g_npatches; i++) {
		const struct patch *p = &g_patches[i];

		if ((p->pc < to && from < p->pc + p->len_bytes) ||
		    (p->pc + p->len_bytes > from && p->pc + p->len_bytes < from + JUMP_BYTES))
			return true;
	}
	return false;
}

/* Finds the instructions that the jump replaces, starting at pc. Returns their number; 0: no detour
 * is possible. */
static uint32_t group_of(struct instruction *list, uint64_t pc, uint64_t end)
{
	ZydisDecoder decoder;
	uint64_t at = pc;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint32_t n = 0; n < GROUP_MAX && at < end; n++) {
		struct instruction *in = &list[n];

		in->pc = at;
		in->bytes = (const uint8_t *)at;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, in->bytes, end - at, &in->in,
							 in->ops)))
			return 0;
		in->load = load_of(in);
		at += in->in.length;
		if ((n == 0 && !in->load) || overlaps_patch(pc, at) || at > end)
			return 0;
		if (!in->load && !is_movable(in) && !(is_last(in) && at - pc >= JUMP_BYTES))
			return 0;
		if (at - pc >= JUMP_BYTES)
			return n + 1;
	}
	return 0;
}

/* ---- the function of an instruction ---- */

struct eh_bases {
	void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *pc, struct eh_bases *bases);

/* Finds the start and length of the function by its call frame information, where compilers for
 * x86-64 store both in 32 bits. 0: unknown. */
static uint64_t function_of(uint64_t pc, uint64_t *len_bytes)
{
	struct eh_bases bases = { 0 };
	const uint8_t *fde = _Unwind_Find_FDE((void *)pc, &bases);
	uint64_t start = (uint64_t)bases.function;
	int32_t distance;
	uint32_t len;

	if (!fde)
		return 0;
	memcpy(&distance, fde + 8, 4);
	memcpy(&len, fde + 12, 4);
	if ((uint64_t)(fde + 8) + (uint64_t)(int64_t)distance != start || pc - start >= len ||
	    len > FUNCTION_MAX)
		return 0;
	*len_bytes = len;
	return start;
}

/* Gives a copy of the function's original bytes. */
static uint8_t *function_copy(uint64_t start, uint64_t len_bytes)
{
	long at = CALL6(SYS_mmap, 0, len_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	uint8_t *copy = (uint8_t *)at;

	if (IS_ERROR(at))
		return NULL;
	memcpy(copy, (const void *)start, len_bytes);
	for (uint32_t i = 0; i < g_npatches; i++)
		if (g_patches[i].pc - start < len_bytes)
			memcpy(copy + (g_patches[i].pc - start), g_patches[i].bytes,
			       g_patches[i].len_bytes);
	return copy;
}

/* ---- where the code goes ---- */

/* Maps memory at this address if it is free; negative: it is not. */
static long area_map(uint64_t at)
{
	return CALL6(SYS_mmap, at, AREA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static struct area *area_near(uint64_t pc)
{
	long at = -1;

	for (uint32_t i = 0; i < g_nareas; i++)
		if ((uint64_t)g_areas[i].at - pc + NEAR < 2 * NEAR)
			return &g_areas[i];
	for (uint64_t d = 1ul << 24; g_nareas < AREAS && IS_ERROR(at) && d < NEAR; d += 1ul << 24) {
		at = area_map(PAGE_DOWN(pc) + d);
		if (IS_ERROR(at) && PAGE_DOWN(pc) > d)
			at = area_map(PAGE_DOWN(pc) - d);
	}
	if (IS_ERROR(at))
		return NULL;
	g_areas[g_nareas] = (struct area){ (uint8_t *)at, AREA_CODE };
	return &g_areas[g_nareas++];
}

static bool write_jump(uint64_t pc, uint64_t to)
{
	const uint64_t page = PAGE_DOWN(pc), len = PAGE_UP(pc + JUMP_BYTES) - page;
	int32_t d = (int32_t)(to - (pc + JUMP_BYTES));

	if (CALL3(SYS_mprotect, page, len, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	*(uint8_t *)pc = 0xe9;
	memcpy((void *)(pc + 1), &d, sizeof d);
	CALL3(SYS_mprotect, page, len, PROT_READ | PROT_EXEC);
	return true;
}

static bool place_group(struct area *a, const struct instruction *list, uint32_t n)
{
	struct emitter e = { a->at + a->used_bytes, a->at + AREA_BYTES, (struct window *)a->at,
			     g_parts + g_nparts };
	const uint64_t begin = (uint64_t)e.at,
		       len_bytes = list[n - 1].pc + list[n - 1].in.length - list[0].pc;
	struct patch *p = &g_patches[g_npatches];
	bool is_placed;

	if (CALL3(SYS_mprotect, a->at + AREA_CODE, AREA_BYTES - AREA_CODE,
		  PROT_READ | PROT_WRITE) != 0)
		return false;
	is_placed = emit_group(&e, list, n);
	if (CALL3(SYS_mprotect, a->at + AREA_CODE, AREA_BYTES - AREA_CODE, PROT_READ | PROT_EXEC) !=
		    0 ||
	    !is_placed)
		return false;
	*p = (struct patch){ .pc = list[0].pc, .len_bytes = (uint32_t)len_bytes };
	memcpy(p->bytes, (const void *)p->pc, len_bytes);
	if (!write_jump(p->pc, begin))
		return false;
	a->used_bytes = (uint32_t)(e.at - a->at);
	g_npatches++;
	g_nparts += n;
	return true;
}

/* Asks whether pc is in Zydis. Zydis is called while the areas are not executable, so it must have
 * no detours. */
static bool is_decoder(uint64_t pc)
{
	struct dl_find_object of_pc, of_zydis;

	return _dl_find_object((void *)pc, &of_pc) == 0 &&
	       _dl_find_object((void *)ZydisDecoderInit, &of_zydis) == 0 &&
	       of_pc.dlfo_link_map == of_zydis.dlfo_link_map;
}

void detour_make(uint64_t pc)
{
	struct instruction list[GROUP_MAX];
	uint64_t function, len_bytes = 0;
	struct area *a;
	uint8_t *copy;
	bool is_private;
	uint32_t n;

	if (is_decoder(pc) || g_npatches == DETOURS || g_nparts + GROUP_MAX > DETOURS ||
	    !(function = function_of(pc, &len_bytes)))
		return;
	n = group_of(list, pc, function + len_bytes);
	if (n == 0 || !(copy = function_copy(function, len_bytes)))
		return;
	is_private = scan_is_private(list, n, function, copy, len_bytes);
	CALL2(SYS_munmap, copy, len_bytes);
	if (is_private && (a = area_near(pc)))
		place_group(a, list, n);
}
