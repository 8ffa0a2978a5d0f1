/* System calls that are caught by replacing their instructions, where Linux has no other way:
 * patch.c finds the code of the process, and the architecture, by its table, the calls in it. */
#ifndef RUNTIME_PATCH_H
#define RUNTIME_PATCH_H

#include <stdbool.h>
#include <stdint.h>

/* A mapping that is executable. */
struct patch_place {
	uint64_t start, end, offset; /* offset: in its file */
	int prot;
	bool is_shared, is_writable;
	uint32_t nclosed;    /* pages */
	const uint8_t *file; /* its ELF file, whole; NULL: it has none */
	uint64_t file_bytes;
};

struct patch_table {
	/* Replaces all calls in [start, end) of the place, which is readable code. False: some of
	 * them cannot be told from data, or cannot be replaced. */
	bool (*replace)(struct patch_place *p, uint64_t start, uint64_t end);
	/* memory from which calls are let through; this library's own is known */
	bool (*is_own)(uint64_t addr);
	void (*close)(void); /* all is replaced */
	/* memory that is writable and executable at once is left alone; else it cannot be caught */
	bool leaves_writable;
};

/* What gate_prepare(), gate_arm() and gate_watch() (arch.h) do. */
bool patch_prepare(const struct patch_table *t);
bool patch_arm(const struct patch_table *t);
bool patch_range(const struct patch_table *t, uint64_t start, uint64_t end);
/* For the table's functions: the place can be written to from now on, until all of it is done.
 * False: it cannot be. */
bool patch_open(struct patch_place *p);

/* The same: it cannot be told whether there is a call at addr. Its page is not executable any more;
 * whoever comes there ends the run as one that does not count. False: there are too many such
 * pages. */
bool patch_close(struct patch_place *p, uint64_t addr);
bool patch_is_runtime(uint64_t pc); /* this library's own code */
/* Is this page closed so? */
bool patch_is_closed(uint64_t addr);

#endif
