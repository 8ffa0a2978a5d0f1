/* The path that a run took: the conditions on its input, in order, read from the tracer's file
 * (include/pmpath.h). Places in code are kept as object and address in it, so that they mean the
 * same in every run. */
#ifndef EXPLORE_PATH_H
#define EXPLORE_PATH_H

#include "explore/expr/expr.h"
#include "explore/path/solver.h"
#include "util/error.h"
#include "util/vec.h"

/* An object's number, from 1, above 48 bits of address in the file's own numbering; 0: unknown. */
typedef uint64_t place;
#define PLACE_OBJECT(p) ((p) >> 48)
#define PLACE_ADDRESS(p) ((p)&0xffffffffffffULL)

struct objects {
	VEC(char *) paths;    /* number - 1 */
	VEC(uint64_t) hashes; /* of them */
};
place objects_place(struct objects *o, const char *path, uint64_t address);
/* the same in every process, whatever number the object has there */
uint64_t objects_key(const struct objects *o, place p);
bool objects_is_c_library(const char *path); /* or what belongs to it, or is loaded by our tools */
/* of the system: what such code does counts where the user's code calls it */
bool objects_is_library(const char *path);
void objects_release(struct objects *o);

enum path_kind {
	PATH_BRANCH,
	PATH_JUMP,    /* an indirect jump or call whose target depends on the input */
	PATH_ADDRESS, /* one that was taken as concrete */
	PATH_PIN,     /* has to stay, is never flipped */
	/* before a jump: one of the other places that it can lead to; its condition is implied by
	 * the jump's */
	PATH_TARGET,
	PATH_TOKEN, /* a word was compared with one of another length; no condition */
};

struct path_step {
	enum path_kind kind;
	struct solver_term term; /* what held */
	/* PATH_JUMP, PATH_ADDRESS: the expression of it; PATH_TOKEN: index in tokens */
	uint32_t target;
	uint64_t value; /* and what it was; PATH_TOKEN: a hash */
	place pc, went, other;
	uint32_t stack; /* index in stacks */
	/* 1 + the byte that something is compared with; 0: it is another condition */
	uint32_t wanted;
	uint32_t part; /* of the input that it is about; the caller's */
};

struct path_token {           /* a word of the input, and what it was compared with */
	size_t index, nbytes; /* of the word */
	VEC(uint8_t) wanted;
};

/* What a function found out about a word: a symbol of 8 bytes behind the input, which another word
 * has another of. */
struct path_word {
	bool is_number; /* in decimal; else its length */
	size_t at;      /* of the 8 bytes */
	size_t index, nbytes;
	uint64_t value;
};

struct path_stack {      /* return addresses, innermost first */
	size_t first, n; /* in returns */
};

struct path_count {
	char *what;
	uint64_t n;
	bool is_loss; /* a value was made concrete by an operation that is not supported */
};

struct path_block { /* straight code */
	place first;
	uint32_t nbytes;
};

struct path_jump {
	place from, to;
};

struct path_bad { /* the expression is wrong: our bug */
	place pc;
	uint64_t expression, machine;
	char *what;
};

struct path {
	VEC(struct path_step) steps;
	VEC(struct path_token) tokens;
	VEC(struct path_word) words;
	VEC(struct path_stack) stacks;
	VEC(place) returns;
	VEC(struct path_block) covered; /* that were run */
	size_t nstart; /* the first so many of them, before anything depended on the input */
	VEC(struct path_jump) jumps; /* indirect ones, as learned */
	VEC(struct path_count) counts;
	VEC(struct path_bad) bad; /* with --check */
	bool is_complete;         /* the file has its end */
	uint64_t nnodes;
};

/* Expressions go into the pool. -1 if this is no path file; what precedes a damage is kept. */
int path_read(struct path *p, struct expr_pool *pool, struct objects *objects, const char *file,
	      struct error *err);
void path_release(struct path *p);

#endif
