/* persist.h - write-back and ordering, by hand */
#ifndef PERSIST_H
#define PERSIST_H

#include <stdint.h>

#define CACHELINE 64

#if defined(__aarch64__)
#define CLWB(addr) __asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" :: "r"(addr) : "memory")
#define SFENCE() __asm__ volatile("dsb ish" ::: "memory")
#else
#define CLWB(addr) __asm__ volatile("clwb %0" : "+m"(*(volatile char *)(addr)) :: "memory")
#define SFENCE() __asm__ volatile("sfence" ::: "memory")
#endif

/* Writes back all lines of [addr, addr + len). */
#define FLUSH(addr, len)                                                        \
	do {                                                                    \
		uintptr_t _l = (uintptr_t)(addr) & ~(uintptr_t)(CACHELINE - 1); \
		for (; _l < (uintptr_t)(addr) + (len); _l += CACHELINE)         \
			CLWB((void *)_l);                                       \
	} while (0)

#define PERSIST(addr, len)         \
	do {                       \
		FLUSH(addr, len);  \
		SFENCE();          \
	} while (0)

/* Stores one word and makes it durable. */
#define STORE_PERSIST(lvalue, val)  \
	do {                        \
		(lvalue) = (val);   \
		CLWB(&(lvalue));    \
		SFENCE();           \
	} while (0)

/* The same for single bits of a bitmap. */
#define BIT_SET(map, n)                                          \
	do {                                                     \
		(map)[(n) / 64] |= UINT64_C(1) << ((n) % 64);    \
		CLWB(&(map)[(n) / 64]);                          \
		SFENCE();                                        \
	} while (0)

#define BIT_CLEAR(map, n)                                        \
	do {                                                     \
		(map)[(n) / 64] &= ~(UINT64_C(1) << ((n) % 64)); \
		CLWB(&(map)[(n) / 64]);                          \
		SFENCE();                                        \
	} while (0)

#define BIT_TEST(map, n) ((map)[(n) / 64] >> ((n) % 64) & 1)

#endif
