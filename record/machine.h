/* The architecture that this pmend is for: the programs that it can record, with what, and the
 * platforms whose instructions it has. */
#ifndef RECORD_MACHINE_H
#define RECORD_MACHINE_H

#include "model/model.h"

struct machine {
	const char *name; /* Debian's; a platform's isa */
	const char *says; /* what people call it */
	unsigned elf_machine;
	const char *tool;            /* the recorder's file name */
	const char *tool_option;     /* for Valgrind; NULL: none */
	bool has_keys, has_dispatch; /* the runtime uses protection keys, syscall user dispatch */
};

const struct machine *machine_own(void);
bool machine_has(const struct platform *p);    /* are its instructions this machine's? */
const struct platform *machine_platform(void); /* the default one */
/* What to record for a platform: itself, or the default one where its instructions are another
 * machine's. What the program would do there is asked of what it does here. */
const struct platform *machine_recording(const struct platform *p);

#endif
