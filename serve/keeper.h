/* A process between pmend and a program that it runs: adopts what the program leaves behind,
 * wherever that went (another process group or session, a daemon), and ends it with the program. It
 * ends as the program did: with its status, or by its signal. When pmend is gone, it ends all at
 * once. */
#ifndef SERVE_KEEPER_H
#define SERVE_KEEPER_H

#include <sys/types.h>

/* Its number, or -1 with errno. run() is called in the program's own process, which leads a group
 * of its own, and does not return. */
pid_t keeper_start(void (*run)(const void *arg), const void *arg);
void keeper_ask(pid_t keeper); /* the program to end: SIGTERM */
int keeper_end(pid_t keeper);  /* everything, now; waits, and returns the wait status */

#endif
