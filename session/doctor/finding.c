/* What a check found. It owns its texts. */
#include <stddef.h>
#include <stdlib.h>

#include "session/doctor/checks.h"

void finding_set(struct doctor_finding *f, enum doctor_state state, char *found, char *todo)
{
	doctor_finding_release(f);
	*f = (struct doctor_finding){ state, found, todo };
}

void doctor_finding_release(struct doctor_finding *f)
{
	free(f->found);
	free(f->todo);
	f->found = f->todo = NULL;
}
