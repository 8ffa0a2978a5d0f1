/* Finds function, file and line of a code address, with inlined functions, through libdw. Objects
 * are found by path and checked by build id; separate debug files are found where gdb finds them.
 * C++ names are demangled. */
#ifndef TRACE_SYMBOLS_H
#define TRACE_SYMBOLS_H

#include "trace/trace.h"

struct symbol {
	const char *function; /* NULL if unknown */
	const char *file;     /* NULL if unknown */
	/* the folder of the compilation, to which file may be relative; NULL if unknown */
	const char *folder;
	uint32_t line, column;  /* 0 if unknown */
	uint32_t function_line; /* where the function is declared or defined; 0 if unknown */
	bool is_inlined;        /* inlined into the next symbol of the list */
	/* has no line, in a static program where other code has lines: a library that was linked
	 * in */
	bool is_linked_in;
	const char *object; /* path of the ELF file, NULL if unknown */
	uint64_t offset;    /* the address in that file's address space, for "module+0x…" */
};

struct symbols;

struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);

/* Finds the functions at pc, innermost first: one, or several if functions were inlined. There is
 * always at least one, perhaps with only object and offset. is_return: pc is a return address, and
 * the call before it is meant. Results are cached until symbols_free(). */
size_t symbols_find(struct symbols *s, const struct trace_object *object, uint64_t pc,
		    bool is_return, const struct symbol **list);

/* The object's ELF file and debug information for libdwfl; changes *pc to an address of that file.
 * NULL if the file is not the recorded one. */
struct Dwfl_Module;
struct Dwfl_Module *symbols_module(struct symbols *s, const struct trace_object *object,
				   uint64_t *pc);

#endif
