/* The table of architectures. The Makefile chooses the one of this pmend (PMEND_ARCH). */
#include "record/machine.h"

#include <elf.h>
#include <string.h>

#include "util/error.h"

const struct machine *machine_own(void)
{
	static const struct machine machines[] = {
		{ .name = "amd64",
		  .says = "x86-64",
		  .elf_machine = EM_X86_64,
		  .tool = "pmend-amd64-linux",
		  .has_keys = true,
		  .has_dispatch = true },
		/* with calls of the recorder between its two halves, an exclusive pair would never
		 * succeed; this option makes it a compare-and-swap */
		{ .name = "arm64",
		  .says = "arm64",
		  .elf_machine = EM_AARCH64,
		  .tool = "pmend-arm64-linux",
		  .tool_option = "--sim-hints=fallback-llsc" },
	};

	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (strcmp(machines[i].name, PMEND_ARCH) == 0)
			return &machines[i];
	BUG("no architecture '%s'", PMEND_ARCH);
}

bool machine_has(const struct platform *p)
{
	return !p->isa || strcmp(p->isa, machine_own()->name) == 0;
}

const struct platform *machine_platform(void)
{
	size_t i = 0;

	/* skips eadr, which both architectures have */
	while (!platforms[i]->isa || !machine_has(platforms[i]))
		i++;
	return platforms[i];
}

const struct platform *machine_recording(const struct platform *p)
{
	return machine_has(p) ? p : machine_platform();
}
