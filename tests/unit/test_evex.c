/* What the runtime's decoder says of AVX-512 instructions, by their encoding: loads, stores, masked and compare forms, broadcasts, gathers and scatters, registers 16 to 31. No such
 * processor is needed: the frame of a signal is made up, with components where a Xeon has them. What it does not know, it calls unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <cpuid.h>

static uint32_t g_sizes[16], g_offsets[16]; /* of the frame's components; 0: there is none */

#undef __cpuid_count
#define __cpuid_count(leaf, number, a, b, c, d) ((a) = g_sizes[number], (b) = g_offsets[number], (void)((c) = (d) = 0), (void)(c))
#define insn_decode rt_insn_decode /* pmend has one, too */
#include "runtime/arch/amd64/insn.c"

uint64_t g_page_bytes = 4096;

long rt_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return -1;
}

size_t gate_copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return 0;
}

/* ---- the frame ---- */

#define A 0x100000ul /* rax */
#define B 0x40ul     /* rbx */
#define K1 0x85u     /* elements 0, 2 and 7 */

struct frame {
	_Alignas(64) uint8_t state[4096];
	ucontext_t uc;
};

static void set_component(struct frame *f, uint32_t number, uint32_t size, uint32_t offset)
{
	uint64_t present;

	g_sizes[number] = size;
	g_offsets[number] = offset;
	memcpy(&present, f->state + 512, 8);
	present |= (uint64_t)1 << number;
	memcpy(f->state + 512, &present, 8);
}

/* Element i of zmm16 is 64 (i + 1), of 8 bytes; of zmm20 -32 (i + 1), of 4 bytes; of xmm5 3 and 5. k1 has three bits, k2 all, k4 none. */
static void frame_init(struct frame *f)
{
	const uint32_t software[5] = { 0x46505853, sizeof f->state, 0, 0, 2696 };
	const uint64_t low[2] = { 3, 5 }, masks[3] = { 0, K1, ~(uint64_t)0 };

	memset(f, 0, sizeof *f);
	memcpy(f->state + 464, software, sizeof software);
	set_component(f, 2, 256, 576);
	set_component(f, 5, 64, 1088);
	set_component(f, 6, 512, 1152);
	set_component(f, 7, 1024, 1664);
	memcpy(f->state + 160 + 16 * 5, low, sizeof low);
	memcpy(f->state + 1088, masks, sizeof masks);
	for (uint64_t i = 0; i < 8; i++)
		memcpy(f->state + 1664 + 8 * i, &(uint64_t){ 64 * (i + 1) }, 8);
	for (int32_t i = 0; i < 16; i++)
		memcpy(f->state + 1664 + 64 * 4 + 4 * i, &(int32_t){ -32 * (i + 1) }, 4);
	f->uc.uc_mcontext.fpregs = (void *)f->state;
	f->uc.uc_mcontext.gregs[REG_RAX] = A;
	f->uc.uc_mcontext.gregs[REG_RBX] = B;
}

/* ---- encodings ---- */

#define R ACCESS_READ
#define W ACCESS_WRITE

/* One access, or for a gather or scatter the first, and how far the next is, of `n` elements of which `mask` tells the chosen ones. */
static const struct row {
	const char *text; /* as an assembler has it */
	uint8_t bytes[15];
	uint64_t addr;
	uint32_t len_bytes, kind;
	uint32_t n, mask;
	int32_t step;
} rows[] = {
	{ "vmovdqu64 64(%rax), %zmm17", { 0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x48, 0x01 }, A + 64, 64, R, 1, 1, 0 },
	{ "vmovdqu64 %zmm31, -128(%rax)", { 0x62, 0x61, 0xfe, 0x48, 0x7f, 0x78, 0xfe }, A - 128, 64, W, 1, 1, 0 },
	{ "vmovdqu8 0x7(%rax), %ymm16", { 0x62, 0xe1, 0x7f, 0x28, 0x6f, 0x80, 0x07, 0x00, 0x00, 0x00 }, A + 7, 32, R, 1, 1, 0 },
	{ "vmovdqa32 %xmm20, 0x20(%rax,%rbx,2)", { 0x62, 0xe1, 0x7d, 0x08, 0x7f, 0x64, 0x58, 0x02 }, A + 2 * B + 0x20, 16, W, 1, 1, 0 },
	{ "vmovups %zmm8, (%rax)", { 0x62, 0x71, 0x7c, 0x48, 0x11, 0x00 }, A, 64, W, 1, 1, 0 },
	{ "vmovntdq %zmm19, 0x40(%rax)", { 0x62, 0xe1, 0x7d, 0x48, 0xe7, 0x58, 0x01 }, A + 0x40, 64, W, 1, 1, 0 },
	{ "vmovdqu64 0x40(%rax), %zmm2{%k1}{z}", { 0x62, 0xf1, 0xfe, 0xc9, 0x6f, 0x50, 0x01 }, A + 0x40, 64, R, 1, 1, 0 },
	{ "vmovdqu64 0x40(%rax), %zmm30{%k7}", { 0x62, 0x61, 0xfe, 0x4f, 0x6f, 0x70, 0x01 }, A + 0x40, 64, R, 1, 1, 0 },
	{ "vmovdqu8 %zmm30, (%rax){%k1}", { 0x62, 0x61, 0x7f, 0x49, 0x7f, 0x30 }, A, 64, R | W, 1, 1, 0 },
	{ "vmovdqu16 %ymm5, 0x20(%rax){%k2}", { 0x62, 0xf1, 0xff, 0x2a, 0x7f, 0x68, 0x01 }, A + 0x20, 32, R | W, 1, 1, 0 },
	{ "vmovsd %xmm22, 0x8(%rax)", { 0x62, 0xe1, 0xff, 0x08, 0x11, 0x70, 0x01 }, A + 8, 8, W, 1, 1, 0 },
	{ "vmovss 0x4(%rax), %xmm22", { 0x62, 0xe1, 0x7e, 0x08, 0x10, 0x70, 0x01 }, A + 4, 4, R, 1, 1, 0 },
	{ "vmovd %xmm29, 0x4(%rax)", { 0x62, 0x61, 0x7d, 0x08, 0x7e, 0x68, 0x01 }, A + 4, 4, W, 1, 1, 0 },
	{ "vpcmpeqb 0x20(%rax), %ymm16, %k2", { 0x62, 0xf1, 0x7d, 0x20, 0x74, 0x50, 0x01 }, A + 0x20, 32, R, 1, 1, 0 },
	{ "vpcmpub $4, (%rax), %zmm18, %k3", { 0x62, 0xf3, 0x6d, 0x40, 0x3e, 0x18, 0x04 }, A, 64, R, 1, 1, 0 },
	{ "vpcmpneqb 0x40(%rax), %ymm17, %k0{%k1}", { 0x62, 0xf3, 0x75, 0x21, 0x3f, 0x40, 0x02, 0x04 }, A + 0x40, 32, R, 1, 1, 0 },
	{ "vptestnmb (%rax), %ymm16, %k4", { 0x62, 0xf2, 0x7e, 0x20, 0x26, 0x20 }, A, 32, R, 1, 1, 0 },
	{ "vpminub 0x60(%rax), %ymm17, %ymm18", { 0x62, 0xe1, 0x75, 0x20, 0xda, 0x50, 0x03 }, A + 0x60, 32, R, 1, 1, 0 },
	{ "vpternlogd $0xde, 0x20(%rax), %ymm17, %ymm18", { 0x62, 0xe3, 0x75, 0x20, 0x25, 0x50, 0x01, 0xde }, A + 0x20, 32, R, 1, 1, 0 },
	{ "vpaddq 8(%rax){1to8}, %zmm16, %zmm17", { 0x62, 0xe1, 0xfd, 0x50, 0xd4, 0x48, 0x01 }, A + 8, 8, R, 1, 1, 0 },
	{ "vpcmpeqd 4(%rax){1to16}, %zmm16, %k1", { 0x62, 0xf1, 0x7d, 0x50, 0x76, 0x48, 0x01 }, A + 4, 4, R, 1, 1, 0 },
	{ "vbroadcasti64x4 0x20(%rax), %zmm25", { 0x62, 0x62, 0xfd, 0x48, 0x5b, 0x48, 0x01 }, A + 0x20, 32, R, 1, 1, 0 },
	{ "vpbroadcastb 1(%rax), %zmm25", { 0x62, 0x62, 0x7d, 0x48, 0x78, 0x48, 0x01 }, A + 1, 1, R, 1, 1, 0 },
	{ "vpcompressq %zmm20, (%rax){%k1}", { 0x62, 0xe2, 0xfd, 0x49, 0x8b, 0x20 }, A, 64, R | W, 1, 1, 0 },
	{ "vpexpandq (%rax), %zmm20{%k1}{z}", { 0x62, 0xe2, 0xfd, 0xc9, 0x89, 0x20 }, A, 64, R, 1, 1, 0 },
	{ "vpmovqd %zmm20, 0x20(%rax)", { 0x62, 0xe2, 0x7e, 0x48, 0x35, 0x60, 0x01 }, A + 0x20, 32, W, 1, 1, 0 },
	{ "vpmovqd %zmm20, 0x20(%rax){%k3}", { 0x62, 0xe2, 0x7e, 0x4b, 0x35, 0x60, 0x01 }, A + 0x20, 32, R | W, 1, 1, 0 },
	{ "vextracti64x4 $1, %zmm21, 0x20(%rax)", { 0x62, 0xe3, 0xfd, 0x48, 0x3b, 0x68, 0x01, 0x01 }, A + 0x20, 32, W, 1, 1, 0 },
	{ "kmovq 8(%rax), %k3", { 0xc4, 0xe1, 0xf8, 0x90, 0x58, 0x08 }, A + 8, 8, R, 1, 1, 0 },
	{ "kmovw %k3, 2(%rax)", { 0xc5, 0xf8, 0x91, 0x58, 0x02 }, A + 2, 2, W, 1, 1, 0 },
	{ "vmovdqu64 0x12345(%eax), %ymm16", { 0x67, 0x62, 0xe1, 0xfe, 0x28, 0x6f, 0x80, 0x45, 0x23, 0x01, 0x00 }, A + 0x12345, 32, R, 1, 1, 0 },
	{ "vpgatherqq (%rax,%zmm16,8), %zmm17{%k1}", { 0x62, 0xe2, 0xfd, 0x41, 0x91, 0x0c, 0xc0 }, A + 8 * 64, 8, R, 8, K1, 512 },
	{ "vpscatterqq %zmm17, 0x40(%rax,%zmm16,8){%k1}", { 0x62, 0xe2, 0xfd, 0x41, 0xa1, 0x4c, 0xc0, 0x08 }, A + 0x40 + 8 * 64, 8, W, 8, K1, 512 },
	{ "vpgatherdd 4(%rax,%zmm20,4), %zmm17{%k2}", { 0x62, 0xe2, 0x7d, 0x42, 0x90, 0x4c, 0xa0, 0x01 }, A + 4 - 4 * 32, 4, R, 16, 0xffff, -128 },
	{ "vgatherdpd (%rax,%ymm20,1), %zmm3{%k2}", { 0x62, 0xf2, 0xfd, 0x42, 0x92, 0x1c, 0x20 }, A - 32, 8, R, 8, 0xff, -32 },
	{ "vscatterqps %ymm17, (%rax,%zmm16,2){%k1}", { 0x62, 0xe2, 0x7d, 0x41, 0xa3, 0x0c, 0x40 }, A + 2 * 64, 4, W, 8, K1, 128 },
	{ "vpgatherqq (%rax,%xmm5,8), %xmm7{%k2}", { 0x62, 0xf2, 0xfd, 0x0a, 0x91, 0x3c, 0xe8 }, A + 8 * 3, 8, R, 2, 3, 16 },
	{ "vpgatherqq (%rax,%zmm16,8), %zmm17{%k4}", { 0x62, 0xe2, 0xfd, 0x44, 0x91, 0x0c, 0xc0 }, 0, 0, 0, 8, 0, 0 },
};

static void decode_at(struct frame *f, const uint8_t bytes[15], struct insn *in)
{
	static uint8_t code[64];

	memcpy(code, bytes, 15);
	memset(g_kept, 0, sizeof g_kept);
	f->uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)code;
	insn_decode(in, &f->uc);
}

static void encodings(void **state)
{
	struct frame f;
	struct insn in;

	(void)state;
	frame_init(&f);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		uint32_t k = 0;

		decode_at(&f, r->bytes, &in);
		if (in.kind != INSN_PLAIN)
			fail_msg("%s: kind %d", r->text, in.kind);
		for (uint32_t e = 0; e < r->n; e++) {
			const struct access *a = &in.accesses[k];
			const uint64_t addr = r->addr + (uint64_t)(int64_t)r->step * e;

			if (!(r->mask >> e & 1))
				continue;
			if (k++ == in.naccesses || a->addr != addr || a->len_bytes != r->len_bytes || a->kind != r->kind)
				fail_msg("%s, element %u: %u bytes at %lx, kind %u; not %u at %lx, kind %u", r->text, e, a->len_bytes, (unsigned long)a->addr, a->kind, r->len_bytes,
					 (unsigned long)addr, r->kind);
		}
		if (k != in.naccesses)
			fail_msg("%s: %u accesses, not %u", r->text, in.naccesses, k);
	}
}

/* The run does not count then (rt_unsound()), and the report says how many were repeated on whole images. */
static void unknown(void **state)
{
	static const uint8_t codes[][15] = {
		{ 0x0f, 0xae, 0x20 }, /* xsave (%rax) */
		{ 0x48, 0x0f, 0xc7, 0x20 }, /* xsavec64 (%rax) */
		{ 0x0f, 0xae, 0x28 }, /* xrstor (%rax) */
		{ 0x62, 0xf2, 0xfd, 0x49, 0xc6, 0x0c, 0xc0 }, /* vgatherpf0dpd (%rax,%ymm0,8){%k1} */
		{ 0x62, 0xf1, 0xff, 0xff, 0xff, 0xff }, /* nothing at all */
	};
	struct frame f;
	struct insn in;

	(void)state;
	frame_init(&f);
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		decode_at(&f, codes[i], &in);
		if (in.kind != INSN_UNKNOWN)
			fail_msg("code %zu: kind %d", i, in.kind);
	}
}

/* A frame without these components, or one that the kernel does not say to be extended: then the indices are not known. */
static void short_frames(void **state)
{
	static const uint8_t gather[15] = { 0x62, 0xe2, 0xfd, 0x41, 0x91, 0x0c, 0xc0 }; /* vpgatherqq (%rax,%zmm16,8), %zmm17{%k1} */
	struct frame f;
	struct insn in;

	(void)state;
	frame_init(&f);
	decode_at(&f, gather, &in);
	assert_int_equal(in.kind, INSN_PLAIN);
	g_offsets[7] = 0;
	decode_at(&f, gather, &in);
	assert_int_equal(in.kind, INSN_UNKNOWN);
	frame_init(&f);
	memset(f.state + 464, 0, 4);
	decode_at(&f, gather, &in);
	assert_int_equal(in.kind, INSN_UNKNOWN);
	frame_init(&f);
	memcpy(f.state + 480, &(uint32_t){ 1664 }, 4);
	decode_at(&f, gather, &in);
	assert_int_equal(in.kind, INSN_UNKNOWN);
	/* as they were at the start: all indices are 0 */
	frame_init(&f);
	memcpy(f.state + 512, &(uint64_t){ 1u << 5 }, 8);
	decode_at(&f, gather, &in);
	assert_int_equal(in.naccesses, 3);
	assert_int_equal(in.accesses[2].addr, A);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(encodings), cmocka_unit_test(unknown), cmocka_unit_test(short_frames) };

	return cmocka_run_group_tests_name("AVX-512", tests, NULL, NULL);
}
