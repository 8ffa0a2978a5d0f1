/* Prints the change of one file as a unified diff of a/NAME and b/NAME. */
#ifndef REPAIR_EDIT_DIFF_H
#define REPAIR_EDIT_DIFF_H

#include <stdio.h>

void diff_print(FILE *f, const char *name, const char *before, const char *after);

#endif
