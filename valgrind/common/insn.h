/* One instruction, as far as VEX's IR does not tell it: flushes and their address, kinds of fence,
 * non-temporal stores, and what stock VEX cannot decode. */
#ifndef VG_INSN_H
#define VG_INSN_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "pmtrace.h"

enum insn_what {
	INSN_OTHER,
	INSN_FLUSH, /* of the line that its address is in */
	INSN_FENCE,
	INSN_NT_STORE,
	INSN_MASK_MOVE,    /* non-temporal, selected bytes */
	INSN_STRING,       /* a store for each element, of size_bytes; VEX makes a loop of it */
	INSN_DIRECT_STORE, /* of size_bytes; VEX does not decode it, nor the next four */
	INSN_DIRECT_COPY,  /* of size_bytes, at once */
	INSN_DIRECT_LOAD,  /* of size_bytes */
	INSN_CLEAR,        /* of size_bytes, aligned to them */
	INSN_HINT,
	INSN_ACQUIRE, /* a load that later accesses come after */
	/* a store of two registers, size_bytes each, which VEX does one after the other */
	INSN_PAIR,
	INSN_SET_STACK, /* gives the stack pointer a value that was computed from something else */
};

#define INSN_BYTES_MAX 15

struct insn {
	Addr pc;
	UInt len_bytes; /* set for those that VEX may not decode */
	enum insn_what what;
	/* of a flush or fence: which one. Of a store: which one, if it is not plain */
	enum pmt_kind event;
	UChar arg; /* of the event, if the kind has one: an order, an option… */
	UInt size_bytes;
	UChar code[INSN_BYTES_MAX + 1]; /* zeros behind the end */
	/* the memory operand on amd64; arm64 has all in the code */
	UInt prefix_bytes; /* before the ModRM byte: opcode and prefixes */
	UChar rex;
	UChar segment; /* 0, or the fs: or gs: prefix */
	Bool is_addr32;
};

struct insn insn_at(Addr pc, UInt len_bytes); /* one that VEX decoded, of that length */
/* one that it did not: nothing is known, not even whether there is memory; len_bytes 0: there is
 * none */
struct insn insn_next(Addr pc);
struct insn insn_last(const IRSB *sb); /* the last one of a block; INSN_OTHER if it has none */

#endif
