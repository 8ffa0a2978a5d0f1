/* Does loads and stores of one or two registers in the signal handler, which costs half of a single
 * step. Each is one instruction of the original size, so that other threads and processes see the
 * same as without us. */
#include "a64/a64.h"
#include "arch.h"
#include "frame.h"
#include "gate.h"

/* One access. A general register has one word of `values`, a q register two. */
struct piece {
	uint64_t addr, unused;
	uint64_t values[4];
};

enum { SINGLE_1, SINGLE_2, SINGLE_4, SINGLE_8, SINGLE_16, PAIR_4, PAIR_8, PAIR_16, NFORMS };

/* Does the access with an instruction of the given form: one of the forms above, plus NFORMS for a
 * store. False: it faulted. */
bool rt_access(struct piece *p, uint64_t form);

#define FORM(instruction, then) "	.p2align 3\n	" instruction "\n	b " then "\n"

__asm__(".text\n"
	".p2align 4\n"
	".globl rt_access\n"
	".hidden rt_access\n"
	"rt_access:\n"
	"	.cfi_startproc\n"
	"	adr x9, 1f\n"
	"	add x9, x9, x1, lsl #3\n"
	"	ldr x2, [x0]\n"
	"	ldp x3, x4, [x0, #16]\n"
	"	ldp q0, q1, [x0, #16]\n"
	"	br x9\n"
	"	.p2align 3\n"
	"1:\n" FORM("ldrb w3, [x2]", "2f") FORM("ldrh w3, [x2]", "2f") FORM("ldr w3, [x2]", "2f")
		FORM("ldr x3, [x2]", "2f") FORM("ldr q0, [x2]", "3f") FORM("ldp w3, w4, [x2]", "2f")
			FORM("ldp x3, x4, [x2]", "2f") FORM("ldp q0, q1, [x2]",
							    "3f") FORM("strb w3, [x2]", "4f")
				FORM("strh w3, [x2]", "4f") FORM("str w3, [x2]",
								 "4f") FORM("str x3, [x2]", "4f")
					FORM("str q0, [x2]", "4f") FORM("stp w3, w4, [x2]", "4f")
						FORM("stp x3, x4, [x2]", "4f")
							FORM("stp q0, q1, [x2]",
							     "4f") "2:	stp x3, x4, [x0, #16]\n"
								   "	b 4f\n"
								   "3:	stp q0, q1, [x0, #16]\n"
								   "4:	mov w0, #1\n"
								   "	ret\n"
								   "5:	mov w0, #0\n"
								   "	ret\n"
								   "	.cfi_endproc\n" GATE_EXPECT(
									   "1b", "2b", "5b"));

static uint32_t form_of(const struct a64 *a)
{
	static const uint8_t singles[17] = {
		[1] = SINGLE_1, [2] = SINGLE_2, [4] = SINGLE_4, [8] = SINGLE_8, [16] = SINGLE_16
	};
	static const uint8_t pairs[17] = { [4] = PAIR_4, [8] = PAIR_8, [16] = PAIR_16 };

	return (a->nregs == 2 ? pairs : singles)[a->each_bytes] +
	       (a->kind == A64_STORE ? NFORMS : 0);
}

static uint64_t extend(uint64_t v, uint32_t bytes, uint32_t to_bytes)
{
	const uint32_t shift = 64 - 8 * bytes;

	v = (uint64_t)((int64_t)(v << shift) >> shift);
	return to_bytes == 4 ? (uint32_t)v : v;
}

static uint32_t register_at(const struct a64 *a, uint32_t i)
{
	return i ? a->rt2 : a->rt;
}

/* Gives the number of words in `values` that one register takes. */
static uint32_t words_of(const struct a64 *a)
{
	return a->each_bytes == 16 ? 2 : 1;
}

static bool read_registers(const struct a64 *a, const ucontext_t *uc, struct piece *p)
{
	for (uint32_t i = 0; i < a->nregs; i++) {
		uint64_t v[2];

		if (a->file == A64_GENERAL)
			v[0] = frame_general(uc, register_at(a, i));
		else if (!frame_vector(uc, register_at(a, i), v))
			return false;
		for (uint32_t k = 0; k < words_of(a); k++)
			p->values[i * words_of(a) + k] = v[k];
	}
	return true;
}

static void write_registers(const struct a64 *a, ucontext_t *uc, const struct piece *p)
{
	for (uint32_t i = 0; i < a->nregs; i++) {
		const uint64_t *from = &p->values[i * words_of(a)],
			       v[2] = { from[0], words_of(a) == 2 ? from[1] : 0 };

		if (a->file == A64_VECTOR)
			frame_set_vector(uc, register_at(a, i), v);
		else
			frame_set_general(uc, register_at(a, i),
					  a->is_signed ? extend(v[0], a->each_bytes, a->to_bytes)
						       : v[0]);
	}
}

bool insn_perform(const struct insn *in, ucontext_t *uc)
{
	struct piece p = { .addr = in->accesses[0].addr };
	struct a64 a;

	a64_decode(&a, (uint32_t)in->value);
	/* for a load, this tests whether the registers can be written later */
	if (!read_registers(&a, uc, &p))
		return false;
	if (a.acquires || a.releases)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!rt_access(&p, form_of(&a)))
		return false;
	if (a.acquires || a.releases)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (a.kind == A64_LOAD)
		write_registers(&a, uc, &p);
	if (a.mode == A64_PRE || a.mode == A64_POST)
		frame_set_base(uc, a.rn, frame_base(uc, a.rn) + (uint64_t)a.offset);
	frame_set_pc(uc, frame_pc(uc) + in->len_bytes);
	return true;
}
