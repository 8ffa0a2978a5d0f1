/* Replaces explore/graph/arch/amd64/insn.c when pmend is built without Zydis: no code can be
 * decoded, and pmend explore says so. */
#include <elf.h>

#include "explore/graph/insn.h"

const struct insn_set insn_set = {
	.machine = EM_NONE,
	.lack = "pmend was built without Zydis, which it needs to read machine code",
	.todo = "apt-get install " PACKAGES ", then build pmend again",
};
