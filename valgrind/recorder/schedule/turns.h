/* Decides which thread runs (--schedule). Valgrind runs one thread at a time, and its threads
 * compete for a lock; turns.c gives them that lock in an order that depends on a seed and on what
 * the program does, but not on time. */
#ifndef REC_TURNS_H
#define REC_TURNS_H

#include "valgrind/recorder/out/basics.h"

/* Why the running thread gives up the processor, if the recorder made it do so. */
enum turns_why { TURNS_OWN, TURNS_CHANGE, TURNS_HOLD };

extern Bool g_many; /* orders are chosen, and there is more than one thread */

void turns_begin(ThreadId tid); /* the first thread begins: from now on, orders are chosen */
/* Called before a thread runs code of the program. blocks: how many blocks were run so far. */
void turns_run(ThreadId tid, ULong blocks);
void turns_created(ThreadId child);
void turns_ends(ThreadId tid);
void turns_before_call(ThreadId tid, UInt number, const UWord *args);
void turns_after_call(ThreadId tid, UInt number, SysRes result);
void turns_before_fork(void);
void turns_in_parent(void);
void turns_in_child(ThreadId tid); /* its threads are scheduled by themselves */

/* The running thread gives up the processor soon, and why. */
void turns_ask(enum turns_why why);
void turns_fall_behind(void); /* the running thread: all others come first from now on */
void turns_progress(void);    /* the program does more than to wait */
/* The running thread gets no turn while another one can run, until turns_unhold(). */
void turns_hold(void);
void turns_unhold(void);
Bool turns_is_held(void); /* is a thread held? */
ULong turns_random(void); /* the next number of the seed */

#endif
