/* From a code address in a recorded object to function, file and line, with inlined functions, by
 * libdw. Objects are found by path and checked by build id; separate debug files are found as gdb
 * finds them. C++ names are demangled. */
#ifndef TRACE_SYMBOLS_H
#define TRACE_SYMBOLS_H

#include "trace/trace.h"

struct symbol {
	const char *function; /* NULL if unknown */
	const char *file;     /* NULL if unknown */
	/* where it was compiled, which file may be relative to; NULL if unknown */
	const char *folder;
	uint32_t line, column;  /* 0 if unknown */
	uint32_t function_line; /* where the function begins, 0 if unknown */
	bool is_inlined;        /* into the next one of the list */
	/* no line, in a static program that has lines of other code: a library, linked in */
	bool is_linked_in;
	const char *object; /* path of the ELF file, NULL if unknown */
	uint64_t offset;    /* of the address in that file's address space (for module+0x…) */
};

struct symbols;

struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);

/* The functions at pc, innermost first: one, or more where functions were inlined. At least one is
 * returned, if only with the object and offset. is_return: pc is a return address, so the call just
 * before it is meant. Results are cached and live as long as s. */
size_t symbols_find(struct symbols *s, const struct trace_object *object, uint64_t pc,
		    bool is_return, const struct symbol **list);

/* The object's ELF file and debug information, as libdwfl has them, and pc in its address space.
 * NULL if it is not the file that was recorded. */
struct Dwfl_Module;
struct Dwfl_Module *symbols_module(struct symbols *s, const struct trace_object *object,
				   uint64_t *pc);

#endif
