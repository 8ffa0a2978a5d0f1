/* Reads litmus tests, tests/litmus/RULE/NAME.litmus: a folder per rule of docs/model.md, or per platform that is not the default. A line is an operation, a setting or an expectation about a crash right there:
 *
 *	platform x86-adr		once, before all else; this one is the default
 *	T1 store a 1			8 bytes; a…m are pages of file 1, n…z of file 2; `a+8` is 8 bytes further
 *	P2T1 store.nt b 5:4		another process; 4 bytes. Longer values repeat every 8 bytes: 5:16 is 5, 5
 *	T1 rep.stosb a 5:64		a string instruction: elements of one byte; also rep.stosq, movaps
 *	T1 clwb a			also clflush, clflushopt, sfence, …: see litmus_ops[]
 *	T1 msync a 64 sync		or async
 *	meta isa=arm64			what the trace says about itself; before the operations. Also lse2=1
 *	T1 stlr a 1			also stp, str.q (a vector), dc.zva, stxr, swpal, ldar, dc.cvap, dmb.ishst, dsb.sy, …
 *	states 4			so many distinct states
 *	state a=1 b+4=0:4		this is one of them
 *	never a=0 b=1			and this is none
 *	values a 256			so many different values of these 8 bytes, however many contents the line has
 *	durable a+8			8 bytes are durable for good;  `lossy a+8`: they are not
 *
 * `#` begins a comment. */
#ifndef TESTS_UNIT_LITMUS_H
#define TESTS_UNIT_LITMUS_H

#include <ctype.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/model.h"
#include "util/error.h"

#define NPAGES 26u

enum litmus_operands { NO_OPERANDS, VALUE, ADDR, RANGE, UNMAP_RANGE, SYNC_RANGE, FILE_NUMBER };

#define BARRIERS(option, number) \
	{ "dmb." option, PMT_DMB, NO_OPERANDS, number }, { "dsb." option, PMT_DSB, NO_OPERANDS, number }

static const struct litmus_op {
	const char *name;
	enum pmt_kind kind;
	enum litmus_operands operands;
	uint64_t arg; /* the argument that the instruction itself gives */
} litmus_ops[] = {
	{ "store", PMT_STORE, VALUE, 0 },
	{ "store.nt", PMT_STORE_NT, VALUE, 0 },
	{ "store.sys", PMT_STORE_SYS, VALUE, 0 },
	{ "write", PMT_WRITE, RANGE, 0 },
	{ "rep.stosb", PMT_STORE_VECTOR, VALUE, 1 },
	{ "rep.stosq", PMT_STORE_VECTOR, VALUE, 8 },
	{ "movaps", PMT_STORE_VECTOR, VALUE, 16 },
	{ "rmw", PMT_STORE_RMW, VALUE, 0 },
	{ "cas.fail", PMT_RMW_FENCE, NO_OPERANDS, 0 },
	{ "load", PMT_LOAD, ADDR, 0 },
	{ "clflush", PMT_CLFLUSH, ADDR, 0 },
	{ "clflushopt", PMT_CLFLUSHOPT, ADDR, 0 },
	{ "clwb", PMT_CLWB, ADDR, 0 },
	{ "sfence", PMT_SFENCE, NO_OPERANDS, 0 },
	{ "mfence", PMT_MFENCE, NO_OPERANDS, 0 },
	{ "lfence", PMT_LFENCE, NO_OPERANDS, 0 },
	{ "msync", PMT_MSYNC, SYNC_RANGE, 0 },
	{ "fsync", PMT_FSYNC, FILE_NUMBER, 0 },
	{ "fdatasync", PMT_FDATASYNC, FILE_NUMBER, 0 },
	{ "unmap", PMT_UNMAP, UNMAP_RANGE, 0 },
	{ "set-clean", PMT_SET_CLEAN, RANGE, 0 },
	{ "old-bytes", PMT_OLD, RANGE, 0 },
	{ "note-flush", PMT_NOTE_FLUSH, RANGE, 0 },
	{ "note-fence", PMT_NOTE_FENCE, NO_OPERANDS, 0 },
	{ "thread-end", PMT_THREAD_END, NO_OPERANDS, 0 },
	{ "str", PMT_STORE, VALUE, 0 },
	{ "stp", PMT_STORE_PAIR, VALUE, 0 },
	{ "str.q", PMT_STORE_VECTOR, VALUE, 16 },
	{ "st1.4s", PMT_STORE_VECTOR, VALUE, 4 },
	{ "dc.zva", PMT_STORE_VECTOR, VALUE, 1 },
	{ "stlr", PMT_STORE_ORDERED, VALUE, PMT_ORDER_RELEASE },
	{ "stxr", PMT_STORE_ORDERED, VALUE, 0 },
	{ "stlxr", PMT_STORE_ORDERED, VALUE, PMT_ORDER_RELEASE },
	{ "swp", PMT_STORE_ORDERED, VALUE, PMT_ORDER_ATOMIC },
	{ "swpa", PMT_STORE_ORDERED, VALUE, PMT_ORDER_ATOMIC | PMT_ORDER_ACQUIRE },
	{ "swpl", PMT_STORE_ORDERED, VALUE, PMT_ORDER_ATOMIC | PMT_ORDER_RELEASE },
	{ "swpal", PMT_STORE_ORDERED, VALUE, PMT_ORDER_ATOMIC | PMT_ORDER_ACQUIRE | PMT_ORDER_RELEASE },
	{ "ldar", PMT_ORDER, NO_OPERANDS, PMT_ORDER_ACQUIRE },
	{ "casal.fail", PMT_ORDER, NO_OPERANDS, PMT_ORDER_ACQUIRE },
	{ "stlr.elsewhere", PMT_ORDER, NO_OPERANDS, PMT_ORDER_RELEASE },
	{ "swpal.elsewhere", PMT_ORDER, NO_OPERANDS, PMT_ORDER_ATOMIC | PMT_ORDER_ACQUIRE | PMT_ORDER_RELEASE },
	{ "dc.cvac", PMT_DC_CVAC, ADDR, 0 },
	{ "dc.civac", PMT_DC_CIVAC, ADDR, 0 },
	{ "dc.cvap", PMT_DC_CVAP, ADDR, 0 },
	{ "dc.cvadp", PMT_DC_CVADP, ADDR, 0 },
	BARRIERS("oshld", 1), BARRIERS("oshst", 2), BARRIERS("osh", 3), BARRIERS("nshld", 5), BARRIERS("nshst", 6), BARRIERS("nsh", 7),
	BARRIERS("ishld", 9), BARRIERS("ishst", 10), BARRIERS("ish", 11), BARRIERS("ld", 13), BARRIERS("st", 14), BARRIERS("sy", 15),
	BARRIERS("reserved8", 8), BARRIERS("reserved12", 12), { "dmb.reserved0", PMT_DMB, NO_OPERANDS, 0 }, { "dmb.reserved4", PMT_DMB, NO_OPERANDS, 4 },
};

#define LITMUS_FOLDER "tests/litmus/"

/* Finds the paths of all tests. -1 if there are none, a folder is empty, or a test lies outside of
 * the folders. */
static inline int litmus_find(glob_t *found, struct error *err)
{
	int result = 0;
	glob_t folders;

	*found = (glob_t){ 0 };
	if (glob(LITMUS_FOLDER "*", GLOB_MARK, NULL, &folders) != 0)
		return error_set(err, "no " LITMUS_FOLDER ": run this in the project's root");
	for (size_t i = 0; i < folders.gl_pathc && result == 0; i++) {
		char pattern[512];

		snprintf(pattern, sizeof pattern, "%s*.litmus", folders.gl_pathv[i]);
		if (pattern[strlen(folders.gl_pathv[i]) - 1] != '/')
			result = error_set(err, "%s is in no folder", folders.gl_pathv[i]);
		else if (glob(pattern, i ? GLOB_APPEND : 0, NULL, found) != 0)
			result = error_set(err, "no test in %s", folders.gl_pathv[i]);
	}
	globfree(&folders);
	return result;
}

static inline uint64_t litmus_page(unsigned page)
{
	return page < NPAGES / 2 ? PMT_ADDR(1, page * PMT_PAGE_BYTES) : PMT_ADDR(2, (page - NPAGES / 2) * PMT_PAGE_BYTES);
}

/* Parses "a+8" and gives what follows; NULL if it is no address. */
static inline const char *litmus_parse_addr(const char *s, uint64_t *addr, struct error *err)
{
	char *end;

	if (!s || !islower((unsigned char)*s)) {
		error_set(err, "expected an address, not '%s'", s ? s : "");
		return NULL;
	}
	*addr = litmus_page((unsigned)(*s++ - 'a'));
	if (*s == '+') {
		*addr += strtoul(s + 1, &end, 0);
		s = end;
	}
	return s;
}

/* Parses "5" or "5:4". */
static inline int litmus_parse_value(const char *s, uint8_t *bytes, uint32_t *size_bytes, struct error *err)
{
	uint64_t value;
	char *end;

	if (!s)
		return error_set(err, "a value is missing");
	value = strtoull(s, &end, 0);
	*size_bytes = *end == ':' ? (uint32_t)strtoul(end + 1, &end, 0) : 8;
	if (end == s || *end || *size_bytes == 0 || *size_bytes > PMT_STORE_MAX_BYTES)
		return error_set(err, "bad value '%s'", s);
	for (uint32_t i = 0; i < *size_bytes; i++)
		bytes[i] = (uint8_t)(value >> 8 * (i % 8));
	return 0;
}

static inline int litmus_parse_number(const char *s, uint64_t *n, struct error *err)
{
	char *end;

	*n = s ? strtoull(s, &end, 0) : 0;
	if (!s || end == s || *end)
		return error_set(err, "expected a number, not '%s'", s ? s : "");
	return 0;
}

static inline const struct litmus_op *litmus_op_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof litmus_ops / sizeof *litmus_ops; i++)
		if (strcmp(litmus_ops[i].name, name) == 0)
			return &litmus_ops[i];
	return NULL;
}

static inline int litmus_parse_operands(enum litmus_operands operands, char **rest, struct trace_event *ev, uint8_t *bytes, struct error *err)
{
	const char *word;

	switch (operands) {
	case VALUE:
		if (litmus_parse_value(strtok_r(NULL, " \t", rest), bytes, &ev->size_bytes, err) < 0)
			return -1;
		ev->data = bytes;
		ev->data_len = ev->size_bytes;
		return 0;
	case RANGE:
	case FILE_NUMBER:
		return litmus_parse_number(strtok_r(NULL, " \t", rest), &ev->arg[0], err);
	case UNMAP_RANGE:
		return litmus_parse_number(strtok_r(NULL, " \t", rest), &ev->arg[1], err);
	case SYNC_RANGE:
		if (litmus_parse_number(strtok_r(NULL, " \t", rest), &ev->arg[0], err) < 0)
			return -1;
		word = strtok_r(NULL, " \t", rest);
		ev->arg[1] = word && strcmp(word, "sync") == 0 ? MS_SYNC : MS_ASYNC;
		return 0;
	case NO_OPERANDS:
	case ADDR:
		return 0;
	}
	return 0;
}

/* Parses the rest of a line after "T1" or "P2T1", which is `who`. `bytes` (PMT_STORE_MAX_BYTES)
 * gets what is stored. */
static inline int litmus_parse_op(const char *who, char **rest, struct trace_event *ev, uint8_t *bytes, struct error *err)
{
	const char *name = strtok_r(NULL, " \t", rest), *word;
	const struct litmus_op *op = litmus_op_find(name);
	int end = 0;

	ev->thread = 1;
	if (sscanf(who, "P%uT%u%n", &ev->stream, &ev->thread, &end) < 2 && sscanf(who, "T%u%n", &ev->thread, &end) < 1)
		return error_set(err, "no thread '%s'", who);
	if (!op)
		return error_set(err, "no operation '%s'", name ? name : "");
	ev->kind = op->kind;
	ev->arg[0] = op->arg;
	if (op->operands != NO_OPERANDS && op->operands != FILE_NUMBER) {
		word = litmus_parse_addr(strtok_r(NULL, " \t", rest), &ev->addr, err);
		if (!word || *word)
			return word ? error_set(err, "'%s' after an address", word) : -1;
	}
	if (litmus_parse_operands(op->operands, rest, ev, bytes, err) < 0)
		return -1;
	word = strtok_r(NULL, " \t", rest);
	return word ? error_set(err, "'%s' is too much", word) : 0;
}

#endif
