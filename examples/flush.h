/* How a program makes persistent memory durable, on x86-64 and on arm64: each line that was stored
 * to is flushed, then one fence waits for the flushes. (libpmem's pmem_persist() chooses by what
 * the processor has.) */
#ifndef FLUSH_H
#define FLUSH_H

#ifdef __x86_64__
#define flush_line(p) __asm__ volatile("clwb (%0)" : : "r"(p) : "memory")
#define fence() __asm__ volatile("sfence" : : : "memory")
#else
#define flush_line(p) __asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(p) : "memory")
#define fence() __asm__ volatile("dsb sy" : : : "memory")
#endif

#endif
