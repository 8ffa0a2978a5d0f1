/* Commit variables: which bytes each of them decides about, and the commit writes that a crash may
 * show. Pure.
 *
 * Example: valid decides about data.
 *
 *	data = 1; valid = 1; data = 2; valid = 2
 *
 * If valid == 1 survives, data = 1 is consistent: it was stored between the commit write before and
 * valid = 1. data = 2 is uncommitted then. If valid == 2 survives, data = 1 is stale.
 *
 * What is there when a variable is declared is initial content; it counts as a commit write and is
 * never inconsistent. A write of the value that is there already is joined with the write before,
 * as are stores that fill a variable piece by piece: recovery cannot tell them apart. */
#ifndef CRASH_SHADOW_COMMITS_H
#define CRASH_SHADOW_COMMITS_H

#include "model/model.h"
#include "util/vec.h"

/* commit writes per variable; if an older value survives, it is not recognised, and nothing is
 * concluded */
#define COMMITS_KEPT 8u

struct commit_write {
	uint64_t first_seq, last_seq; /* 0: the initial content */
	/* the commit write before; what this one covers was stored later */
	uint64_t before_seq;
	const struct trace_site *site, *before; /* NULL: the initial content, or unknown */
	uint8_t *value;                         /* of the whole variable */
};

/* How precisely it is known which bytes a variable covers. */
enum commit_scope {
	COMMIT_RANGES, /* ranges that the program named */
	COMMIT_ALL,    /* all of PM: it is the only variable, and has no range */
	/* the same for a variable that an option named: what recovery reads because of its value */
	COMMIT_READ,
	/* nothing: it is one of several and has no range, so only reading it is allowed */
	COMMIT_NOTHING,
};

struct commit_var {
	uint64_t addr, len_bytes;
	uint64_t since_seq; /* event of the declaration; earlier stores are initial content */
	enum commit_scope scope;
	uint8_t *value;                  /* the present value; NULL: not written yet */
	VEC(struct commit_write) writes; /* at most COMMITS_KEPT, the latest last */
	/* number of earlier writes, which a crash cannot show any more */
	size_t base;
	/* stores to covered bytes: so far, and when the variable was last written */
	uint64_t nstores, nstores_then;
	uint64_t from, to; /* bytes of the variable that the last store wrote */
};

struct commit_range {
	uint64_t addr, end;
	size_t var; /* index in vars */
};

struct commits {
	VEC(struct commit_var) vars;     /* ascending address */
	VEC(struct commit_range) ranges; /* ascending address */
};

/* Declares variables and ranges before the first event: all variables, then all ranges, then
 * commits_seal(). is_outside: an option names the variable, not the program. */
void commits_add_var(struct commits *c, uint64_t addr, uint64_t len_bytes, uint64_t since_seq,
		     bool is_outside);
void commits_add_range(struct commits *c, uint64_t var, uint64_t addr, uint64_t len_bytes);
void commits_seal(struct commits *c);
void commits_release(struct commits *c);

/* Finds the variable that overlaps these bytes, at index `from` or later; NULL: none. */
struct commit_var *commits_touched(const struct commits *c, uint64_t addr, uint64_t len_bytes,
				   size_t *from);
/* Finds the variable that decides about this byte; NULL if none does, or if the byte belongs to a
 * variable. */
struct commit_var *commits_governor(const struct commits *c, uint64_t addr);

/* Notes a store to the variable. before, after: value of the whole variable; is_durable: the value
 * before is guaranteed to be durable. */
void commit_var_store(struct commit_var *v, const struct trace_event *ev, const uint8_t *before,
		      bool is_durable);

enum commit_state { COMMIT_CONSISTENT, COMMIT_UNCOMMITTED, COMMIT_STALE };

/* Judges bytes that were stored last at last_seq and changed last at changed_seq (0: never), if
 * this commit write survives. */
enum commit_state commit_judge(const struct commit_var *v, const struct commit_write *w,
			       uint64_t last_seq, uint64_t changed_seq);
/* Judges by the surviving value of the variable: consistent if one of the writes with this value
 * says so. *w: the latest of these writes; NULL: no write had this value. */
enum commit_state commit_var_judge(const struct commit_var *v, const uint8_t *value,
				   bool is_durable, uint64_t last_seq, uint64_t changed_seq,
				   const struct commit_write **w);
/* Would the bytes be inconsistent with some value that can survive? */
bool commit_var_doubts(const struct commit_var *v, bool is_durable, uint64_t last_seq,
		       uint64_t changed_seq);
/* Did the variable have the same value as w when the bytes were stored? Then they were uncommitted
 * at that time, and have not changed since. */
bool commit_var_recurs(const struct commit_var *v, const struct commit_write *w, uint64_t last_seq);
/* Gives another value that the variable had before w, or else after it; NULL: it never had
 * another. */
const uint8_t *commit_var_other(const struct commit_var *v, const struct commit_write *w);

#endif
