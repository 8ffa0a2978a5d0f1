/* What works on this machine: one check per thing that pmend needs or uses, each with what to do
 * where it is missing. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdlib.h>

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* it works, but slower, or not in all cases */
	DOCTOR_MISSING, /* what needs it does not work */
};

struct doctor_finding {
	enum doctor_state state;
	char *found; /* what is there, or what is wrong */
	char *todo;  /* NULL: nothing */
};

struct doctor_check {
	const char *name;
	const char *used_for;
	bool is_main; /* without it, pmend neither records nor crashes programs */
	void (*run)(struct doctor_finding *f);
};

extern const struct doctor_check doctor_checks[]; /* ends with a row without name */

const char *doctor_state_name(enum doctor_state s);

static inline void doctor_finding_release(struct doctor_finding *f)
{
	free(f->found);
	free(f->todo);
	f->found = f->todo = NULL;
}

/* The program that the checks of recording and of recovery run: makes a pool of one page, or reads
 * and changes the one that is there. 0: all is well. */
int doctor_probe(const char *path);

#endif
