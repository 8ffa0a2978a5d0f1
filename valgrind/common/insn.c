/* Copies the bytes of an instruction from the program's memory and lets arch/ decode them. Bytes
 * beyond the end of the memory are 0. */
#include "valgrind/common/arch.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#define PAGE_MASK 0xfffu

struct insn insn_at(Addr pc, UInt len_bytes)
{
	UChar code[INSN_BYTES_MAX + 1] = { 0 };

	if (len_bytes == 0 || len_bytes > INSN_BYTES_MAX)
		return (struct insn){ .pc = pc };
	VG_(memcpy)(code, (const void *)pc, len_bytes);
	return arch_decode(pc, code);
}

static UInt code_copy(UChar *to, Addr from)
{
	UInt n = 0;

	for (; n < INSN_BYTES_MAX; n++) {
		if ((n == 0 || ((from + n) & PAGE_MASK) == 0) &&
		    !VG_(am_is_valid_for_client)(from + n, 1, VKI_PROT_READ))
			break;
		to[n] = *(const UChar *)(from + n);
	}
	return n;
}

struct insn insn_next(Addr pc)
{
	UChar code[INSN_BYTES_MAX + 1] = { 0 };

	return code_copy(code, pc) == 0 ? (struct insn){ .pc = pc } : arch_decode(pc, code);
}

struct insn insn_last(const IRSB *sb)
{
	for (Int i = sb->stmts_used; i-- > 0;) {
		const IRStmt *st = sb->stmts[i];

		if (st != NULL && st->tag == Ist_IMark)
			return insn_at(st->Ist.IMark.addr, st->Ist.IMark.len);
	}
	return (struct insn){ 0 };
}
