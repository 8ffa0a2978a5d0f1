/* One race: a read of recovery, at one place, of what one place of the recorded program stored. */
#ifndef CRASH_RACES_RACE_H
#define CRASH_RACES_RACE_H

#include "crash/races/race_table.h"
#include "crash/search/explorer.h"

struct race_options {
	bool is_wanted;
	bool has_turns;      /* what is concluded is listed turn by turn */
	bool is_strict;      /* reads on which all possible contents agree, too */
	bool is_distrusting; /* reads that PMDK does on its own, too */
	/* by id of a site: its stores are commit writes; more than were given are not */
	VEC(bool) commit_sites;
	VEC(bool) own_sites; /* by id of a site: PMDK itself stores there, for itself */
	/* events, sorted: stores inside a transaction to what it does not undo, which commit
	 * nothing */
	VEC(uint64_t) unlogged;
	/* by id of a site: PMDK stores there, or has a constructor store, and not for a copy that
	 * the program asks for */
	VEC(bool) library_sites;
};

/* What is wrong with what is read. */
enum race_kind {
	RACE_UNDURABLE,   /* its last store may be lost: a race proper */
	RACE_UNCOMMITTED, /* it was stored after the commit write that survives */
	RACE_STALE,       /* it was stored before the commit write before that */
	/* nothing was stored since it was allocated, which is what `store` tells */
	RACE_UNINITIALISED,
};

enum race_state {
	RACE_UNKNOWN,  /* nothing speaks for it, nothing against it: a race */
	RACE_COMMIT,   /* of an inferred commit variable */
	RACE_CHECKSUM, /* what is torn is treated as what is old */
	RACE_HARMLESS, /* recovery comes to the same state with each value */
	RACE_ATOMIC,   /* replaced at once: the state of before, or that of after */
	RACE_BUG,
	RACE_UNTRIED, /* the budget ended before it was known well enough; in the end only */
};

/* All reads at one place of the recovery program of what one place of the recorded program
 * stored. */
struct race {
	enum recovery_part part; /* the command that reads */
	uint64_t pc;             /* in it: the innermost of the user's code */
	struct crash_store store;
	enum race_kind kind;
	/* of what is not consistent: the commit write that survives, and the one before; seq 0: the
	 * initial content */
	struct crash_store commits[2];
	bool is_ranged; /* ... by a variable whose ranges the program named */
	/* ... by the order of stores alone; else how often the variable made recovery read it, and
	 * how often not: */
	bool is_certain;
	uint64_t nselected, nrefuted;
	/* an amd64 recording on arm64: amd64 keeps the order of stores that makes it safe */
	bool is_porting;
	enum race_state state;      /* of races proper: what the table says, in the end */
	uint64_t point, seq, count; /* the first failure point; how many there were */
	VEC(uint64_t) stack;        /* of the first read */
	uint64_t addr;
	uint32_t len_bytes;
	char *values;  /* that the read could see */
	char *outcome; /* of that run */
};
void race_release(struct race *r);
bool race_same(const struct race *a, const struct race *b);
struct race_entry race_key(const struct race *r); /* of what is known about it and others like it */
/* Its part and reader by a decision. False: PMDK reads, and is trusted. */
bool race_set_reader(struct race *r, const struct race_options *o, const struct explorer *e,
		     enum recovery_part part, const struct run_decision *d);
/* What else there is to tell about a first read; mask: of bytes from d->at. */
void race_describe(struct race *r, const struct explorer *e, const struct run_decision *d,
		   uint64_t mask, const struct verdict *v);
/* Of those that the mask names. */
bool race_same_bytes(const uint8_t *a, const uint8_t *b, uint64_t mask);

/* Numbers in a list of findings: those that were seen at a failure point to which somebody comes
 * back. */
typedef VEC(size_t) seen_list;

/* For walks over words: the explorer (arg) is told which bytes are asked about. */
static inline void race_watch(uint64_t addr, uint64_t mask, void *arg)
{
	struct explorer *e = arg;

	states_watch(&e->set, &e->walk->image, addr, mask);
}

#endif
