/* One of the two trees that `pmend fix --verify` compares: a copy of the root, built, run, judged. */
#ifndef CMD_FIX_SIDE_H
#define CMD_FIX_SIDE_H

#include "cmd/fixing.h"

struct fix_side {
	const char *name;
	char *tree, *trace, *output, *log, *scratch;
	struct report *checked, *crashed; /* what `check` and `crash` find; NULL: crash was not asked for */
	int status;			  /* of the program */
	uint64_t nlogged_bytes, nflushes, nfences, ninstructions;
};

/* Each dies if it fails. pmend: the path of this program. */
void fix_side_init(struct fix_side *s, const char *name, const char *scratch);
void fix_side_release(struct fix_side *s);
void fix_side_copy(const struct fixing *f, struct fix_side *s);
void fix_side_change(const struct fixing *f, const struct fix_side *s);
void fix_side_build(const struct fixing *f, const struct fix_side *s);
void fix_side_run(const struct fixing *f, struct fix_side *s, const char *pmend);

/* Runs a script by the shell; $1… are the arguments, which end with NULL. Returns the exit status, 128 or more for a signal. */
int fix_shell(const char *script, ...) __attribute__((sentinel));

#endif
