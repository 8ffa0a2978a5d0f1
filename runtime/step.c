/* A touch of a protected page: what the instruction reads is decided, then it runs alone with the page open (single step), and what it
 * wrote is marked; the simplest instructions are done in its place (emulate.c), which saves the second signal. Asynchronous signals wait until the step is over, so that no handler runs with the page open. Long string
 * instructions are done here in one go, with their own direction and element size, so that overlaps come out the same. */
#include <sys/mman.h>

#include "internal.h"

#define TRAP_FLAG 0x100

static bool covers(const struct insn *in, uint64_t addr)
{
	for (uint32_t i = 0; i < in->naccesses; i++)
		if (addr - in->accesses[i].addr < in->accesses[i].len_bytes)
			return true;
	return false;
}

/* Not flushes and string instructions. */
static bool is_stepped(const struct insn *in)
{
	return in->kind == INSN_PLAIN || in->kind == INSN_LOAD || in->kind == INSN_STORE || in->kind == INSN_COMPARE;
}

/* The range of a rep instruction: its first element is at addr. */
static struct access string_range(uint64_t addr, const struct insn *in, const ucontext_t *uc, uint32_t kind)
{
	uint64_t n = (uint64_t)uc->uc_mcontext.gregs[REG_RCX], bytes;
	bool is_down = uc->uc_mcontext.gregs[REG_EFL] & 0x400;

	if (n > (1u << 30) / in->element_bytes)
		n = (1u << 30) / in->element_bytes;
	bytes = n * in->element_bytes;
	return (struct access){ is_down ? addr - bytes + in->element_bytes : addr, (uint32_t)bytes, kind };
}

/* The program's own protection allows this? */
static bool is_allowed(const struct access *a)
{
	struct pm_map m;

	for (uint64_t at = a->addr; at < a->addr + a->len_bytes; at = PAGE_DOWN(at) + PAGE) {
		if (!maps_find(at, &m))
			continue;
		if ((a->kind & ACCESS_WRITE && !(m.prot & PROT_WRITE)) || !(m.prot & (PROT_READ | PROT_WRITE | PROT_EXEC)))
			return false;
	}
	return true;
}

static void step_begin(const struct insn *in, ucontext_t *uc);

static void do_string(const struct insn *in, ucontext_t *uc)
{
	greg_t *g = uc->uc_mcontext.gregs;
	struct access to = string_range((uint64_t)g[REG_RDI], in, uc, ACCESS_WRITE);
	struct access from = string_range((uint64_t)g[REG_RSI], in, uc, ACCESS_READ);
	struct gate_string s = { (uint64_t)g[REG_RDI], (uint64_t)g[REG_RSI], to.len_bytes / in->element_bytes,
				 (uint64_t)g[REG_RAX], (uint64_t)g[REG_EFL] };
	uint64_t all = s.rcx, done;

	if (in->kind == INSN_REP_MOVS) {
		maps_read(from.addr, from.len_bytes);
		maps_open(from.addr, from.len_bytes);
	}
	maps_read_private(to.addr, to.len_bytes);
	maps_open(to.addr, to.len_bytes);
	rt_string(&s, in->element_bytes, in->kind == INSN_REP_STOS);
	done = all - s.rcx;
	if (g[REG_EFL] & 0x400)
		to.addr += s.rcx * in->element_bytes;
	maps_written(to.addr, done * in->element_bytes);
	maps_close(to.addr, to.len_bytes);
	if (in->kind == INSN_REP_MOVS)
		maps_close(from.addr, from.len_bytes);
	if (done == 0) { /* its first element faults for a reason of its own: let the program have that fault */
		step_begin(in, uc);
		return;
	}
	g[REG_RDI] = (greg_t)s.rdi;
	if (in->kind == INSN_REP_MOVS)
		g[REG_RSI] = (greg_t)s.rsi;
	g[REG_RCX] -= (greg_t)done;
	if (g[REG_RCX] == 0)
		g[REG_RIP] += in->len_bytes;
}

static void step_begin(const struct insn *in, ucontext_t *uc)
{
	uint64_t *mask = (uint64_t *)&uc->uc_sigmask;

	t_self.is_stepping = true;
	t_self.had_trap_flag = uc->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG;
	t_self.step_mask = *mask;
	t_self.nwrites = in->naccesses;
	for (uint32_t i = 0; i < in->naccesses; i++)
		t_self.writes[i] = in->accesses[i];
	*mask = ~0ul;
	*mask &= ~(1ul << (SIGSEGV - 1) | 1ul << (SIGBUS - 1) | 1ul << (SIGTRAP - 1) | 1ul << (SIGSYS - 1) | 1ul << (SIGFPE - 1) |
		   1ul << (SIGILL - 1));
	maps_open_program(uc, in->accesses, in->naccesses);
	uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

void step_abort(ucontext_t *uc)
{
	if (!t_self.is_stepping)
		return;
	t_self.is_stepping = false;
	*(uint64_t *)&uc->uc_sigmask = t_self.step_mask;
	maps_close_program(uc, t_self.writes, t_self.nwrites);
	if (!t_self.had_trap_flag)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

void step_release(const struct access *a)
{
	for (uint64_t at = PAGE_DOWN(a->addr); at < a->addr + a->len_bytes; at += PAGE)
		maps_release_page(at);
}

bool step_trap(ucontext_t *uc)
{
	if (!t_self.is_stepping)
		return false;
	for (uint32_t i = 0; i < t_self.nwrites; i++)
		if (t_self.writes[i].kind & ACCESS_WRITE)
			maps_written(t_self.writes[i].addr, t_self.writes[i].len_bytes);
	step_abort(uc);
	for (uint32_t i = 0; i < t_self.nwrites; i++)
		step_release(&t_self.writes[i]);
	return !t_self.had_trap_flag;
}

/* Decides what it reads; true: all that it touches is decided and open now, so that it can just run. */
static bool decide_insn(const struct insn *in, uint64_t pc)
{
	const uint32_t ndecisions = g_region->ndecisions;
	bool is_open = true, is_changed = false, is_write = false;

	for (uint32_t i = 0; i < in->naccesses; i++) {
		const struct access *a = &in->accesses[i];

		if (a->kind & ACCESS_WRITE)
			maps_read_private(a->addr, a->len_bytes);
		if (a->kind & ACCESS_READ)
			is_changed |= maps_read(a->addr, a->len_bytes);
		is_write |= (a->kind & ACCESS_WRITE) != 0;
	}
	if (!is_write && g_region->ndecisions == ndecisions)
		warm_note_read(pc);
	if (!is_changed && !is_write)
		return false; /* a neighbour of what is undecided was read: the page stays closed */
	for (uint32_t i = 0; i < in->naccesses; i++) {
		const struct access *a = &in->accesses[i];

		for (uint64_t at = PAGE_DOWN(a->addr); at < a->addr + a->len_bytes; at += PAGE)
			is_open &= maps_release_page(at);
	}
	return is_open;
}

/* Is this fault due to our protection? */
static bool is_ours(const siginfo_t *si, const ucontext_t *uc, const struct pm_map *m)
{
	bool is_write = uc->uc_mcontext.gregs[REG_ERR] & 2, is_fetch = uc->uc_mcontext.gregs[REG_ERR] & 16;

	if (!m->was_guarded || is_fetch)
		return false;
	if (g_pkey >= 0)
		return si->si_code == SEGV_PKUERR && (int)si->si_pkey == g_pkey;
	return si->si_code == SEGV_ACCERR && m->prot & (is_write ? PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC);
}

bool step_fault(siginfo_t *si, ucontext_t *uc)
{
	struct insn in;
	struct pm_map m;
	uint64_t addr = (uint64_t)si->si_addr;

	if (!g_is_lazy || !maps_find(addr, &m) || !is_ours(si, uc, &m))
		return false;
	__atomic_fetch_add(&g_region->nfaults, 1, __ATOMIC_RELAXED);
	insn_decode(&in, uc);
	if (in.kind == INSN_UNKNOWN || (is_stepped(&in) && !covers(&in, addr)))
		rt_unsound("an instruction that accesses PM in a way that is not known");
	for (uint32_t i = 0; i < in.naccesses; i++) {
		if (is_allowed(&in.accesses[i]))
			continue;
		si->si_code = SEGV_ACCERR;
		return false;
	}
	if (in.kind == INSN_FLUSH)
		uc->uc_mcontext.gregs[REG_RIP] += in.len_bytes;
	else if (!is_stepped(&in))
		do_string(&in, uc);
	else if (!decide_insn(&in, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]) && !insn_emulate(&in, uc))
		step_begin(&in, uc);
	return true;
}
