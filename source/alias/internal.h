/* What the files of source/alias/ share: calls, functions, sites (instructions that store, copy or
 * call), and the state of an analysis. */
#ifndef SOURCE_ALIAS_INNER_H
#define SOURCE_ALIAS_INNER_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "source/alias.h"
#include "source/alias/solve.h"
#include "util/map.h"
#include "util/vec.h"

/* A call in the IR, or one that a library function makes of a function it was given. */
struct call {
	const char *name; /* function and place, which name the objects that the call creates */
	uint32_t *args;   /* nodes; 0: cannot hold a pointer */
	size_t nargs;
	uint32_t result;
	int64_t flags;     /* of mmap; -1 if unknown */
	bool is_anonymous; /* mmap without a file */
	/* made by a library function, which has called its other arguments already */
	bool is_called_back;
};

struct function {
	LLVMValueRef value;
	const char *name;
	uint32_t object;
	uint32_t *parameters;
	size_t nparameters;
	uint32_t result;
	uint32_t varargs; /* object of the variable arguments; 0 if it takes none */
	bool is_defined;
};

/* An instruction that stores, copies or calls, at a place of the source. */
struct site {
	const char *file, *callee; /* NULL for a store, and for a call through a pointer */
	uint32_t line, column;
	uint32_t *pointers; /* the address of a store, or the arguments of a call */
	size_t npointers;
	bool is_store;
};

struct symbol {
	const char *name;
	uint32_t function; /* index in functions; UINT32_MAX for a variable */
	uint32_t object;
};

struct alias {
	struct arena arena;
	struct solver *solver;
	LLVMContextRef context;
	LLVMTargetDataRef layout; /* of the module that is being read */
	VEC(LLVMModuleRef) modules;
	VEC(struct function) functions;
	VEC(struct symbol) symbols; /* names that other modules see; sorted by name */
	VEC(struct call) calls;
	VEC(struct site) sites;
	VEC(uint32_t) by_line; /* indices of sites, sorted by line */
	/* node → bits of all objects that can be reached from it by loads; in the arena */
	struct map reached;
	/* LLVM value → node or object; object → function; path of debug information → real path */
	struct map nodes, objects, function_of_object, paths;
	/* the object that stands for all of libpmemobj's memory; 0 until it is needed */
	uint32_t pmdk;
};

/* alias.c: makes an analysis, takes modules, and answers questions about places */
struct alias *alias_new(void);
void alias_add(struct alias *a, LLVMModuleRef m); /* takes ownership of the module */
/* Solves the constraints. Called after the last module. False if that takes too much work. */
bool alias_solve(struct alias *a);
void alias_close(struct alias *a);
void alias_seed(struct alias *a, const struct alias_place *store);
void alias_count(struct alias *a, const struct alias_place *p, const struct alias_place *store,
		 struct alias_counts *out);
void alias_each(struct alias *a, void (*found)(void *arg, const char *file, uint32_t line),
		void *arg);

/* ir_values.c */
/* Registers the functions of the module, and the variables that other modules see. */
void ir_declare(struct alias *a, LLVMModuleRef m);
/* Gives the node of a value; 0 if the value cannot hold a pointer. */
uint32_t ir_node(struct alias *a, LLVMValueRef v);

/* ir.c: adds the constraints of all instructions of a module */
void ir_constrain(struct alias *a, LLVMModuleRef m); /* after ir_declare() of all modules */

/* ir_calls.c: copies the arguments of a call to the parameters of a function that it may call, and
 * the result back */
void ir_bind(struct alias *a, uint32_t call, const struct function *f);

/* externals.c: adds the constraints of a function without a body. */
void external_apply(struct alias *a, uint32_t call, const char *name);
bool external_is_store(const char *name); /* whether it writes to where its first argument points */

/* bitcode.c: compiles the files of the database to IR, and starts an analysis on it */
struct alias *bitcode_open(const struct source_database *db, const struct alias_watch *watch,
			   struct error *err);

#endif
