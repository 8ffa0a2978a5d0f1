/* The machine code of one object, as basic blocks: what leads where, which instructions modify PM
 * whatever they are given (flushes, fences, non-temporal stores) and which store somewhere, and
 * which functions it takes from or gives to other objects. */
#ifndef EXPLORE_CODE_H
#define EXPLORE_CODE_H

#include <stdint.h>

#include "util/error.h"
#include "util/vec.h"

struct code_edge {
	uint32_t from; /* a block */
	uint32_t name; /* of a function elsewhere, in names; 0: `to` tells */
	uint64_t to;
};

struct code_symbol {
	uint64_t address;
	uint32_t name;
};

struct code_call {     /* also a jump into another function, which returns for this one */
	uint64_t next; /* the instruction behind it */
	uint64_t to;
	uint32_t name; /* of a function elsewhere, in names; 0: `to` tells, unless it is 0, too */
	uint32_t block;
};

struct code {                    /* addresses are the file's own */
	VEC(uint64_t) starts;    /* of blocks, ascending */
	VEC(uint64_t) functions; /* where they begin, likewise; those that have a symbol */
	VEC(struct code_edge) edges;
	VEC(struct code_call) calls;
	VEC(uint64_t) pm, stores;
	VEC(struct code_symbol) exports;
	VEC(char) names; /* strings, one after the other; the first is empty */
};

/* cache: a folder, or NULL. -1 if the file cannot be read or is not for this machine. */
int code_read(struct code *c, const char *path, const char *cache, struct error *err);
void code_release(struct code *c);
/* The address that a byte of the file has, in its own numbering; 0 if it is not loaded. */
uint64_t code_address(const char *path, uint64_t offset);
/* The block that holds an address; UINT32_MAX if none does. */
uint32_t code_block(const struct code *c, uint64_t address);
/* The function that holds it, or what may be taken for one. */
void code_function(const struct code *c, uint64_t address, uint64_t *from, uint64_t *to);

#endif
