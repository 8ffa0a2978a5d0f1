/* What Valgrind's IR does not tell about an x86-64 instruction: flushes and their address, kinds of fence, non-temporal
 * stores, and instructions that stock VEX cannot decode. */
#ifndef REC_DECODE_H
#define REC_DECODE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

enum insn_what {
	INSN_OTHER,
	INSN_CLFLUSH,
	INSN_CLFLUSHOPT,
	INSN_CLWB,
	INSN_SFENCE,
	INSN_MFENCE,
	INSN_LFENCE,
	INSN_NT_STORE,
	INSN_MASK_MOVE,	 /* maskmovq, maskmovdqu: non-temporal, selected bytes */
	INSN_MOVDIRI,	 /* a direct store of 4 or 8 bytes: like non-temporal */
	INSN_MOVDIR64B, /* of 64 bytes, at once */
	INSN_CLDEMOTE,	 /* a hint */
};

struct insn {
	enum insn_what what;
	UInt len_bytes;	   /* set for those that VEX may not decode */
	UInt size_bytes;   /* of INSN_MOVDIRI */
	UInt prefix_bytes; /* before the ModRM byte: opcode and prefixes */
	UChar rex;
	UChar segment;	   /* 0, or the fs: or gs: prefix */
	Bool is_addr32;
};

struct insn insn_decode(const UChar *code);

/* Adds IR that computes the memory operand's address, and returns it as an atom. pc is the guest address of code. */
IRExpr *insn_address(IRSB *sb, const UChar *code, const struct insn *insn, Addr pc);
/* The register operand's number, 0 to 15. */
UInt insn_register(const UChar *code, const struct insn *insn);
Int insn_register_offset(UInt reg); /* in the guest state */

#endif
