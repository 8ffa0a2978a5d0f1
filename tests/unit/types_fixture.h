/* For tests of types: programs of which every store instruction is known, with what their source
 * says about it. */
#ifndef TYPES_FIXTURE_H
#define TYPES_FIXTURE_H

#include "source/types.h"
#include "util/vec.h"

enum { MARKS_MAX = 400, LEVELS_MAX = 6, ALTERNATIVES_MAX = 4 };

struct expected {
	char type[64], field[64];
	uint64_t offset;
};

/* Shared by all tests, so that the sources are read once. */
struct fixture {
	char folder[64]; /* with compile_commands.json */
	struct symbols *symbols;
	struct types *by_source, *by_dwarf;
	uint64_t base, seq;
	uint32_t nsites;
};

/* What the comment of a line says. */
struct mark {
	unsigned line;
	enum { MARK_DIRECT, MARK_CALL, MARK_INLINED, MARK_WIDE, MARK_CALLED } how;
	struct expected level[ALTERNATIVES_MAX][LEVELS_MAX];
	unsigned nlevels[ALTERNATIVES_MAX], n;
	bool is_seen[ALTERNATIVES_MAX], is_optional[ALTERNATIVES_MAX];
};

/* A call, or a store that does not go to the stack. */
struct step {
	uint64_t pc, end;
	bool is_call;
	uint64_t target; /* of a call */
	uint32_t size_bytes; /* of a store; 0: not a store */
	int64_t offset;
};

struct function {
	char name[128];
	uint64_t start, end;
};

struct program {
	char path[512], source[64];
	bool is_optimised;
	struct mark marks[MARKS_MAX];
	unsigned nmarks;
	VEC(struct step) steps;
	VEC(struct function) functions;
	struct trace_object object;
	struct fixture *f;
	struct types *types;
	unsigned ntried, nright, nwrong;
	bool is_strict; /* whether a wrong answer fails the test at once */
};

int types_set_up(void **state);
int types_tear_down(void **state);

/* Reads a program's instructions, and the comments of its source. name is a file in
 * build/tests/types, or in $PMEND_TEST_TYPES. */
struct program *program_open(struct fixture *f, const char *name, bool with_sources);
void program_close(struct program *p);
struct mark *mark_at(struct program *p, const struct symbol *s); /* NULL if the line says nothing */

#endif
