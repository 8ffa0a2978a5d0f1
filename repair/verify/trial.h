/* A tree that is built, run and judged: a copy of the root, with or without the patch. `pmend fix
 * --verify` compares two. */
#ifndef REPAIR_VERIFY_TRIAL_H
#define REPAIR_VERIFY_TRIAL_H

#include "repair/verify/execution.h"
#include "repair/verify/verify.h"

struct trial {
	const struct verifying *v;
	const char *name;
	/* builds it, with the paths of the root as it is; NULL: the user's command does */
	const char *script;
	char *tree, *trace, *output, *log, *scratch;
	/* what `check` and `crash` find; NULL: crash was not asked for */
	struct report *checked, *crashed;
	const struct report *reported; /* stands for `crashed`; may be NULL, not owned */
	int status;                    /* of the program */
	struct execution execution;
};

/* Borrows all but the path of the scratch folder. */
void trial_init(struct trial *t, const struct verifying *v, const char *name, const char *scratch,
		const char *script);
void trial_release(struct trial *t);

/* -1 if it fails. pmend: the path of this program. */
int trial_copy(struct trial *t, struct error *err);
int trial_change(const struct trial *t, struct error *err); /* by the patch */
int trial_build(const struct trial *t, struct error *err);
int trial_run(struct trial *t, const char *pmend, struct error *err);
/* Explores the crashes of what was run, as the report says that it was done. */
int trial_crash(struct trial *t, const char *pmend, struct error *err);

/* Has this trace, which may be NULL, the execution that was run? */
bool trial_is_execution(const struct trial *t, const char *trace);

#endif
