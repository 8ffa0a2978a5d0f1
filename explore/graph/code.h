/* The machine code of one object as basic blocks: the edges between them, the instructions that
 * always modify PM (flushes, fences, non-temporal stores), all stores, and functions taken from or
 * offered to other objects. */
#ifndef EXPLORE_CODE_H
#define EXPLORE_CODE_H

#include <stdint.h>

#include "util/error.h"
#include "util/vec.h"

struct code_edge {
	uint32_t from; /* number of a block */
	/* offset in names of a function in another object; 0: `to` is the destination */
	uint32_t name;
	uint64_t to;
};

struct code_symbol {
	uint64_t address;
	uint32_t name;
};

struct code_call {     /* a call, or a jump into another function, which will return in its place */
	uint64_t next; /* the next instruction */
	uint64_t to;
	/* offset in names of a function in another object; 0: `to` is the function, or 0 if
	 * unknown */
	uint32_t name;
	uint32_t block;
};

struct code {                    /* addresses are the file's own */
	VEC(uint64_t) starts;    /* where blocks begin, ascending */
	VEC(uint64_t) functions; /* where functions with a symbol begin, ascending */
	VEC(struct code_edge) edges;
	VEC(struct code_call) calls;
	VEC(uint64_t) pm, stores;
	VEC(struct code_symbol) exports;
	VEC(char) names; /* strings, one after the other; the first is empty */
};

/* Reads the code, or takes it from the folder `cache` (may be NULL). -1 if the file cannot be read
 * or is for another machine. */
int code_read(struct code *c, const char *path, const char *cache, struct error *err);
void code_release(struct code *c);
/* Gives the address of a byte of the file; 0 if the byte is not loaded. */
uint64_t code_address(const char *path, uint64_t offset);
/* Gives the number of the block that contains an address; UINT32_MAX if there is none. */
uint32_t code_block(const struct code *c, uint64_t address);
/* Gives the range of the function that contains the address; without symbols, 256 bytes around the
 * address. */
void code_function(const struct code *c, uint64_t address, uint64_t *from, uint64_t *to);

#endif
