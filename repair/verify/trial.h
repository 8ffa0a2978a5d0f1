/* Makes a copy of the tree, with or without the patch, builds it, runs the program and checks the
 * recording. `pmend fix --verify` compares two such trials. */
#ifndef REPAIR_VERIFY_TRIAL_H
#define REPAIR_VERIFY_TRIAL_H

#include "repair/verify/execution.h"
#include "repair/verify/verify.h"

struct trial {
	const struct verifying *v;
	const char *name;
	/* builds the tree, with the paths of the original root; NULL: use the user's command */
	const char *script;
	char *tree, *trace, *output, *log, *scratch;
	/* findings of `check` and `crash`; NULL: crash was not run */
	struct report *checked, *crashed;
	const struct report *reported; /* used in place of `crashed`; may be NULL; not owned */
	int status;                    /* exit status of the program */
	struct execution execution;
};

/* Prepares a trial. Copies the path of the scratch folder; keeps pointers to the other
 * arguments. */
void trial_init(struct trial *t, const struct verifying *v, const char *name, const char *scratch,
		const char *script);
void trial_release(struct trial *t);

/* Copies the tree. This function and the next ones return -1 on failure. pmend: the path of this
 * program. */
int trial_copy(struct trial *t, struct error *err);
int trial_change(const struct trial *t, struct error *err); /* applies the patch */
int trial_build(const struct trial *t, struct error *err);
int trial_run(struct trial *t, const char *pmend, struct error *err);
/* Explores the crashes of the recording with the report's options. */
int trial_crash(struct trial *t, const char *pmend, struct error *err);

/* Asks whether the trace (may be NULL) has the execution of this trial. */
bool trial_is_execution(const struct trial *t, const char *trace);

#endif
