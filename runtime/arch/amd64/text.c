/* Finds the system calls in code, distinguishes them from equal bytes inside other instructions,
 * and replaces them. If call frame information lists the function, it is decoded from its
 * beginning. Elsewhere, decoding starts at each of many bytes before the candidate: wrong starts
 * soon come to the right instruction boundaries, and all must agree. A candidate that stays in
 * doubt is not replaced, and a run that comes there does not count. */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <emmintrin.h>
#include <string.h>

#include "gate.h"
#include "patch.h"

/* decoding that starts this far before a candidate has reached instruction boundaries */
#define FAR_BYTES 128u
#define NEAR_BYTES 64u /* decoding that starts nearer may not have */

/* The functions that a file lists: .eh_frame_hdr, a sorted table of pairs (beginning, frame
 * description), both as 32-bit distances from the header. */
struct functions {
	const struct patch_place *p;
	const uint8_t *table;
	uint32_t n;      /* number of functions; 0: unknown */
	uint64_t header; /* address of the table's header in the file's numbering */
	uint64_t bias;   /* add this to get the address in memory */
};

struct span {
	uint64_t start, end;
	bool is_function;
};

enum verdict { CALL, OTHER, UNSURE };

/* ---- functions ---- */

static const Elf64_Phdr *header_next(const struct patch_place *p, const Elf64_Phdr *h)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)p->file;
	const Elf64_Phdr *first = (const Elf64_Phdr *)(p->file + e->e_phoff);

	if (e->e_phentsize != sizeof *h || e->e_phoff > p->file_bytes ||
	    p->file_bytes - e->e_phoff < e->e_phnum * sizeof *h)
		return NULL;
	h = h ? h + 1 : first;
	return h < first + e->e_phnum ? h : NULL;
}

/* Returns the bytes at an address of the ELF file, as the file numbers addresses; NULL: the file
 * does not have len_bytes there. */
static const uint8_t *file_at(const struct patch_place *p, uint64_t addr, uint64_t len_bytes)
{
	for (const Elf64_Phdr *h = header_next(p, NULL); h; h = header_next(p, h)) {
		const uint64_t at = addr - h->p_vaddr, offset = h->p_offset + at;

		if (h->p_type == PT_LOAD && at < h->p_filesz && len_bytes <= h->p_filesz - at &&
		    offset < p->file_bytes && len_bytes <= p->file_bytes - offset)
			return p->file + offset;
	}
	return NULL;
}

static int32_t word_at(const uint8_t *at)
{
	int32_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static void functions_init(struct functions *f, const struct patch_place *p)
{
	/* version 1; encodings, of 32 bits each: relative to itself; a count; relative to the
	 * header */
	static const uint8_t usual[4] = { 1, 0x1b, 0x03, 0x3b };
	const uint8_t *bytes = NULL;
	bool is_loaded = false;

	*f = (struct functions){ .p = p };
	if (!p->file)
		return;
	for (const Elf64_Phdr *h = header_next(p, NULL); h; h = header_next(p, h)) {
		if (h->p_type == PT_GNU_EH_FRAME) {
			f->header = h->p_vaddr;
			bytes = file_at(p, h->p_vaddr, 12);
		}
		if (h->p_type == PT_LOAD && h->p_flags & PF_X &&
		    p->offset < h->p_offset + h->p_filesz &&
		    h->p_offset < p->offset + (p->end - p->start)) {
			f->bias = p->start - p->offset + h->p_offset - h->p_vaddr;
			is_loaded = true;
		}
	}
	if (!bytes || !is_loaded || memcmp(bytes, usual, sizeof usual) != 0)
		return;
	f->n = (uint32_t)word_at(bytes + 8);
	f->table = file_at(p, f->header + 12, 8ul * f->n);
	if (!f->table)
		f->n = 0;
}

static uint64_t function_start(const struct functions *f, uint32_t i)
{
	return f->header + (uint64_t)(int64_t)word_at(f->table + 8ul * i) + f->bias;
}

/* Finds where function i ends, by its frame description: its length, the distance of the common
 * description, its beginning (relative to this place), the length of the function. 0: the
 * description has another form. */
static uint64_t function_end(const struct functions *f, uint32_t i)
{
	const uint64_t addr = f->header + (uint64_t)(int64_t)word_at(f->table + 8ul * i + 4),
		       start = function_start(f, i);
	const uint8_t *at = file_at(f->p, addr, 16);

	if (!at || addr + 8 + (uint64_t)(int64_t)word_at(at + 8) + f->bias != start)
		return 0;
	return start + (uint32_t)word_at(at + 12);
}

/* Finds the function that contains addr, cut to [low, high). If no function does, gives the range
 * between the two functions around addr. */
static struct span span_around(const struct functions *f, uint64_t addr, uint64_t low,
			       uint64_t high)
{
	struct span s = { low, high, false };
	uint32_t first = 0, end = f->n;
	uint64_t is_at, ends_at;

	while (first < end) { /* search the first function that begins after addr */
		const uint32_t middle = first + (end - first) / 2;

		if (function_start(f, middle) <= addr)
			first = middle + 1;
		else
			end = middle;
	}
	if (first < f->n && function_start(f, first) < high)
		s.end = function_start(f, first);
	if (first == 0)
		return s;
	is_at = function_start(f, first - 1);
	ends_at = function_end(f, first - 1);
	if (ends_at == 0 || is_at < low)
		return s;
	if (addr >= ends_at) {
		s.start = ends_at > low ? ends_at : low;
		return s;
	}
	return (struct span){ is_at, ends_at < high ? ends_at : high, true };
}

/* ---- decoding ---- */

static bool is_replaced(const uint8_t *at)
{
	return at[0] == CALL_BYTE &&
	       (at[1] == SYSCALL_SECOND || at[1] == SYSENTER_SECOND || at[1] == INT80_SECOND);
}

static bool decode(const ZydisDecoder *d, uint64_t at, uint64_t end, ZydisDecodedInstruction *in)
{
	if (end - at >= 2 && is_replaced((const uint8_t *)at)) {
		*in = (ZydisDecodedInstruction){ .length = 2 };
		return true;
	}
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(d, NULL, (const void *)at, end - at, in));
}

/* Decodes from `from` and returns addr, or the first instruction boundary after it; 0: decoding
 * fails. *last: the instruction before that. */
static uint64_t walk(const ZydisDecoder *d, uint64_t from, uint64_t addr, uint64_t end,
		     uint64_t *last)
{
	ZydisDecodedInstruction in;

	for (*last = from; from < addr; from += in.length) {
		if (!decode(d, from, end, &in))
			return 0;
		*last = from;
	}
	return from;
}

/* Asks whether the instruction never continues with the next one. It is tested by its opcode: the
 * decoder's minimal mode has no names. */
static bool ends_flow(const ZydisDecodedInstruction *in)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return in->opcode == 0x0b; /* ud2 */
	if (in->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	switch (in->opcode) {
	/* ret, int3, jmp, hlt */
	case 0xc2:
	case 0xc3:
	case 0xcc:
	case 0xe9:
	case 0xeb:
	case 0xf4: return true;
	case 0xff: return in->raw.modrm.reg == 4 || in->raw.modrm.reg == 5; /* jmp */
	default: return false;
	}
}

/* Gives the target of a relative jump, or the address of data that the instruction names relative
 * to its own; 0: it has neither. */
static uint64_t target_of(const ZydisDecodedInstruction *in, uint64_t at, bool *is_jump)
{
	*is_jump = in->raw.imm[0].is_relative;
	if (*is_jump)
		return at + in->length + (uint64_t)in->raw.imm[0].value.s;
	if (in->raw.modrm.offset && in->raw.modrm.mod == 0 && in->raw.modrm.rm == 5)
		return at + in->length + (uint64_t)in->raw.disp.value;
	return 0;
}

/* Asks whether any four bytes of the function, read as a distance, lead to [low, high). Four more
 * bytes, a constant, may follow the distance. Mostly there is no such distance, and this test is
 * much faster than decoding. */
static bool has_distance(const struct span *f, uint64_t low, uint64_t high)
{
	for (uint64_t at = f->start; at + 4 <= f->end; at++) {
		const uint64_t target = at + 4 + (uint64_t)(int64_t)word_at((const uint8_t *)at);

		if (target + 4 >= low && target < high)
			return true;
	}
	return false;
}

/* Asks whether it is in doubt that addr is inside an instruction or data. It is if some instruction
 * of the function jumps into the instruction at `inside` so that addr becomes an instruction, or
 * names data in the code between `block` and addr. */
static bool is_in_doubt(const ZydisDecoder *d, const struct span *f, uint64_t addr, uint64_t inside,
			uint64_t block)
{
	ZydisDecodedInstruction in;

	for (uint64_t at = f->start; at < f->end && decode(d, at, f->end, &in); at += in.length) {
		bool is_jump;
		const uint64_t target = target_of(&in, at, &is_jump);
		uint64_t last;

		if (target && is_jump && target > inside && target <= addr &&
		    walk(d, target, addr, f->end, &last) == addr)
			return true;
		if (target && !is_jump && target >= block && target < addr + 2)
			return true;
	}
	return false;
}

/* How far a function has been decoded. Candidates come in the order of addresses, so decoding
 * continues. */
struct progress {
	struct span f;
	/* the next instruction; the one before it; the first one behind the last jump */
	uint64_t at, last, block;
};

static enum verdict judge_in_function(const ZydisDecoder *d, struct progress *p,
				      const struct span *f, uint64_t addr)
{
	ZydisDecodedInstruction in;

	if (p->f.start != f->start || p->at > addr)
		*p = (struct progress){ *f, f->start, f->start, f->start };
	for (; p->at < addr; p->at += in.length) {
		if (!decode(d, p->at, f->end, &in))
			return UNSURE;
		p->last = p->at;
		if (ends_flow(&in))
			p->block = p->at + in.length;
	}
	if (p->at > addr)
		return is_in_doubt(d, f, addr, p->last, addr + 2) ? UNSURE : OTHER;
	/* no data can be before the call, or no instruction names any */
	if (p->block == f->start || !has_distance(f, p->block, addr + 2))
		return CALL;
	return is_in_doubt(d, f, addr, addr, p->block) ? UNSURE : CALL;
}

/* Judges a candidate between functions, or in code whose functions are unknown. */
static enum verdict judge_elsewhere(const ZydisDecoder *d, const struct span *s, uint64_t addr)
{
	uint32_t ncalls = 0, nothers = 0;
	uint64_t last;

	/* code begins at the start of a section, and at the end of a function */
	if (addr - s->start <= NEAR_BYTES) {
		const uint64_t to = walk(d, s->start, addr, s->end, &last);

		return to == addr ? CALL : to ? OTHER : UNSURE;
	}
	for (uint64_t from = addr - s->start > FAR_BYTES ? addr - FAR_BYTES : s->start;
	     from < addr - NEAR_BYTES; from++) {
		const uint64_t to = walk(d, from, addr, s->end, &last);

		ncalls += to == addr;
		nothers += to > addr;
	}
	return ncalls && !nothers ? CALL : nothers && !ncalls ? OTHER : UNSURE;
}

/* ---- replacing ---- */

/* Returns the next byte at or after `at` with which a call may begin. For the last 15 bytes, it
 * returns `at` itself. */
static uint64_t next_first_byte(uint64_t at, uint64_t end)
{
	const __m128i two = _mm_set1_epi8(0x0f), old = _mm_set1_epi8((char)0xcd);

	for (; at + 16 <= end; at += 16) {
		const __m128i b = _mm_loadu_si128((const __m128i *)at);
		const int found = _mm_movemask_epi8(
			_mm_or_si128(_mm_cmpeq_epi8(b, two), _mm_cmpeq_epi8(b, old)));

		if (found)
			return at + (uint64_t)__builtin_ctz((unsigned)found);
	}
	return at;
}

static bool looks_like_call(const uint8_t *at)
{
	return (at[0] == 0x0f && (at[1] == SYSCALL_SECOND || at[1] == SYSENTER_SECOND)) ||
	       (at[0] == 0xcd && at[1] == INT80_SECOND);
}

/* Asks whether the call is that of `mov $15, %rax; syscall`. Debuggers and unwinders recognise
 * signal frames by these bytes, so the call stays. */
static bool is_sigreturn(const uint8_t *at, const uint8_t *start)
{
	static const uint8_t before[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0 };

	return at - start >= (long)sizeof before &&
	       memcmp(at - sizeof before, before, sizeof before) == 0 && at[1] == SYSCALL_SECOND;
}

static bool replace_calls(struct patch_place *p, uint64_t start, uint64_t end)
{
	const uint8_t *first = (const uint8_t *)start;
	struct functions functions;
	struct progress progress = { 0 };
	ZydisDecoder decoder;
	bool is_ok = true;

	functions_init(&functions, p);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	for (uint64_t at = next_first_byte(start, end); at + 2 <= end;
	     at = next_first_byte(at + 1, end)) {
		struct span s;
		enum verdict v;

		if (!looks_like_call((const uint8_t *)at) ||
		    is_sigreturn((const uint8_t *)at, first))
			continue;
		s = span_around(&functions, at, start, end);
		v = s.is_function ? judge_in_function(&decoder, &progress, &s, at)
				  : judge_elsewhere(&decoder, &s, at);
		if (v == UNSURE ? !patch_close(p, at) : v == CALL && !patch_open(p))
			is_ok = false;
		else if (v == CALL)
			__atomic_store_n((uint8_t *)at, CALL_BYTE, __ATOMIC_RELAXED);
	}
	return is_ok;
}

const struct patch_table calls_table = { .replace = replace_calls };
