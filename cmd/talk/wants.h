/* What a user may want to do, with one command each: `pmend` and `pmend help` print this. */
#ifndef CMD_TALK_WANTS_H
#define CMD_TALK_WANTS_H

#include <stdio.h>

void wants_print(FILE *out);

#endif
