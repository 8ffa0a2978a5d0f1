/* Annotations for a program under test. All are optional and do nothing unless pmend runs the
 * program.
 *
 * Copyright 2026 the pmend authors. Redistribution and use in source and binary forms, with or
 * without modification, are permitted provided that this notice is kept. THIS FILE IS PROVIDED "AS
 * IS", WITHOUT WARRANTY OF ANY KIND. (BSD 1-clause; unlike the rest of pmend, so that you may
 * include it anywhere.)
 *
 * Under the recorder they are Valgrind client requests; in a native run they call
 * pmend_rt_annotate(), a weak symbol that pmend's preloaded runtime defines. Elsewhere they cost a
 * test of that symbol and a few rotates of one register.
 */
#ifndef PMEND_H
#define PMEND_H

/* pmend's own tools need nothing but the numbers, and have no C library */
#ifndef PMEND_REQUESTS_ONLY
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#endif
#include <stdint.h>

enum pmend_request {
	PMEND_REQUEST_BASE = 0x504d0000, /* 'P' 'M' */
	PMEND_REQ_ROI_BEGIN = PMEND_REQUEST_BASE,
	PMEND_REQ_ROI_END,
	PMEND_REQ_FAILURE_POINT,
	PMEND_REQ_SKIP_FAILURE_BEGIN,
	PMEND_REQ_SKIP_FAILURE_END,
	PMEND_REQ_SKIP_CHECK_BEGIN,
	PMEND_REQ_SKIP_CHECK_END,
	PMEND_REQ_COMMIT_VAR,     /* address, size */
	PMEND_REQ_COMMIT_RANGE,   /* variable, address, size */
	PMEND_REQ_OP_BEGIN,       /* name */
	PMEND_REQ_OP_END,         /* name */
	PMEND_REQ_ASSERT_DURABLE, /* address, size */
	PMEND_REQ_ASSERT_ORDERED, /* a, size, b, size */
	PMEND_REQ_IGNORE,         /* address, size */
	PMEND_REQ_IN_RECOVERY,
	PMEND_REQ_DONE,
	PMEND_REQ_SYMBOLIC, /* size; gives 1 + its place in the input, or 0 */
	PMEND_REQ_LOCK,     /* address of the lock */
	PMEND_REQ_UNLOCK,   /* likewise */
	PMEND_REQUEST_END
};

#ifndef PMEND_REQUESTS_ONLY
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) uint64_t pmend_rt_annotate(uint64_t request, uint64_t a, uint64_t b,
						 uint64_t c, uint64_t d);
#ifdef __cplusplus
}
#endif

static inline uint64_t pmend_annotate(uint64_t request, uint64_t a, uint64_t b, uint64_t c,
				      uint64_t d)
{
	uint64_t result = 0;

	if (pmend_rt_annotate)
		return pmend_rt_annotate(request, a, b, c, d);
#if defined(__x86_64__)
	/* Valgrind's request sequence for amd64: the rotates add up to 128 bits, so nothing changes
	 * on a real CPU. */
	volatile uint64_t block[6] = { request, a, b, c, d, 0 };
	__asm__ volatile(
		"rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
		: "=d"(result)
		: "a"(&block[0]), "0"(result)
		: "cc", "memory");
#elif defined(__aarch64__)
	/* The one for arm64, where the rotates add up to 128 bits, too. */
	volatile uint64_t block[6] = { request, a, b, c, d, 0 };
	register uint64_t x3 __asm__("x3") = result;
	register volatile uint64_t *x4 __asm__("x4") = block;
	__asm__ volatile(
		"ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10, x10"
		: "+r"(x3)
		: "r"(x4)
		: "cc", "memory");
	result = x3;
#else
	(void)request, (void)a, (void)b, (void)c, (void)d;
#endif
	return result;
}

#define PMEND__CALL(name, a, b, c, d) \
	((void)pmend_annotate(PMEND_REQ_##name, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), \
			      (uint64_t)(d)))

#define PMEND_SYMBOLIC_VARIABLE "PMEND_SYMBOLIC_FILE"

static inline void pmend_symbolic(void *addr, size_t len)
{
	uint64_t place = pmend_annotate(PMEND_REQ_SYMBOLIC, (uint64_t)len, 0, 0, 0);
	const char *file = place ? getenv(PMEND_SYMBOLIC_VARIABLE) : NULL;
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	unsigned char *to = (unsigned char *)addr, byte;

	if (fd < 0)
		return;
	/* one by one: the store is the program's, also where it goes to persistent memory */
	for (size_t i = 0; i < len && pread(fd, &byte, 1, (off_t)(place - 1 + i)) == 1; i++)
		to[i] = byte;
	close(fd);
}

/* Under `pmend explore --sym-memory`, these bytes become part of the input. Otherwise they do not
 * change. */
#define PMEND_SYMBOLIC(addr, size) pmend_symbolic(addr, size)
/* The region of interest: pmend analyses only this code. Without any region, it analyses
 * everything. */
#define PMEND_ROI_BEGIN() PMEND__CALL(ROI_BEGIN, 0, 0, 0, 0)
#define PMEND_ROI_END() PMEND__CALL(ROI_END, 0, 0, 0, 0)
/* An additional failure point: crash here, too. */
#define PMEND_FAILURE_POINT() PMEND__CALL(FAILURE_POINT, 0, 0, 0, 0)
/* Trusted code: pmend adds no failure points (SKIP_FAILURE) and reports no findings (SKIP_CHECK) in
 * it. */
#define PMEND_SKIP_FAILURE_BEGIN() PMEND__CALL(SKIP_FAILURE_BEGIN, 0, 0, 0, 0)
#define PMEND_SKIP_FAILURE_END() PMEND__CALL(SKIP_FAILURE_END, 0, 0, 0, 0)
#define PMEND_SKIP_CHECK_BEGIN() PMEND__CALL(SKIP_CHECK_BEGIN, 0, 0, 0, 0)
#define PMEND_SKIP_CHECK_END() PMEND__CALL(SKIP_CHECK_END, 0, 0, 0, 0)
/* COMMIT_VAR: this variable decides whether other data is valid. COMMIT_RANGE: the data that it
 * decides about. If it is the only variable and has no range, it decides about all of PM. What PM
 * holds at this moment is initial content. Later stores are valid if they came between the last two
 * writes of the variable. */
#define PMEND_COMMIT_VAR(addr, size) PMEND__CALL(COMMIT_VAR, addr, size, 0, 0)
#define PMEND_COMMIT_RANGE(var, addr, size) PMEND__CALL(COMMIT_RANGE, var, addr, size, 0)
/* An operation that must be atomic with respect to crashes. */
#define PMEND_OP_BEGIN(name) PMEND__CALL(OP_BEGIN, (const char *)(name), 0, 0, 0)
#define PMEND_OP_END(name) PMEND__CALL(OP_END, (const char *)(name), 0, 0, 0)
/* ASSERT_DURABLE: these bytes are durable now. ASSERT_ORDERED: a became durable before b could. */
#define PMEND_ASSERT_DURABLE(addr, size) PMEND__CALL(ASSERT_DURABLE, addr, size, 0, 0)
#define PMEND_ASSERT_ORDERED(a, asize, b, bsize) PMEND__CALL(ASSERT_ORDERED, a, asize, b, bsize)
/* These bytes are intentionally volatile: recovery does not need them. */
#define PMEND_IGNORE(addr, size) PMEND__CALL(IGNORE, addr, size, 0, 0)
/* This thread has taken the lock at addr; it is about to give it back. For locks that pmend
 * does not know, with --threads. */
#define PMEND_LOCK(addr) PMEND__CALL(LOCK, addr, 0, 0, 0)
#define PMEND_UNLOCK(addr) PMEND__CALL(UNLOCK, addr, 0, 0, 0)
/* True if this is a run of recovery after a simulated crash. */
#define PMEND_IN_RECOVERY() (pmend_annotate(PMEND_REQ_IN_RECOVERY, 0, 0, 0, 0) != 0)
/* Ends the post-failure stage: recovery exits with 0 here. */
#define PMEND_DONE() PMEND__CALL(DONE, 0, 0, 0, 0)

#endif
#endif
