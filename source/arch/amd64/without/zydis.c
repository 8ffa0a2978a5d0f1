/* Replaces source/arch/amd64/insn.c when pmend is built without Zydis. No instruction can be
 * decoded, so no store is traced back to a field through its operands. */
#include <elf.h>

#include "source/insn.h"

const struct insn_machine insn_machine = { .elf = EM_NONE,
					   .result = INSN_NO_REGISTER,
					   .stack = INSN_NO_REGISTER,
					   .frame = INSN_NO_REGISTER };

uint32_t insn_decode(struct insn *out, const uint8_t *bytes, size_t len_bytes, uint64_t pc)
{
	(void)out, (void)bytes, (void)len_bytes, (void)pc;
	return 0;
}

uint64_t insn_entry_slot(const uint8_t *bytes, size_t len_bytes, uint64_t pc)
{
	(void)bytes, (void)len_bytes, (void)pc;
	return 0;
}
