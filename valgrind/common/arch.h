/* Declares what depends on the processor, for both Valgrind tools. Each folder of arch/ defines all
 * of it; no other code asks which processor it is. */
#ifndef VG_ARCH_H
#define VG_ARCH_H

#include "valgrind/common/complete.h"
#include "valgrind/common/insn.h"

/* ---- registers, as offsets in the guest state ---- */
extern const Int arch_sp_offset, arch_result_offset; /* result: of a function or system call */
extern const Int arch_number_offset;                 /* number of a system call */
/* number of elements that an INSN_STRING has left after it stored one */
extern const Int arch_count_offset;
extern const UInt arch_guest_bytes; /* size of the guest state */
Int arch_argument_offset(UInt n);   /* n-th argument of a function, from 0; there are six */

/* Makes the last of nargs arguments of a call the address of the guest registers, IRExpr_GSPTR().
 * If VEX's code generator cannot pass that, *f becomes a function that adds it and calls the
 * original. */
void arch_pass_registers(IRExpr **args, UInt nargs, void **f);

/* Makes the running thread give up the processor before the next block. guest: its registers.
 * False: not now, because that would break what it does. */
Bool arch_give_up(void *guest);

/* ---- the stack ---- */
extern const UInt arch_return_bytes;   /* by how much a return raises the stack pointer */
extern const UInt arch_red_zone_bytes; /* bytes below the stack pointer that are in use */
/* Asks whether an instruction that VEX takes for a call really calls, so that the callee returns
 * behind it. */
Bool arch_is_call(Addr pc);
/* True: Valgrind's unwinder may stop at a signal's trampoline, and names the caller of the dynamic
 * linker's resolver twice, followed by garbage. */
extern const Bool arch_unwinder_gets_lost;
/* True: atomics and exclusive stores order as their own bits say. False: all are full fences. */
extern const Bool arch_is_weak;

/* ---- instructions ---- */
/* Decodes INSN_BYTES_MAX + 1 bytes; zeros follow the end of the code. */
struct insn arch_decode(Addr pc, const UChar *code);
/* Adds IR that computes the address of the memory operand; gives an atom. */
IRExpr *arch_address(IRSB *sb, const struct insn *insn);
/* Finds which bytes an INSN_MASK_MOVE stores: those whose highest bit is set in *lo and *hi. Its
 * statements begin at first_stmt. False if unknown. */
Bool arch_find_mask(const IRSB *in, Int first_stmt, UInt size_bytes, IRExpr **lo, IRExpr **hi);

/* ---- for complete.c ---- */
/* Adds IR for added->insn and says what it stores and loads. False if the instruction is
 * unknown. */
Bool arch_add_insn(IRSB *sb, struct added_insn *added);
Bool arch_add_stmt(IRSB *sb, IRStmt *st);

/* ---- the kernel ---- */
/* Makes a system call. Gives its result, or a negative errno if it fails. */
Long arch_syscall(Long number, Long a, Long b, Long c, Long d, Long e, Long f);

/* ---- the machine ---- */
/* Calls tell() for each fact that a trace must contain about the machine. */
void arch_describe(void (*tell)(const HChar *key, const HChar *value));
/* Shows the program processor features that Valgrind hides. Called when the program begins, with
 * its stack pointer. */
void arch_begin(Addr sp);

#endif
