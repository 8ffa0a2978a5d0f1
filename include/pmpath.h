/* The path file: what the tracer (valgrind/tracer/, a Valgrind tool) tells `pmend explore` about
 * one run. Little-endian, append-only:
 *
 *	struct pmp_header
 *	struct pmp_record [bytes]     repeated; some kinds are followed by bytes, padded to 8
 *
 * If a run is killed, all complete records remain. An expression (explore/expr/expr.h) comes before
 * the records that use it. */
#ifndef PMPATH_H
#define PMPATH_H

#include <stdint.h>

#define PMP_MAGIC "PMPATH\r\n"
#define PMP_VERSION 3

struct pmp_header {
	char magic[8];
	uint32_t version;
	uint32_t record_bytes;
};

enum pmp_kind {
	PMP_EXPR = 1, /* id; op, width; arg[0..2]; k */
	PMP_TABLE,    /* id; bytes: EXPR_TABLE_ENTRIES values of 8 bytes */
	/* id of a condition (1 bit); flag: its value; k: pc; x: where it went; y: the other side */
	PMP_BRANCH,
	/* id of an expression that was taken as concrete; x: its value; flag: enum pmp_pin; k:
	 * pc */
	PMP_PIN,
	/* comes before a branch or pin if the stack has changed: return addresses, innermost
	 * first */
	PMP_STACK,
	PMP_JUMP, /* an indirect jump or call, once per pair; k: its pc; x: where it went */
	/* x: address of its first text byte; y: that minus its address in the file; k: length;
	 * bytes: path */
	PMP_OBJECT,
	/* a block that is about to run for the first time; k: its address; x: its bytes, all of
	 * which run unless a branch leaves it */
	PMP_COVER,
	PMP_COUNT, /* k: how often something happened; bytes: what, in words */
	/* with --check: k: pc; x: value of the expression; y: value that the machine computed;
	 * bytes: the operation */
	PMP_BAD,
	PMP_END, /* the file is complete; k: exit status, -1 if it did not exit */
	/* flag: enum pmp_word; k: index of 8 symbolic bytes after the input, which stand for what a
	 * function found out about a word; x, y: where the word begins, and its length; arg[0],
	 * arg[1]: lower and upper half of what was found out */
	PMP_WORD,
	/* k: pc; x: where a word of the input begins; y: its length; bytes: the word of another
	 * length that it was compared with */
	PMP_TOKEN,
};

/* Client requests of the preloaded library to the tracer: */
/* 'P' 'T'; two strings that differ, and how many of their bytes count */
#define PMP_REQ_COMPARED 0x50540000

/* enum pmp_word; where a word begins; its length; the address of the 8 bytes that hold what was
 * found out about it, and become symbolic */
#define PMP_REQ_WORD 0x50540001

enum pmp_word { PMP_WORD_LENGTH, PMP_WORD_NUMBER /* in decimal */ };

enum pmp_pin {
	PMP_PIN_ADDRESS,
	PMP_PIN_JUMP,
	PMP_PIN_GUARD /* whether a conditional access is made; 1 bit */
};

struct pmp_record {
	uint8_t kind;
	uint8_t op, width; /* of a PMP_EXPR, else 0 */
	uint8_t flag;
	uint32_t id;
	uint32_t arg[3];
	uint32_t nbytes; /* how many bytes follow, without padding */
	uint64_t k, x, y;
};

#define PMP_PAD(nbytes) (((uint64_t)(nbytes) + 7) & ~7ULL)

#ifdef __cplusplus
static_assert(sizeof(struct pmp_record) == 48, "on disk");
#else
_Static_assert(sizeof(struct pmp_record) == 48, "on disk");
_Static_assert(sizeof(struct pmp_header) == 16, "on disk");
#endif

#endif
