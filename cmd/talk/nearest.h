/* Finds the word that a user who misspelt one probably wanted. */
#ifndef CMD_TALK_NEAREST_H
#define CMD_TALK_NEAREST_H

#include <stdbool.h>

/* The best candidate so far; candidates are added one by one. */
struct nearest {
	const char *typed;
	const char *word; /* NULL: none is near */
	unsigned distance;
};

void nearest_init(struct nearest *n, const char *typed);
void nearest_try(struct nearest *n, const char *candidate);

#endif
