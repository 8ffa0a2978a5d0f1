/* The architecture that this pmend is for: the programs that it can record, and with what. */
#ifndef SESSION_MACHINE_H
#define SESSION_MACHINE_H

struct machine {
	const char *name; /* Debian's */
	const char *says; /* what people call it */
	unsigned elf_machine;
	const char *tool;	 /* the recorder's file name */
	const char *tool_option; /* for Valgrind; NULL: none */
};

const struct machine *machine_own(void);

#endif
