/* CHECK: --threads --only unpersisted-read */
/* The structures of structures.c without their mistakes, with 1, 4 and 16 threads. */
#define IS_BROKEN 0
#include "structures.c"
