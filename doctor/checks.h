/* Declares the checks, ordered by the file that contains them, and the functions that these files
 * share. */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include "doctor/doctor.h"

/* trial.c: whether pmend's main job can be done, by recording a small program and running
 * recovery */
void check_recorder(struct doctor_finding *f);
void check_valgrind(struct doctor_finding *f);
void check_recording(struct doctor_finding *f);
void check_recovery(struct doctor_finding *f);

/* kernel.c: what the kernel and its settings offer; without it, pmend is slower or sees less */
void check_keys(struct doctor_finding *f);
void check_dispatch(struct doctor_finding *f);
void check_memory(struct doctor_finding *f);
void check_temporary(struct doctor_finding *f);
void check_limits(struct doctor_finding *f);

/* programs.c: whether a program or library that only some commands need can be used */
void check_libclang(struct doctor_finding *f);
void check_clang(struct doctor_finding *f);
void check_z3(struct doctor_finding *f);
void check_decoder(struct doctor_finding *f);
void check_gdb(struct doctor_finding *f);
void check_pmdk(struct doctor_finding *f);

/* Sets a finding; takes ownership of both texts. todo may be NULL. */
static inline void finding_set(struct doctor_finding *f, enum doctor_state state, char *found,
			       char *todo)
{
	doctor_finding_release(f);
	*f = (struct doctor_finding){ state, found, todo };
}

/* Runs a program and gives the first line that it prints; NULL if it cannot be run. free() it. */
char *program_says(char *const argv[]);

#endif
