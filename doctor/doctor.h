/* Checks what works on this machine: one check per thing that pmend needs or uses, with what to do
 * if it is missing. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdlib.h>

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* works, but slower or not always */
	DOCTOR_MISSING, /* does not work */
};

struct doctor_finding {
	enum doctor_state state;
	char *found; /* what is there, or what is wrong */
	char *todo;  /* what to do; NULL if nothing */
};

struct doctor_check {
	const char *name;
	const char *used_for;
	bool is_main; /* without it, pmend can neither record nor crash programs */
	void (*run)(struct doctor_finding *f);
};

extern const struct doctor_check doctor_checks[]; /* ends with a row without a name */

const char *doctor_state_name(enum doctor_state s);

static inline void doctor_finding_release(struct doctor_finding *f)
{
	free(f->found);
	free(f->todo);
	f->found = f->todo = NULL;
}

/* Runs in the small program that the checks of recording and recovery use: creates a pool of one
 * page, or reads and changes it. Gives 0 if all is well. */
int doctor_probe(const char *path);

#endif
