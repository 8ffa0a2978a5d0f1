/* Catches system calls by replacing their instructions, where Linux has no other way. patch.c finds
 * the code of the process; the architecture's functions, in a patch_table, find the calls in it. */
#ifndef RUNTIME_PATCH_H
#define RUNTIME_PATCH_H

#include <stdbool.h>
#include <stdint.h>

/* An executable mapping. */
struct patch_place {
	uint64_t start, end, offset; /* offset: where it begins in its file */
	int prot;
	bool is_shared, is_writable;
	uint32_t nclosed;    /* number of pages with doubtful calls */
	const uint8_t *file; /* its whole ELF file; NULL: none */
	uint64_t file_bytes;
};

struct patch_table {
	/* Replaces all calls in [start, end) of the mapping, which is readable code. False: some
	 * calls cannot be distinguished from data, or cannot be replaced. */
	bool (*replace)(struct patch_place *p, uint64_t start, uint64_t end);
	/* calls from this memory are not caught; this library's own memory need not be named */
	bool (*is_own)(uint64_t addr);
	void (*close)(void); /* called after everything is replaced */
	/* memory that is writable and executable is ignored; otherwise it makes patch_range()
	 * fail */
	bool leaves_writable;
};

/* Does the work of gate_prepare() (arch.h). The next functions do that of gate_arm() and
 * gate_watch(). */
bool patch_prepare(const struct patch_table *t);
bool patch_arm(const struct patch_table *t);
bool patch_range(const struct patch_table *t, uint64_t start, uint64_t end);
/* Makes the mapping writable until all of it is done. Called by the `replace` of a patch_table.
 * False: impossible. */
bool patch_open(struct patch_place *p);

/* Makes the page of addr not executable, because it is doubtful whether there is a call at addr; a
 * run that comes there ends and does not count. Called by the `replace` of a patch_table. False:
 * there are too many such pages. */
bool patch_close(struct patch_place *p, uint64_t addr);
bool patch_is_runtime(uint64_t pc); /* pc is in this library's own code */
/* Asks whether this page is closed by patch_close(). */
bool patch_is_closed(uint64_t addr);

#endif
