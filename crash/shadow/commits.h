/* Commit variables: what each of them decides about, and the commit writes that a crash may show.
 * Pure.
 *
 * What is there when a variable is declared is the initial content, and counts as a commit write of
 * its own; nothing of it is ever inconsistent. Writes of the value that is there already are one
 * write with it, as are stores that fill a variable piece by piece: recovery cannot tell them
 * apart. */
#ifndef CRASH_SHADOW_COMMITS_H
#define CRASH_SHADOW_COMMITS_H

#include "model/model.h"
#include "util/vec.h"

/* of one variable; an older value that survives is not recognised, and then nothing is concluded */
#define COMMITS_KEPT 8u

struct commit_write {
	uint64_t first_seq, last_seq; /* 0: the initial content */
	/* the commit write before: what it covers was stored later */
	uint64_t before_seq;
	const struct trace_site *site, *before; /* NULL: the initial content, or unknown */
	uint8_t *value;                         /* of the whole variable */
};

/* How much is said about what a variable covers. */
enum commit_scope {
	COMMIT_RANGES, /* the program named ranges */
	COMMIT_ALL,    /* the only variable, without a range: all of PM */
	/* the same, but named from outside: what recovery reads because of its value */
	COMMIT_READ,
	COMMIT_NOTHING, /* one of several, without a range: reading it is fine, that is all */
};

struct commit_var {
	uint64_t addr, len_bytes;
	uint64_t since_seq; /* declared then: what was stored before is initial content */
	enum commit_scope scope;
	uint8_t *value;                  /* now; NULL: not written yet */
	VEC(struct commit_write) writes; /* at most COMMITS_KEPT, the last is the latest */
	size_t base;                     /* earlier ones cannot be what a crash shows */
	/* to what it covers: so far, and when it was written last */
	uint64_t nstores, nstores_then;
	uint64_t from, to; /* bytes of it that the last store wrote */
};

struct commit_range {
	uint64_t addr, end;
	size_t var; /* index in vars */
};

struct commits {
	VEC(struct commit_var) vars;     /* by address */
	VEC(struct commit_range) ranges; /* by address */
};

/* Before the first event: all variables, then all ranges, then commits_seal(). is_outside: not the
 * program says so. */
void commits_add_var(struct commits *c, uint64_t addr, uint64_t len_bytes, uint64_t since_seq,
		     bool is_outside);
void commits_add_range(struct commits *c, uint64_t var, uint64_t addr, uint64_t len_bytes);
void commits_seal(struct commits *c);
void commits_release(struct commits *c);

/* The variable whose bytes these touch, at or after index `from`; NULL: none. */
struct commit_var *commits_touched(const struct commits *c, uint64_t addr, uint64_t len_bytes,
				   size_t *from);
/* The variable that decides about this byte; NULL: none does, or it is a variable's own. */
struct commit_var *commits_governor(const struct commits *c, uint64_t addr);

/* A store touches the variable. value: of the whole variable, before; is_durable: that is
 * guaranteed to be durable. */
void commit_var_store(struct commit_var *v, const struct trace_event *ev, const uint8_t *before,
		      bool is_durable);

enum commit_state { COMMIT_CONSISTENT, COMMIT_UNCOMMITTED, COMMIT_STALE };

/* Bytes stored last at last_seq, and changed last at changed_seq (0: never), if this commit write
 * is what survives. */
enum commit_state commit_judge(const struct commit_var *v, const struct commit_write *w,
			       uint64_t last_seq, uint64_t changed_seq);
/* With the surviving value of the variable: consistent if one of the writes that it can be says so.
 * *w is the latest of these; NULL: the value is of none. */
enum commit_state commit_var_judge(const struct commit_var *v, const uint8_t *value,
				   bool is_durable, uint64_t last_seq, uint64_t changed_seq,
				   const struct commit_write **w);
/* Would they be inconsistent with some value that can survive? */
bool commit_var_doubts(const struct commit_var *v, bool is_durable, uint64_t last_seq,
		       uint64_t changed_seq);
/* When the bytes were stored, the variable had the value that w has: then they were uncommitted,
 * and they have not changed since. */
bool commit_var_recurs(const struct commit_var *v, const struct commit_write *w, uint64_t last_seq);
/* A value that the variable had before w, else after it; NULL: it never had another. */
const uint8_t *commit_var_other(const struct commit_var *v, const struct commit_write *w);

#endif
