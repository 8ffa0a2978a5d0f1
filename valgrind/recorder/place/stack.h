/* Keeps the call stack of the running thread. */
#ifndef REC_STACK_H
#define REC_STACK_H

#include "valgrind/recorder/out/basics.h"

struct frame {
	/* the stack pointer after the call; the frame is alive while the stack pointer is not above
	 * it */
	Addr slot;
	Addr ret;
	UInt node;      /* node of the calling context; NO_NODE until it is needed */
	UInt is_signal; /* IS_SIGNAL, or any other value */
	ULong beyond;   /* 0; all bits are set in the frame behind the last */
};
#define IS_SIGNAL 1u
extern struct frame *g_top, *g_frames_end;
extern ThreadId g_tid; /* the running thread's Valgrind id */
/* where its stack pointer is kept; if unknown, a value that is no stack pointer */
extern const Addr *g_sp;
extern ULong g_pending; /* nonzero: it flushed or stored non-temporally since its last fence */
/* the running thread's frame of a call whose return is awaited; NULL: there is none */
extern struct frame *g_awaited;
/* if the stack pointer is further from the top frame, it is examined closely */
#define FRAME_FAR_BYTES 16384u

UInt stack_node(void);
void stack_learn_sp(const Addr *sp);
void stack_run(ThreadId tid);
void stack_thread_begin(ThreadId tid);
void stack_thread_end(ThreadId tid);
UInt stack_thread_number(ThreadId tid);
void stack_signal(ThreadId tid, Bool on_altstack);
void stack_signal_return(ThreadId tid);
/* Gives the bottom frame of the running thread's stack, which stands for the code that started the
 * stack. */
const struct frame *stack_bottom(void);
void stack_check(Addr pc); /* stack_check.c */
/* Repairs the stack after the inlined code for a call: it pushed a frame that should not be there,
 * or at the wrong place. */
VG_REGPARM(0) void stack_call_slow(void);
/* Finds out where the stack pointer is now: it was set, not moved, and is not close below the top
 * frame. */
VG_REGPARM(1) void stack_set(Addr sp);
/* Repairs the stack after the inlined code for a return: it removed a frame that should be there.
 * sp is the stack pointer after the return. */
VG_REGPARM(1) void stack_return_slow(Addr sp);

#endif
