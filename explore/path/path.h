/* Reads the path that a run took from the tracer's file (include/pmpath.h): the conditions on the
 * run's input, in order. Places in code are stored as object and address, so that they mean the
 * same in every run. */
#ifndef EXPLORE_PATH_H
#define EXPLORE_PATH_H

#include "explore/expr/expr.h"
#include "explore/path/solver.h"
#include "util/error.h"
#include "util/vec.h"

/* A place in code: the object's number, from 1, above 48 bits of an address in the object's own
 * numbering. 0 is unknown. */
typedef uint64_t place;
#define PLACE_OBJECT(p) ((p) >> 48)
#define PLACE_ADDRESS(p) ((p)&0xffffffffffffULL)

struct objects {
	VEC(char *) paths;    /* index is the object's number - 1 */
	VEC(uint64_t) hashes; /* of the paths */
};
place objects_place(struct objects *o, const char *path, uint64_t address);
/* Gives a key for the place. The key is the same in every process, whatever number the object has
 * there. */
uint64_t objects_key(const struct objects *o, place p);
/* Asks whether the path is that of the C library, its loader or its companions, or of a library
 * that Valgrind preloads. */
bool objects_is_c_library(const char *path);
/* Asks whether the path is that of a library of the system. What its code does counts where the
 * user's code calls it. */
bool objects_is_library(const char *path);
void objects_release(struct objects *o);

enum path_kind {
	PATH_BRANCH,
	PATH_JUMP,    /* an indirect jump or call whose target depends on the input */
	PATH_ADDRESS, /* an address that depends on the input, and was taken as concrete */
	PATH_PIN,     /* a value that must stay; never flipped */
	/* another possible target of the next jump; its condition follows from the jump's */
	PATH_TARGET,
	PATH_TOKEN, /* a word was compared with a word of another length; it has no condition */
};

struct path_step {
	enum path_kind kind;
	struct solver_term term; /* the condition that held */
	/* the expression of a PATH_JUMP or PATH_ADDRESS; the index in tokens of a PATH_TOKEN */
	uint32_t target;
	uint64_t value; /* the value that the expression had; for a PATH_TOKEN a hash */
	place pc, went, other;
	uint32_t stack; /* index in stacks */
	/* 1 + the constant byte that an input byte was compared with; 0 for other conditions */
	uint32_t wanted;
	uint32_t part; /* the part of the input that the condition uses; set by the caller */
};

struct path_token {           /* a word of the input, and the word that it was compared with */
	size_t index, nbytes; /* of the word in the input */
	VEC(uint8_t) wanted;
};

/* What a function computed about a word, its length or its number: a symbol of 8 bytes after the
 * input's end. Another word would have another value. */
struct path_word {
	bool is_number; /* the value is its decimal number; else its length */
	size_t at;      /* where the symbol's 8 bytes are, after the input */
	size_t index, nbytes;
	uint64_t value;
};

struct path_stack {      /* return addresses, innermost first */
	size_t first, n; /* index in returns */
};

struct path_count {
	char *what;
	uint64_t n;
	/* whether a value became concrete because the tracer does not follow the operation */
	bool is_loss;
};

struct path_block { /* straight-line code */
	place first;
	uint32_t nbytes;
};

struct path_jump {
	place from, to;
};

struct path_bad { /* an expression with a wrong value, which is a bug in pmend */
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
	VEC(struct path_block) covered; /* blocks that were run */
	size_t nstart; /* how many of them came before anything depended on the input */
	VEC(struct path_jump) jumps; /* indirect jumps that were taken */
	VEC(struct path_count) counts;
	VEC(struct path_bad) bad; /* filled with --check */
	bool is_complete;         /* the file is not cut off */
	uint64_t nnodes;
};

/* Reads a path file, and adds its expressions to the pool. -1 if the file is no path file. If the
 * file is damaged, what comes before the damage is kept. */
int path_read(struct path *p, struct expr_pool *pool, struct objects *objects, const char *file,
	      struct error *err);
void path_release(struct path *p);

#endif
