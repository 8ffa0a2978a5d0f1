/* Catches system calls. Each call is replaced by `udf #i`, which ends in SIGILL. If the program
 * itself is to make the call, it continues in slot i (slots.c), which makes it and branches
 * back. */
#include "gate.h"
#include "internal.h"
#include "patch.h"

int gate_signal = SIGILL;
bool gate_sees_return = false;
const char gate_lack[] = "system calls of the program cannot be caught (is /proc mounted?)";

bool gate_prepare(void)
{
	return patch_prepare(&calls_table);
}

bool gate_arm(void)
{
	const char *asked = environment_get("PMEND_RUN_NO_DISPATCH");

	return !(asked && asked[0] == 'a') /* for tests: not at all */ && patch_arm(&calls_table);
}

bool gate_watch(uint64_t start, uint64_t end)
{
	return patch_range(&calls_table, start, end);
}

/* Gives the number of the slot of the call that was replaced at pc; 0: no call was replaced
 * there. */
static uint32_t slot_at(uint64_t pc)
{
	const uint32_t word = *(const uint32_t *)pc;

	return word < g_nslots ? word : 0;
}

bool gate_is_call(const siginfo_t *si)
{
	const uint64_t pc = (uint64_t)si->si_addr;
	const uint32_t slot = si->si_code > 0 && pc % 4 == 0 ? slot_at(pc) : 0;

	if (slot && g_slots[slot].back != pc + 4)
		rt_unsound("code that makes system calls was copied or moved");
	return slot != 0;
}

bool gate_call(const siginfo_t *si, ucontext_t *uc, long *number, long a[6])
{
	const mcontext_t *m = &uc->uc_mcontext;

	*number = (long)m->regs[8];
	for (int i = 0; i < 6; i++)
		a[i] = (long)m->regs[i];
	uc->uc_mcontext.pc = (uint64_t)si->si_addr + 4;
	return true;
}

bool gate_is_escape(long number, const long a[6])
{
	(void)number, (void)a;
	return false;
}

/* Lets the program itself make the call, in its slot. The slot knows where to return. Unwinders do
 * not, so the address is also put on the stack, where the slot's call frame information says. It
 * overwrites the kernel's own record of the same kind, which nobody needs. If the stack has no room
 * for it, unwinders see less of the stack. */
bool gate_pass(ucontext_t *uc, struct gate_return *back)
{
	mcontext_t *m = &uc->uc_mcontext;
	const uint32_t slot = slot_at(m->pc - 4);

	(void)back;
	m->sp -= 16;
	gate_copy((void *)m->sp, &m->pc, sizeof m->pc);
	m->pc = (uint64_t)g_slots[slot].code;
	return true;
}
