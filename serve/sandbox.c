/* Asks a seccomp filter about system calls as the kernel would: executes its program, in classic
 * BPF. What the kernel would not accept counts as refused. Calls no function of the C library. */
#include "serve/sandbox.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define STEPS_MAX 65536u

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t word_at(const struct seccomp_data *d, uint32_t offset)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < sizeof word && offset + i < sizeof *d; i++)
		word |= (uint32_t)((const uint8_t *)d)[offset + i] << (8 * i);
	return word;
}

static uint32_t loaded(const struct machine *m, const struct sock_filter *f,
		       const struct seccomp_data *d)
{
	switch (BPF_MODE(f->code)) {
	case BPF_ABS: return word_at(d, f->k);
	case BPF_MEM: return m->memory[f->k % BPF_MEMWORDS];
	case BPF_LEN: return sizeof *d;
	default: return f->k;
	}
}

static uint32_t computed(uint32_t a, uint16_t op, uint32_t b)
{
	switch (op) {
	case BPF_ADD: return a + b;
	case BPF_SUB: return a - b;
	case BPF_MUL: return a * b;
	case BPF_DIV: return b ? a / b : 0;
	case BPF_MOD: return b ? a % b : 0;
	case BPF_AND: return a & b;
	case BPF_OR: return a | b;
	case BPF_XOR: return a ^ b;
	case BPF_LSH: return b < 32 ? a << b : 0;
	case BPF_RSH: return b < 32 ? a >> b : 0;
	default: return -a; /* BPF_NEG */
	}
}

static bool is_true(uint32_t a, uint16_t op, uint32_t b)
{
	switch (op) {
	case BPF_JEQ: return a == b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	default: return (a & b) != 0; /* BPF_JSET */
	}
}

/* Gives the filter's answer (SECCOMP_RET_…) for a system call. */
static uint32_t ask(const struct sock_filter *filter, uint32_t n, const struct seccomp_data *d)
{
	struct machine m = { .a = 0 };
	uint32_t at = 0;

	for (uint32_t step = 0; at < n && step < STEPS_MAX; step++) {
		const struct sock_filter *f = &filter[at++];
		const uint32_t operand = BPF_SRC(f->code) == BPF_X ? m.x : f->k;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD: m.a = loaded(&m, f, d); break;
		case BPF_LDX: m.x = loaded(&m, f, d); break;
		case BPF_ST: m.memory[f->k % BPF_MEMWORDS] = m.a; break;
		case BPF_STX: m.memory[f->k % BPF_MEMWORDS] = m.x; break;
		case BPF_ALU: m.a = computed(m.a, BPF_OP(f->code), operand); break;
		case BPF_JMP:
			at += BPF_OP(f->code) == BPF_JA                ? f->k
			      : is_true(m.a, BPF_OP(f->code), operand) ? f->jt
								       : f->jf;
			break;
		case BPF_RET: return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(f->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool allows_on(uint32_t arch, const struct sock_filter *filter, uint32_t n, const int *calls,
		      uint32_t ncalls)
{
	for (uint32_t i = 0; i < ncalls; i++) {
		const struct seccomp_data d = { .nr = calls[i], .arch = arch };
		const uint32_t action = ask(filter, n, &d) & SECCOMP_RET_ACTION_FULL;

		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

/* Asks whether the filter allows these calls. A filter may check the architecture and refuse all
 * calls of another one, so both architectures are tried; it is enough if the filter allows the
 * calls of one. */
bool sandbox_allows(const struct sock_filter *filter, uint32_t n, const int *calls, uint32_t ncalls)
{
	return allows_on(AUDIT_ARCH_X86_64, filter, n, calls, ncalls) ||
	       allows_on(AUDIT_ARCH_AARCH64, filter, n, calls, ncalls);
}
