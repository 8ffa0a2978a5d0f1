/* In place of explore/graph/arch/amd64/insn.c where pmend is built without Zydis: no code is read,
 * and exploring says so. */
#include <elf.h>

#include "explore/graph/insn.h"

const struct insn_set insn_set = {
	.machine = EM_NONE,
	.lack = "pmend was built without Zydis, by which it reads machine code",
	.todo = "apt-get install " PACKAGES ", then build pmend again",
};
