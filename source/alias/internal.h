/* What the files of source/alias/ share. */
#ifndef SOURCE_ALIAS_INNER_H
#define SOURCE_ALIAS_INNER_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "source/alias.h"
#include "source/alias/solve.h"
#include "util/map.h"
#include "util/vec.h"

/* A call; also one that a library makes with what it was given. */
struct call {
	const char *name; /* where it is, for objects that it makes */
	uint32_t *args;   /* nodes; 0: no pointer */
	size_t nargs;
	uint32_t result;
	int64_t flags;       /* of mmap; -1: not known */
	bool is_anonymous;   /* mmap without a file */
	bool is_called_back; /* by unseen code, which has called what it was given already */
};

struct function {
	LLVMValueRef value;
	const char *name;
	uint32_t object;
	uint32_t *parameters;
	size_t nparameters;
	uint32_t result;
	uint32_t varargs; /* object; 0: takes none */
	bool is_defined;
};

/* An instruction that stores, copies or calls. */
struct site {
	const char *file, *callee; /* callee NULL: a store, or an unknown one if it is a call */
	uint32_t line, column;
	uint32_t *pointers; /* of a store: one; of a call: the arguments */
	size_t npointers;
	bool is_store;
};

struct symbol {
	const char *name;
	uint32_t function; /* index; UINT32_MAX: a variable */
	uint32_t object;
};

struct alias {
	struct arena arena;
	struct solver *solver;
	LLVMContextRef context;
	LLVMTargetDataRef layout; /* of the module that is read */
	VEC(LLVMModuleRef) modules;
	VEC(struct function) functions;
	VEC(struct symbol) symbols; /* that other modules see; sorted by name */
	VEC(struct call) calls;
	VEC(struct site) sites;
	VEC(uint32_t) by_line; /* sites, sorted by their lines */
	/* by node: a bit for each object that can be reached from it by loads; of the arena */
	struct map reached;
	struct map nodes, objects, function_of_object, paths; /* keys: LLVM's addresses, objects */
	uint32_t pmdk; /* all of libpmemobj's memory; 0: none yet */
};

/* alias.c */
struct alias *alias_new(void);
void alias_add(struct alias *a, LLVMModuleRef m); /* takes it over */
bool alias_solve(struct alias *a);                /* after the last one; false: it is too much */
void alias_close(struct alias *a);
void alias_seed(struct alias *a, const struct alias_place *store);
void alias_count(struct alias *a, const struct alias_place *p, const struct alias_place *store,
		 struct alias_counts *out);
void alias_each(struct alias *a, void (*found)(void *arg, const char *file, uint32_t line),
		void *arg);

/* ir_values.c */
void ir_declare(struct alias *a, LLVMModuleRef m); /* functions and variables that others see */
uint32_t ir_node(struct alias *a, LLVMValueRef v); /* 0 if it can hold no pointer */

/* ir.c */
void ir_constrain(struct alias *a, LLVMModuleRef m); /* once all are declared */

/* ir_calls.c */
void ir_bind(struct alias *a, uint32_t call, const struct function *f);

/* externals.c: what a function without a body does. */
void external_apply(struct alias *a, uint32_t call, const char *name);
bool external_is_store(const char *name); /* writes to where its first argument points */

/* bitcode.c */
struct alias *bitcode_open(const struct source_database *db, const struct alias_watch *watch,
			   struct error *err);

#endif
