/* What depends on the processor, for both tools. A folder of arch/ defines all of it; nothing else
 * asks which processor it is. */
#ifndef VG_ARCH_H
#define VG_ARCH_H

#include "valgrind/common/complete.h"
#include "valgrind/common/insn.h"

/* ---- registers, by where they are in the guest state ---- */
extern const Int arch_sp_offset, arch_result_offset; /* result: of a function or system call */
extern const Int arch_number_offset;                 /* of a system call */
/* of the elements that an INSN_STRING has left, when it has stored one */
extern const Int arch_count_offset;
extern const UInt arch_guest_bytes; /* all of the state */
Int arch_argument_offset(UInt n);   /* of a function, from 0; there are six */

/* The last of so many arguments of a call is where the registers are, IRExpr_GSPTR(). If VEX's code
 * generator cannot pass that, another function takes the place of *f, and calls it with it. */
void arch_pass_registers(IRExpr **args, UInt nargs, void **f);

/* ---- the stack ---- */
extern const UInt arch_return_bytes;   /* how far a return raises the stack pointer */
extern const UInt arch_red_zone_bytes; /* below the stack pointer, in use nevertheless */
Bool arch_is_call(Addr pc);            /* an instruction that VEX takes for a call: it comes back */
/* True: Valgrind's unwinder may end at a signal's trampoline, and names the caller of the dynamic
 * linker's resolver twice, then anything. */
extern const Bool arch_unwinder_gets_lost;
/* True: atomics and exclusive stores order as their own bits say. False: all of them are full
 * fences. */
extern const Bool arch_is_weak;

/* ---- instructions ---- */
/* INSN_BYTES_MAX + 1 bytes, zeros behind the end */
struct insn arch_decode(Addr pc, const UChar *code);
/* adds IR that computes the memory operand's address; an atom */
IRExpr *arch_address(IRSB *sb, const struct insn *insn);
/* Which bytes an INSN_MASK_MOVE selects, whose statements begin there: those with the highest bit
 * set. False: it is not told. */
Bool arch_find_mask(const IRSB *in, Int first_stmt, UInt size_bytes, IRExpr **lo, IRExpr **hi);

/* ---- for complete.c ---- */
/* adds IR that does what added->insn does, and says so; False: unknown */
Bool arch_add_insn(IRSB *sb, struct added_insn *added);
Bool arch_add_stmt(IRSB *sb, IRStmt *st);

/* ---- the kernel ---- */
/* a negative errno when it fails */
Long arch_syscall(Long number, Long a, Long b, Long c, Long d, Long e, Long f);

/* ---- the machine ---- */
/* what a trace must say of it */
void arch_describe(void (*tell)(const HChar *key, const HChar *value));
/* the program is about to begin, with this stack pointer: shows it what the processor has and
 * Valgrind hides */
void arch_begin(Addr sp);

#endif
