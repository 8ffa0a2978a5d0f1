/* The path file: what the tracer (valgrind/tracer/, a Valgrind tool) tells `pmend explore` about
 * one run. Little-endian, append-only:
 *
 *	struct pmp_header
 *	struct pmp_record [bytes]      again and again; a record of a kind that has bytes is
 *	                               followed by them, padded to 8
 *
 * A run that is killed leaves all whole records before that. Expressions (explore/expr/expr.h) are
 * written before what uses them. */
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
	/* id of a condition (1 bit); flag: which way it went; k: pc; x: where it went; y: the other
	 * way */
	PMP_BRANCH,
	/* id of an expression that was taken as concrete; x: its value; flag: enum pmp_pin; k:
	 * pc */
	PMP_PIN,
	/* before a branch or pin, if changed: bytes: return addresses, innermost first */
	PMP_STACK,
	PMP_JUMP, /* k: pc of an indirect jump or call; x: where it went; once each */
	/* x: address of its first text byte; y: that minus its address in the file's own numbering;
	 * k: length; bytes: path */
	PMP_OBJECT,
	/* k: the first address of a block that is about to be run for the first time; x: its bytes,
	 * all of which run unless a branch leaves it */
	PMP_COVER,
	PMP_COUNT, /* k: how often something happened; bytes: what, as text for people */
	/* k: pc; x: the value that the expression has; y: the one that the machine computed; bytes:
	 * the operation (--check only) */
	PMP_BAD,
	PMP_END, /* k: exit status, -1 if it did not exit; the file is complete */
	/* flag: enum pmp_word; k: where bytes begin that are no input, but stand for what a
	 * function found out about a word of it; x, y: where that begins, and its bytes; arg[0],
	 * arg[1]: the lower and upper half of what was found out */
	PMP_WORD,
	/* k: pc; x: where in the input a word begins; y: its bytes; bytes: what it was compared
	 * with, of another length */
	PMP_TOKEN,
};

/* What the loaded library asks of the tracer, as a client request. */
/* 'P' 'T'; two strings that are not equal, and how many of their bytes count */
#define PMP_REQ_COMPARED 0x50540000

/* enum pmp_word; where a word begins; its bytes; where 8 bytes are that hold what was found out
 * about it, and become symbolic */
#define PMP_REQ_WORD 0x50540001

enum pmp_word { PMP_WORD_LENGTH, PMP_WORD_NUMBER /* in decimal */ };

enum pmp_pin { PMP_PIN_ADDRESS, PMP_PIN_JUMP, PMP_PIN_GUARD /* of an access; 1 bit */ };

struct pmp_record {
	uint8_t kind;
	uint8_t op, width; /* or 0 */
	uint8_t flag;
	uint32_t id;
	uint32_t arg[3];
	uint32_t nbytes; /* that follow, without padding */
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
