/* A race: a read of recovery, at one place, of what one place of the recorded program stored. */
#ifndef CRASH_RACES_RACE_H
#define CRASH_RACES_RACE_H

#include "crash/races/race_table.h"
#include "crash/search/explorer.h"

struct race_options {
	bool is_wanted;
	bool has_turns;      /* conclusions are listed turn by turn */
	bool is_strict;      /* also report reads of bytes in which all possible contents agree */
	bool is_distrusting; /* also report PMDK's own reads */
	/* by site id: its stores are commit writes; sites beyond the end are not */
	VEC(bool) commit_sites;
	VEC(bool) own_sites; /* by site id: PMDK stores there for itself */
	/* ascending events: stores inside a transaction that does not undo them, so they commit
	 * nothing */
	VEC(uint64_t) unlogged;
	/* by site id: PMDK stores there or calls a constructor that does, but not to copy something
	 * for the program */
	VEC(bool) library_sites;
};

/* What is wrong with the data that is read. */
enum race_kind {
	RACE_UNDURABLE,   /* its last store may be lost: a race proper */
	RACE_UNCOMMITTED, /* it was stored after the surviving commit write */
	RACE_STALE,       /* it was stored before the commit write before the surviving one */
	/* it was not stored to since its allocation, which is in `store` */
	RACE_UNINITIALISED,
};

enum race_state {
	RACE_UNKNOWN,  /* nothing excuses it and nothing proves it: a race */
	RACE_COMMIT,   /* it reads an inferred commit variable */
	RACE_CHECKSUM, /* torn data is treated like old data */
	RACE_HARMLESS, /* recovery reaches the same state with each value */
	RACE_ATOMIC,   /* replaced by one store: recovery finds the state before or after it */
	RACE_BUG,
	RACE_UNTRIED, /* the budget ended before enough was known; only at the end */
};

/* All reads at one place of the recovery program of what one place of the recorded program
 * stored. */
struct race {
	enum recovery_part part; /* the command that reads */
	uint64_t pc;             /* the reading place: innermost address in the user's code */
	struct crash_store store;
	enum race_kind kind;
	/* of inconsistent data: the surviving commit write and the one before; seq 0: the initial
	 * content */
	struct crash_store commits[2];
	bool is_ranged; /* the variable's ranges were named by the program */
	/* the order of stores alone proves it; otherwise the two counters are used: how often the
	 * variable made recovery read it, and how often not */
	bool is_certain;
	uint64_t nselected, nrefuted;
	/* amd64 recording on arm64: amd64 keeps the order of stores that makes the read safe */
	bool is_porting;
	enum race_state state;      /* of races proper: the state in the table at the end */
	uint64_t point, seq, count; /* the first failure point; count: number of failure points */
	VEC(uint64_t) stack;        /* of the first read */
	uint64_t addr;
	uint32_t len_bytes;
	char *values;  /* the values that the read could return */
	char *outcome; /* outcome of that run */
};
void race_release(struct race *r);
bool race_same(const struct race *a, const struct race *b);
/* Gives the key under which the table has this race and others like it. */
struct race_entry race_key(const struct race *r);
/* Sets part and reader from a decision. False: PMDK reads, and is trusted. */
bool race_set_reader(struct race *r, const struct race_options *o, const struct explorer *e,
		     enum recovery_part part, const struct run_decision *d);
/* Fills the remaining fields from a first read; mask: bytes from d->at. */
void race_describe(struct race *r, const struct explorer *e, const struct run_decision *d,
		   uint64_t mask, const struct verdict *v);
/* Are the bytes equal for which the mask has a bit? */
bool race_same_bytes(const uint8_t *a, const uint8_t *b, uint64_t mask);

/* Indices in a list of findings: those that were seen at a failure point that is visited again. */
typedef VEC(size_t) seen_list;

/* Tells the explorer (arg) which bytes are asked about. It is the callback of functions that go
 * over words, such as shadow_each_doubtful(). */
static inline void race_watch(uint64_t addr, uint64_t mask, void *arg)
{
	struct explorer *e = arg;

	states_watch(&e->set, &e->walk->image, addr, mask);
}

#endif
