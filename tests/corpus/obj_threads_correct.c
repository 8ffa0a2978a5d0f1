/* CHECK: --threads --only unpersisted-read */
/* The program of obj_threads.c without its mistake, with more threads, transactions and allocations. */
#define IS_BROKEN 0
#include "obj_threads.c"
