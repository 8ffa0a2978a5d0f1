/* Finds registers and stack of x86-64 in Valgrind's guest state, by the System V calling
 * convention. */
#include "valgrind/common/arch.h"

#include "libvex_guest_amd64.h"

#define AT(NAME) offsetof(VexGuestAMD64State, guest_##NAME)

const Int arch_sp_offset = AT(RSP), arch_result_offset = AT(RAX), arch_number_offset = AT(RAX),
	  arch_count_offset = AT(RCX);
const UInt arch_guest_bytes = sizeof(VexGuestAMD64State);
const UInt arch_return_bytes = 8, arch_red_zone_bytes = 128;
const Bool arch_unwinder_gets_lost = False;

Int arch_argument_offset(UInt n)
{
	static const Int offsets[] = { AT(RDI), AT(RSI), AT(RDX), AT(RCX), AT(R8), AT(R9) };

	return offsets[n];
}

Bool arch_is_call(Addr pc)
{
	return True;
}

void arch_pass_registers(IRExpr **args, UInt nargs, void **f)
{
}

Bool arch_give_up(void *guest)
{
	VexGuestAMD64State *state = guest;

	state->host_EvC_COUNTER = 0;
	return True;
}
