/* Which memory pointers may point to, in the whole program: Andersen's analysis on LLVM's IR. Part
 * of libpmend_source.so.
 *
 * Memory is persistent if it comes from a shared mapping or one of PMDK's functions, or if the
 * trace saw a store there and nothing says that it is volatile. Objects from code that is not seen
 * are neither. */
#ifndef SOURCE_ALIAS_H
#define SOURCE_ALIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct source_database;
struct alias;

/* A range of a file's text, both ends included. */
struct alias_place {
	const char *file; /* absolute */
	uint32_t line, column, end_line, end_column;
	const char *callee; /* of a call; NULL: what stores or copies */
};

struct alias_counts {
	unsigned npm, nvolatile; /* objects */
	bool is_found;           /* some instruction is there */
	bool has_pointers;       /* a call: with a pointer through which the store may be reached */
};

/* Who is told how many files are compiled, and says whether to go on. */
struct alias_watch {
	bool (*may_go_on)(size_t ncompiled, void *arg);
	void *arg;
};

struct alias_api {
	/* Compiles every file of the database to IR. NULL if a compiler is missing, a file does not
	 * compile, or the watch, if there is one, says so: "interrupted". */
	struct alias *(*open)(const struct source_database *db, const struct alias_watch *watch,
			      struct error *err);
	void (*close)(struct alias *a);
	/* it hit persistent memory */
	void (*seed)(struct alias *a, const struct alias_place *store);
	/* What the stores there write to; with a call, what its arguments point to: those that lead
	 * to what `store` writes to, or all without it. */
	void (*count)(struct alias *a, const struct alias_place *p, const struct alias_place *store,
		      struct alias_counts *out);
	/* All stores, and calls of functions of libraries that store for the caller, that may write
	 * to persistent memory. */
	void (*each)(struct alias *a, void (*found)(void *arg, const char *file, uint32_t line),
		     void *arg);
};

#endif
