/* The shadow of registers, by where they are in the guest state. */
#ifndef TRACER_REGISTERS_H
#define TRACER_REGISTERS_H

#include "valgrind/tracer/value/value.h"

#define REG_BYTES_MAX 4096
/* a bit for each group of registers that may be symbolic (see reg_bit); of the running thread */
extern ULong g_dirty_regs;
ULong reg_bit(Int offset);
/* what it is, as the machine has that value in it */
struct val reg_get(UInt offset, UInt nbytes, ULong concrete);
void reg_put(UInt offset, UInt nbytes, struct val v);
void reg_switch(ThreadId tid);
void reg_forget(ThreadId tid, UInt offset, UInt nbytes);

#endif
