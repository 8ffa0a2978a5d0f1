/* Reads and writes the shadow of registers, by their offset in the guest state. */
#ifndef TRACER_REGISTERS_H
#define TRACER_REGISTERS_H

#include "valgrind/tracer/value/value.h"

#define REG_BYTES_MAX 4096
/* a bit per group of registers of the running thread that may be symbolic (reg_bit()) */
extern ULong g_dirty_regs;
ULong reg_bit(Int offset);
/* Reads nbytes bytes of a register. concrete: the value that the machine has in it. */
struct val reg_get(UInt offset, UInt nbytes, ULong concrete);
void reg_put(UInt offset, UInt nbytes, struct val v);
void reg_switch(ThreadId tid);
void reg_forget(ThreadId tid, UInt offset, UInt nbytes);

#endif
