/* Is a flush or fence needless wherever its function comes to it? */
#ifndef REPAIR_DURABILITY_PROOF_H
#define REPAIR_DURABILITY_PROOF_H

#include "repair/effects/flow.h"

enum proof_answer {
	PROOF_NONE,  /* why tells what is in the way */
	PROOF_ALL,   /* all that it does */
	PROOF_FLUSH, /* what it writes back; its fence is needed */
	/* it writes back more than was stored: all that was stored is in the line of its address */
	PROOF_NARROWER,
};

struct proof {
	enum proof_answer answer;
	bool is_whole; /* by the function alone; otherwise what was seen when it ran must agree */
	const char *why;
};

/* The statement, in its function. */
void proof_find(struct repair *r, const struct source_unit *u, const struct file *file,
		const struct source_function *f, const struct source_node *stmt, struct proof *out);

#endif
