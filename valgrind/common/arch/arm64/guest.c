/* Finds registers and stack of arm64 in Valgrind's guest state, by arm64's procedure call standard.
 * A call leaves the return address in a register, not on the stack. */
#include "valgrind/common/arch.h"

#include "libvex_guest_arm64.h"

#define AT(NAME) offsetof(VexGuestARM64State, guest_##NAME)

const Int arch_sp_offset = AT(XSP), arch_result_offset = AT(X0), arch_number_offset = AT(X8),
	  arch_count_offset = AT(X0) /* arm64 has no such instructions */;
const UInt arch_guest_bytes = sizeof(VexGuestARM64State);
const UInt arch_return_bytes = 0, arch_red_zone_bytes = 0;
const Bool arch_unwinder_gets_lost = True;

Int arch_argument_offset(UInt n)
{
	static const Int offsets[] = { AT(X0), AT(X1), AT(X2), AT(X3), AT(X4), AT(X5) };

	return offsets[n];
}

/* Asks whether the instruction is bl. VEX takes b for a call, too. */
Bool arch_is_call(Addr pc)
{
	return *(const UInt *)pc >> 31;
}

/* Calls the function that is the last argument, with the address of the guest registers in the
 * place of this argument. VEX 3.19 cannot pass IRExpr_GSPTR() on arm64, but has its value in
 * x21. */
void arch_call_2(void);
void arch_call_3(void);
asm("arch_call_2: mov x9, x1; mov x1, x21; br x9\n"
    "arch_call_3: mov x9, x2; mov x2, x21; br x9\n");

void arch_pass_registers(IRExpr **args, UInt nargs, void **f)
{
	args[nargs - 1] = IRExpr_Const(IRConst_U64((ULong)(Addr)*f));
	*f = nargs == 2 ? arch_call_2 : arch_call_3;
}

Bool arch_give_up(void *guest)
{
	VexGuestARM64State *state = guest;

	/* a load-exclusive without its store: giving up would make the store fail, each time */
	if (state->guest_LLSC_SIZE != 0)
		return False;
	state->host_EvC_COUNTER = 0;
	return True;
}
