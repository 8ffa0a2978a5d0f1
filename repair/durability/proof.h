/* Decides whether a flush or fence is unnecessary on every path of its function. */
#ifndef REPAIR_DURABILITY_PROOF_H
#define REPAIR_DURABILITY_PROOF_H

#include "repair/effects/flow.h"

enum proof_answer {
	PROOF_NONE,  /* no proof; `why` says what is in the way */
	PROOF_ALL,   /* all of it is unnecessary */
	PROOF_FLUSH, /* its flush is unnecessary, its fence is not */
	/* it flushes too much: everything stored is in the line of its address */
	PROOF_NARROWER,
};

struct proof {
	enum proof_answer answer;
	bool is_whole; /* the function alone proves it. Otherwise the recorded run must agree */
	const char *why;
};

/* Tries to prove that `stmt`, a flush or fence in function f, is unnecessary, and fills *out. */
void proof_find(struct repair *r, const struct source_unit *u, const struct file *file,
		const struct source_function *f, const struct source_node *stmt, struct proof *out);

#endif
