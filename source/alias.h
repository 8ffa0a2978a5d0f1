/* The interface of the pointer analysis: which memory a pointer may point to, in the whole program
 * (Andersen's analysis on LLVM's IR). It is part of libpmend_source.so.
 *
 * An object is persistent if it comes from a shared mapping or from PMDK, or if the trace has a
 * store to it and nothing says that it is volatile. Objects that come from code without IR are
 * neither. */
#ifndef SOURCE_ALIAS_H
#define SOURCE_ALIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct source_database;
struct alias;

/* A range of a source file, both ends included. */
struct alias_place {
	const char *file; /* absolute path */
	uint32_t line, column, end_line, end_column;
	const char *callee; /* the function of a call; NULL: the instructions that store or copy */
};

struct alias_counts {
	unsigned npm, nvolatile; /* objects that the place may write to */
	bool is_found;           /* the IR has an instruction at the place */
	/* for a call: some argument may lead to what the store writes to */
	bool has_pointers;
};

/* Told how many files are compiled; says whether to go on. */
struct alias_watch {
	bool (*may_go_on)(size_t ncompiled, void *arg);
	void *arg;
};

struct alias_api {
	/* Compiles all files of the database to IR and analyses them. NULL with err if there is no
	 * compiler, if a file does not compile, or if the watch (may be NULL) ends it:
	 * "interrupted". */
	struct alias *(*open)(const struct source_database *db, const struct alias_watch *watch,
			      struct error *err);
	void (*close)(struct alias *a);
	/* Tells the analysis that this store hit persistent memory. */
	void (*seed)(struct alias *a, const struct alias_place *store);
	/* Counts the objects that the stores at p write to. If p is a call: the objects that its
	 * arguments point to. With `store`, only arguments that lead to what `store` writes to
	 * count. */
	void (*count)(struct alias *a, const struct alias_place *p, const struct alias_place *store,
		      struct alias_counts *out);
	/* Calls found() for all stores, and all calls of library functions such as memcpy, that may
	 * write to persistent memory. */
	void (*each)(struct alias *a, void (*found)(void *arg, const char *file, uint32_t line),
		     void *arg);
};

#endif
