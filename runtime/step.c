/* Handles an access of a closed page. The bytes that the instruction reads are decided. Then the
 * instruction runs alone with the page open (single step), and the bytes that it wrote are marked.
 * Simple instructions are done here instead, which saves the second signal; copies and fills of any
 * length are done at once. Asynchronous signals wait until the step ends, so that no handler of the
 * program runs with the page open. */
#include "calls.h"

#include <sys/mman.h>

static bool covers(const struct insn *in, uint64_t addr)
{
	for (uint32_t i = 0; i < in->naccesses; i++)
		if (addr - in->accesses[i].addr < in->accesses[i].len_bytes)
			return true;
	return false;
}

/* Asks whether the instruction is executed in a step: all kinds are, but flushes and string
 * instructions. */
static bool is_stepped(const struct insn *in)
{
	return in->kind == INSN_PLAIN || in->kind == INSN_LOAD || in->kind == INSN_STORE ||
	       in->kind == INSN_COMPARE;
}

/* Asks whether the program's own protection of the pages allows this access. */
static bool is_allowed(const struct access *a)
{
	struct pm_map m;

	for (uint64_t at = a->addr; at < a->addr + a->len_bytes; at = PAGE_DOWN(at) + PAGE) {
		if (!maps_find(at, &m))
			continue;
		if ((a->kind & ACCESS_WRITE && !(m.prot & PROT_WRITE)) ||
		    !(m.prot & (PROT_READ | PROT_WRITE | PROT_EXEC)))
			return false;
	}
	return true;
}

/* Called after a write: opens those pages for good on which nothing is undecided any more. */
static void release(const struct access *a)
{
	for (uint64_t at = PAGE_DOWN(a->addr); at < a->addr + a->len_bytes; at += PAGE)
		maps_release_page(at);
}

/* ---- stepping ---- */

static void step_begin(const struct insn *in, ucontext_t *uc)
{
	uint64_t *mask = frame_mask(uc);

	t_self.is_stepping = true;
	t_self.step_mask = *mask;
	t_self.nwrites = in->naccesses;
	for (uint32_t i = 0; i < in->naccesses; i++)
		t_self.writes[i] = in->accesses[i];
	*mask = ~(OURS | BIT(SIGFPE) | BIT(SIGILL));
	maps_open_program(uc, in->accesses, in->naccesses);
	insn_step_begin(&t_self.step, in, uc);
}

/* Ends a step. Returns true if the trap was only for us. */
static bool step_end(ucontext_t *uc)
{
	t_self.is_stepping = false;
	*frame_mask(uc) = t_self.step_mask;
	maps_close_program(uc, t_self.writes, t_self.nwrites);
	return insn_step_end(&t_self.step, uc);
}

void step_abort(ucontext_t *uc)
{
	if (t_self.is_stepping)
		step_end(uc);
}

bool step_trap(ucontext_t *uc)
{
	bool is_ours;

	if (!t_self.is_stepping)
		return false;
	for (uint32_t i = 0; i < t_self.nwrites; i++)
		if (t_self.writes[i].kind & ACCESS_WRITE)
			maps_written(t_self.writes[i].addr, t_self.writes[i].len_bytes);
	is_ours = step_end(uc);
	for (uint32_t i = 0; i < t_self.nwrites; i++)
		release(&t_self.writes[i]);
	return is_ours;
}

/* ---- instructions that are done here ---- */

/* Does a copy or fill of any length. */
static void do_bulk(const struct insn *in, ucontext_t *uc)
{
	struct insn_bulk b;
	struct access written;

	insn_bulk(in, uc, &b);
	if (in->kind == INSN_COPY) {
		maps_read(b.from.addr, b.from.len_bytes);
		maps_open(b.from.addr, b.from.len_bytes);
	}
	maps_read_private(b.to.addr, b.to.len_bytes);
	maps_open(b.to.addr, b.to.len_bytes);
	written = insn_bulk_do(in, uc, &b);
	maps_written(written.addr, written.len_bytes);
	maps_close(b.to.addr, b.to.len_bytes);
	if (in->kind == INSN_COPY)
		maps_close(b.from.addr, b.from.len_bytes);
	/* the first element faults for another reason; the program must see that fault */
	if (written.len_bytes == 0)
		step_begin(in, uc);
}

/* Does the instruction in the second mapping of the image, if there is one. (In the first mapping,
 * pages would have to be opened and closed.) */
static bool perform(const struct insn *in, ucontext_t *uc)
{
	const struct access *a = &in->accesses[0];
	struct insn there = *in;
	bool is_done;

	there.accesses[0].addr += window_distance(a);
	if (g_pkey < 0 && there.accesses[0].addr != a->addr)
		return insn_perform(&there, uc);
	maps_open(a->addr, a->len_bytes);
	is_done = insn_perform(in, uc);
	maps_close(a->addr, a->len_bytes);
	return is_done;
}

/* Does a load, store or comparison, whose bytes are decided already. False: it faults, or is
 * another instruction. */
static bool do_simple(const struct insn *in, ucontext_t *uc)
{
	const struct access *a = &in->accesses[0];

	if (in->kind == INSN_PLAIN || !perform(in, uc))
		return false;
	if (in->kind == INSN_STORE) {
		maps_written(a->addr, a->len_bytes);
		release(a);
	}
	return true;
}

/* ---- faults ---- */

/* Decides the bytes that the instruction reads. True: all pages that it accesses are open now, so
 * it can simply be executed. */
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
		/* only bytes beside undecided ones were read: the page stays closed */
		return false;
	for (uint32_t i = 0; i < in->naccesses; i++) {
		const struct access *a = &in->accesses[i];

		for (uint64_t at = PAGE_DOWN(a->addr); at < a->addr + a->len_bytes; at += PAGE)
			is_open &= maps_release_page(at);
	}
	return is_open;
}

/* Asks whether the fault was caused by our closing of the page. */
static bool is_ours(const siginfo_t *si, const ucontext_t *uc, const struct pm_map *m)
{
	const uint32_t wanted = frame_fault(uc);

	if (!m->was_guarded || wanted & ACCESS_FETCH)
		return false;
	if (g_pkey >= 0)
		return si->si_code == SEGV_PKUERR && (int)si->si_pkey == g_pkey;
	return si->si_code == SEGV_ACCERR &&
	       m->prot & (wanted & ACCESS_WRITE ? PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC);
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
		rt_unsound("an instruction that accesses PM in an unknown way");
	for (uint32_t i = 0; i < in.naccesses; i++) {
		if (is_allowed(&in.accesses[i]))
			continue;
		si->si_code = SEGV_ACCERR;
		return false;
	}
	if (in.kind == INSN_FLUSH)
		frame_set_pc(uc, frame_pc(uc) + in.len_bytes);
	else if (!is_stepped(&in))
		do_bulk(&in, uc);
	else if (!decide_insn(&in, frame_pc(uc)) && !do_simple(&in, uc))
		step_begin(&in, uc);
	return true;
}
