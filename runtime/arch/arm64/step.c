/* Single-steps an instruction by running a copy of it in a slot of the thread's own, with a `brk`
 * behind it: user code has no trap flag on arm64. An exclusive load is copied with all instructions
 * up to its store (exclusive.c). A load relative to its own address gets that address in a
 * register. */
#include <sys/mman.h>

#include "a64/a64.h"
#include "exclusive.h"
#include "frame.h"
#include "internal.h"

#define BRK 0xd4200000u
/* A slot has room for the instructions, a `brk` behind them, and a `brk` for each branch that
 * leaves them. */
#define SLOT_WORDS (2 * EXCLUSIVE_MAX + 1)
#define NSLOTS 16u
#define NO_REGISTER 32u

/* Indices of insn_step's state: the slot; the program's pc; the number of instructions and, in the
 * upper half, the register that holds an address; that register's own value. */
enum { STEP_SLOT, STEP_PC, STEP_SHAPE, STEP_SAVED };

static __thread uint32_t *t_slots;

/* Chooses the slot for the instruction at pc. It is chosen by pc, so that the same instruction
 * finds its copy again. */
static uint32_t *slot_for(uint64_t pc)
{
	if (!t_slots) {
		long at = CALL6(SYS_mmap, 0, NSLOTS * SLOT_WORDS * 4,
				PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0);

		if (IS_ERROR(at))
			rt_unsound("no memory in which instructions can be stepped");
		t_slots = (uint32_t *)at;
	}
	return t_slots + (pc / 4 ^ pc / 64) % NSLOTS * SLOT_WORDS;
}

static void set_word(uint32_t *slot, uint32_t i, uint32_t word, bool *is_changed)
{
	*is_changed |= slot[i] != word;
	slot[i] = word;
}

/* Makes the copy of instruction i of n. A branch that leaves these instructions is changed: in the
 * copy it leads to a `brk` of its own. */
static uint32_t displaced(uint32_t word, uint32_t i, uint32_t n)
{
	int64_t displacement, to;

	if (n == 1 || !branch_read(word, &displacement))
		return word;
	to = 4 * (int64_t)i + displacement;
	return to > 0 && to < 4 * (int64_t)n ? word : branch_to(word, 4 * (int64_t)(n + 1));
}

/* Turns ldr of a label into ldr of the address in register `base`. It also does so for vector
 * registers. */
static uint32_t with_base(uint32_t word, uint32_t base)
{
	static const uint32_t forms[2][4] = { { 0xb9400000, 0xf9400000, 0xb9800000, 0 },
					      { 0xbd400000, 0xfd400000, 0x3dc00000, 0 } };

	return forms[word >> 26 & 1][word >> 30] | base << 5 | (word & 31);
}

static uint32_t prepare_literal(struct insn_step *s, const struct insn *in, ucontext_t *uc)
{
	const uint32_t base = (in->value & 31) == 0 ? 1 : 0;

	s->state[STEP_SHAPE] = 1 | (uint64_t)base << 32;
	s->state[STEP_SAVED] = frame_general(uc, base);
	frame_set_general(uc, base, in->accesses[0].addr);
	return with_base((uint32_t)in->value, base);
}

void insn_step_begin(struct insn_step *s, const struct insn *in, ucontext_t *uc)
{
	const uint64_t pc = frame_pc(uc);
	const uint32_t n = in->len_bytes / 4;
	uint32_t *slot = slot_for(pc), first = (uint32_t)in->value;
	bool is_changed = false;
	struct a64 a;

	s->state[STEP_SLOT] = (uint64_t)slot;
	s->state[STEP_PC] = pc;
	s->state[STEP_SHAPE] = n | (uint64_t)NO_REGISTER << 32;
	a64_decode(&a, first);
	if (a.mode == A64_LITERAL)
		first = prepare_literal(s, in, uc);
	set_word(slot, 0, first, &is_changed);
	for (uint32_t i = 1; i < n; i++)
		set_word(slot, i, displaced(((const uint32_t *)pc)[i], i, n), &is_changed);
	for (uint32_t i = n; i <= 2 * n; i++)
		set_word(slot, i, BRK, &is_changed);
	if (is_changed)
		__builtin___clear_cache((char *)slot, (char *)(slot + 2 * n + 1));
	frame_set_pc(uc, (uint64_t)slot);
}

/* Sets pc to where the program would be: within the instructions, behind them, or at the target of
 * a branch. It always returns true: a program cannot step itself. */
bool insn_step_end(struct insn_step *s, ucontext_t *uc)
{
	const uint64_t at = frame_pc(uc) - s->state[STEP_SLOT], pc = s->state[STEP_PC];
	const uint32_t n = (uint32_t)s->state[STEP_SHAPE],
		       reg = (uint32_t)(s->state[STEP_SHAPE] >> 32);
	int64_t displacement;

	if (reg != NO_REGISTER)
		frame_set_general(uc, reg, s->state[STEP_SAVED]);
	if (at > 4 * (2 * (uint64_t)n)) /* a handler of the program's continued elsewhere */
		return true;
	if (at > 4 * (uint64_t)n &&
	    branch_read(((const uint32_t *)pc)[at / 4 - n - 1], &displacement))
		frame_set_pc(uc, pc + at - 4 * (n + 1) + (uint64_t)displacement);
	else
		frame_set_pc(uc, pc + at);
	return true;
}
