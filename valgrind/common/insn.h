/* Describes an instruction, as far as VEX's IR does not: flushes and their address, kinds of
 * fences, non-temporal stores, and instructions that stock VEX cannot decode. */
#ifndef VG_INSN_H
#define VG_INSN_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "pmtrace.h"

enum insn_what {
	INSN_OTHER,
	INSN_FLUSH, /* of the line that contains its address */
	INSN_FENCE,
	INSN_NT_STORE,
	INSN_MASK_MOVE,    /* non-temporal store of selected bytes */
	INSN_STRING,       /* one store of size_bytes per element; VEX makes it a loop */
	INSN_DIRECT_STORE, /* stores size_bytes; VEX decodes neither this nor the next four */
	INSN_DIRECT_COPY,  /* copies size_bytes at once */
	INSN_DIRECT_LOAD,  /* loads size_bytes */
	INSN_CLEAR,        /* zeroes size_bytes, aligned to that size */
	INSN_HINT,
	INSN_ACQUIRE, /* a load that later accesses are ordered after */
	/* stores two registers of size_bytes each, which VEX does one after the other */
	INSN_PAIR,
	/* sets the stack pointer to a value that was computed from something else */
	INSN_SET_STACK,
};

#define INSN_BYTES_MAX 15

struct insn {
	Addr pc;
	UInt len_bytes; /* set for instructions that VEX may not decode */
	enum insn_what what;
	/* the kind of flush, fence or special store */
	enum pmt_kind event;
	UChar arg; /* argument of the event, if its kind has one: an order, an option, … */
	UInt size_bytes;
	UChar code[INSN_BYTES_MAX + 1]; /* zeros follow the end */
	/* amd64 only: what tells the memory operand; arm64 has all in the code */
	UInt prefix_bytes; /* opcode and prefixes before the ModRM byte */
	UChar rex;
	UChar segment; /* 0, or the fs: or gs: prefix */
	Bool is_addr32;
};

struct insn insn_at(Addr pc, UInt len_bytes); /* An instruction of this length that VEX decoded. */
/* Decodes the instruction at pc, which VEX did not decode. There may not even be memory at pc.
 * len_bytes is 0 if the instruction is unknown. */
struct insn insn_next(Addr pc);
/* Decodes the last instruction of a block; INSN_OTHER if the block has none. */
struct insn insn_last(const IRSB *sb);

#endif
