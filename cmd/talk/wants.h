/* Prints what a user may want to do, with one command each, for `pmend` and `pmend help`. */
#ifndef CMD_TALK_WANTS_H
#define CMD_TALK_WANTS_H

#include <stdio.h>

void wants_print(FILE *out);

#endif
