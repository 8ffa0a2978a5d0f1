/* What the runtime asks of the processor, and of Linux where that depends on it. runtime/arch/NAME/
 * defines all of it; nothing else in runtime/ knows registers, instructions, the layout of a signal
 * frame, or system calls that one architecture alone has. Everything here may be called in a signal
 * handler, except where it says so. */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "call_tables.h"

/* Before everything else, in each process; not in a handler. */
void arch_init(void);
const char *arch_refusal(void); /* why no program can be watched in this process; NULL: it can */
extern const uint16_t arch_elf_machine; /* e_machine of programs that can load this library */
extern const uint32_t arch_call_bytes;  /* of a system call instruction */

/* ---- the frame of a signal: where the program was interrupted ---- */

enum { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_FETCH = 4 };

uint64_t frame_pc(const ucontext_t *uc);
void frame_set_pc(ucontext_t *uc, uint64_t pc);
uint64_t frame_sp(const ucontext_t *uc);
uint32_t frame_fault(const ucontext_t *uc); /* what the access that faulted wanted: ACCESS_… */
/* At rt_sigreturn: the frame of the program's own handler. */
ucontext_t *frame_of_sigreturn(const ucontext_t *uc);
/* Where the return address of a function is kept whose stack pointer is `from` and whose caller's
 * is `cfa`: on the stack, or, of the one that was interrupted, in a register. The number is for
 * frame_has_return(); 0: not found. */
uint64_t frame_return_slot(const ucontext_t *uc, uint64_t from, uint64_t cfa, uint64_t address);
bool frame_has_return(const ucontext_t *uc, uint64_t slot, uint64_t address);
typedef bool frame_write_fn(uint64_t to, const void *from, size_t n);
/* A copy of the frame below `at`, written by `write`, for a child that clone() is about to make
 * with this stack: it sees the result 0. own: its alternate signal stack; NULL: as it is. 0: that
 * cannot be written. */
uint64_t frame_child(const ucontext_t *uc, uint64_t at, uint64_t stack, const stack_t *own,
		     frame_write_fn *write);
/* When our handler returns, the program's handler of a signal is called, as the kernel would call
 * it, with a frame of its own below `stack`, but not below `end`. Its mask is the frame's from now
 * on. False: the frame cannot be written, and nothing has changed. */
struct frame_handler {
	uint64_t function, restorer, mask;
	uint64_t mask_after; /* which the frame tells; frame_is_delivered() knows it again */
	uint64_t stack, end;
};
bool frame_is_delivered(const ucontext_t *uc);
bool frame_deliver(ucontext_t *uc, int sig, const siginfo_t *si, const struct frame_handler *h,
		   frame_write_fn *write);
extern const uint32_t arch_red_bytes; /* below the stack pointer, which are in use */

/* ---- the gate: the only place of the process from which system calls go to the kernel; all others
 * end in a signal ---- */

/* These two are known after arch_init(). */
extern int gate_signal; /* SIGSYS or SIGILL */
/* rt_sigreturn of the program's own handlers is caught, like any other call */
extern bool gate_sees_return;

/* A system call that is let through; returns -errno. */
long rt_syscall(long number, long a, long b, long c, long d, long e, long f);
/* In a process whose children will call gate_arm(): what can be done for all of them at once. True:
 * calls may be caught from now on, here, too. */
bool gate_prepare(void);
/* Catches the system calls of this thread from now on; a child of fork() calls it again. False:
 * this is not possible here. */
bool gate_arm(void);
extern const char gate_lack[]; /* why not */
/* The program has made this memory executable, or mapped it so. False: calls that are made there
 * cannot be caught. */
bool gate_watch(uint64_t start, uint64_t end);
/* Does this gate_signal stand for a caught call? */
bool gate_is_call(const siginfo_t *si);
/* Its number and arguments; the frame is behind it. False: it is one of another kind (32 bits). */
bool gate_call(const siginfo_t *si, ucontext_t *uc, long *number, long a[6]);
void gate_set_result(ucontext_t *uc, long result);
/* The call would undo gate_arm(). */
bool gate_is_escape(long number, const long a[6]);

/* Lets the program make the call itself when the handler returns, with its own mask and stack, so
 * that signals and restarts are as they always are. `back` is needed until the call is done. It is
 * in the handler's frame if that is on the program's stack: it lies beyond what is in use of it.
 * NULL: there is none. False: the program's stack cannot be written. */
struct gate_return {
	uint64_t pc, sp;
};
bool gate_pass(ucontext_t *uc, struct gate_return *back);

/* The restorer of our signal handlers. Unwinders must know it for a signal frame. */
extern const char rt_restore[];
/* rt_sigreturn with the frame whose ucontext is here. */
_Noreturn void rt_return_to(void *uc);
/* clone or clone3 with a stack of its own for the child, which arms the gate for itself and
 * continues as child_uc says. */
long rt_clone(long number, const long args[6], void *child_uc);

/* Copies bytes, some of which may be inaccessible: how many were not copied. */
size_t gate_copy(void *to, const void *from, size_t n);
/* A fault in gate_copy(), insn_perform() or insn_bulk_do() is expected: true: the frame goes on
 * where that is noticed. */
bool gate_catch(ucontext_t *uc);

/* ---- protection keys: pages that a thread may open for itself ---- */

/* Takes a signal and a fault, to see whether the kernel leaves closed what a thread has closed:
 * some do not. Once, before our own handlers are there. */
bool keys_work(void);
int keys_init(void); /* one that is closed, in every thread; -1: there are none */
bool keys_is_closed_frame(int key, ucontext_t *uc); /* of the interrupted program */
void keys_open(int key);
void keys_close(int key);
/* The same for the interrupted program. */
void keys_open_frame(int key, ucontext_t *uc);
void keys_close_frame(int key, ucontext_t *uc);

/* ---- the instruction at which the program is ---- */

struct access {
	uint64_t addr;
	uint32_t len_bytes;
	uint32_t kind; /* ACCESS_READ | ACCESS_WRITE */
};

#define MAX_ACCESSES 17u /* a gather of sixteen, and what else it touches */

enum insn_kind {
	INSN_PLAIN, /* can be stepped over */
	/* between memory and a register or constant: simple enough to be done by us */
	INSN_LOAD,
	INSN_STORE,
	INSN_COMPARE,
	INSN_FLUSH, /* clwb and the like: may be skipped, recovery does not lose power */
	INSN_COPY,
	INSN_FILL,    /* of any length: done by us in one go */
	INSN_UNKNOWN, /* what it accesses is not known: the run does not count */
};

/* What is read may be overestimated (a decision too many), what is written may not be: bytes that
 * may be left as they are count as read and written. */
struct insn {
	enum insn_kind kind;
	uint32_t len_bytes, element_bytes;
	uint32_t naccesses;
	/* of the simple ones: */
	int8_t greg; /* that is loaded */
	uint8_t greg_bytes;
	bool is_signed;           /* it is extended so */
	bool is_test, is_swapped; /* test, not cmp; memory is the second operand */
	uint64_t value;           /* stored or compared with */
	struct access accesses[MAX_ACCESSES];
};
void insn_decode(struct insn *in, const ucontext_t *uc);
/* Does INSN_LOAD, INSN_STORE or INSN_COMPARE as one access, and moves the frame behind it; false:
 * it faulted, and nothing has changed. */
bool insn_perform(const struct insn *in, ucontext_t *uc);

/* INSN_COPY and INSN_FILL: all that they may access, then what was really written. INSN_FILL has no
 * `from`. The frame is as if the instruction was interrupted there, or done. Nothing written: the
 * frame is as it was. */
struct insn_bulk {
	struct access to, from;
};
void insn_bulk(const struct insn *in, const ucontext_t *uc, struct insn_bulk *b);
struct access insn_bulk_do(const struct insn *in, ucontext_t *uc, const struct insn_bulk *b);

/* Stepping: when the handler returns, the program executes this one instruction and then gets
 * SIGTRAP. `state` is kept until insn_step_end(), which is called then, or in the handler of a
 * fault of the instruction; true: the trap was for us alone, false: the program steps itself. */
struct insn_step {
	uint64_t state[4];
};
void insn_step_begin(struct insn_step *s, const struct insn *in, ucontext_t *uc);
bool insn_step_end(struct insn_step *s, ucontext_t *uc);

/* ---- detours (optional): loads of the program that are led around closed pages ---- */

#define MAP_WORD 8u          /* bytes that one byte of the window's map is about */
#define DETOUR_MAX_BYTES 64u /* of one access: a larger one gets no detour */

/* What a detour asks. All zero: nothing is to be read elsewhere. */
struct window {
	/* an access that begins in here may be done elsewhere: DETOUR_MAX_BYTES before the
	 * mapping's end, it ends */
	uint64_t start, len_bytes;
	/* a byte for each word from start on, to the mapping's end: not zero: not this one */
	uint64_t map;
	uint64_t delta; /* from an address to the same in the second mapping */
};

/* in the server, between runs, not in a handler: the load there gets one, if that is possible */
void detour_make(uint64_t pc);
bool detours_exist(void);
void detours_lead(const struct window *w); /* all of them, from now on */
uint64_t detour_original(uint64_t pc);     /* where the program would be */
/* A load elsewhere faulted: it is done where the program wanted it. */
bool detour_leave(ucontext_t *uc);

/* ---- system calls that this architecture alone has ---- */

extern const struct buffer_call arch_buffer_calls[]; /* to number 0 */
extern const struct path_call arch_path_calls[];     /* to number 0 */
extern const uint16_t arch_no_pointers[];            /* to 0 */
/* fork() and vfork() as clone(): its flags; 0: it is neither. */
long arch_fork_flags(long number);

#endif
