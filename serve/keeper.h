/* Starts a keeper: a process between pmend and a program that pmend runs. The keeper adopts what
 * the program leaves behind, even in another process group or session, and ends it together with
 * the program. The keeper itself ends with the program's status or signal. If pmend is gone, it
 * ends everything at once. */
#ifndef SERVE_KEEPER_H
#define SERVE_KEEPER_H

#include <sys/types.h>

/* Starts a keeper and gives its process number, or -1 with errno. run() is called in the program's
 * own process, which leads a process group, and must not return. */
pid_t keeper_start(void (*run)(const void *arg), const void *arg);
void keeper_ask(pid_t keeper); /* asks the program to end (SIGTERM) */
int keeper_end(pid_t keeper);  /* kills everything, waits, and gives the wait status */

#endif
