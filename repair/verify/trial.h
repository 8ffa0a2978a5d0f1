/* One of the two trees that `pmend fix --verify` compares: a copy of the root, built, run, judged. */
#ifndef REPAIR_VERIFY_TRIAL_H
#define REPAIR_VERIFY_TRIAL_H

#include "cmd/fixing.h"

struct fix_side {
	const char *name;
	char *tree, *trace, *output, *log, *scratch;
	struct report *checked, *crashed; /* what `check` and `crash` find; NULL: crash was not asked for */
	const struct report *reported;	  /* stands for `crashed`; may be NULL, not owned */
	int status;			  /* of the program */
	uint64_t nlogged_bytes, nflushes, nfences, ninstructions;
	uint64_t signature; /* of what was recorded */
};

/* -1 if it fails. pmend: the path of this program. */
void fix_side_init(struct fix_side *s, const char *name, const char *scratch);
void fix_side_release(struct fix_side *s);
int fix_side_copy(const struct fixing *f, struct fix_side *s, struct error *err);
int fix_side_change(const struct fixing *f, const struct fix_side *s, struct error *err);
int fix_side_build(const struct fixing *f, const struct fix_side *s, struct error *err);
int fix_side_run(const struct fixing *f, struct fix_side *s, const char *pmend, struct error *err);

/* Explores the crashes of what was run, as the report says that it was done. */
int fix_side_crash(const struct fixing *f, struct fix_side *s, const char *pmend, struct error *err);

/* Has this trace, which may be NULL, the execution that was run? */
bool fix_side_is_execution(const struct fix_side *s, const char *trace);

/* Runs a script by the shell; $1… are the arguments, which end with NULL. Returns the exit status, 128 or more for a signal. */
int fix_shell(const char *script, ...) __attribute__((sentinel));

#endif
