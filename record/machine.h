/* Says what the architecture of this pmend is: which programs it can record, with which tool, and
 * which platforms have its instructions. */
#ifndef RECORD_MACHINE_H
#define RECORD_MACHINE_H

#include "model/model.h"

struct machine {
	const char *name; /* Debian's name, as in a platform's isa */
	const char *says; /* the name for people */
	unsigned elf_machine;
	const char *tool;            /* the recorder's file name */
	const char *tool_option;     /* for Valgrind; NULL: none */
	bool has_keys, has_dispatch; /* the runtime uses protection keys, syscall user dispatch */
};

const struct machine *machine_own(void);
bool machine_has(const struct platform *p);    /* does this machine have its instructions? */
const struct platform *machine_platform(void); /* the default platform */
/* Gives the platform to record on: p itself, or the default one if p has another machine's
 * instructions. What the program would do on p is then concluded from what it does on that one. */
const struct platform *machine_recording(const struct platform *p);

#endif
