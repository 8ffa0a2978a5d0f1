/* What the runtime needs from the processor, and from Linux where that differs by processor.
 * runtime/arch/NAME/ defines all of it. Nothing else in runtime/ knows registers, instructions, the
 * layout of a signal frame, or system calls that only one architecture has. All functions may be
 * called in a signal handler, unless they say otherwise. */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "call_tables.h"

/* Prepares what the processor's part of the runtime needs. Called in each process before everything
 * else; not in a handler. */
void arch_init(void);
const char *arch_refusal(void); /* why no program can be watched in this process; NULL: it can */
extern const uint16_t arch_elf_machine; /* e_machine of programs that can load this library */
extern const uint32_t arch_call_bytes;  /* length of a system call instruction */

/* ---- the frame of a signal: where the program was interrupted ---- */

enum { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_FETCH = 4 };

uint64_t frame_pc(const ucontext_t *uc);
void frame_set_pc(ucontext_t *uc, uint64_t pc);
uint64_t frame_sp(const ucontext_t *uc);
uint32_t frame_fault(const ucontext_t *uc); /* the access that faulted: a set of ACCESS_… */
/* Gives the frame to which a handler of the program returns. uc: the frame of the caught
 * rt_sigreturn. */
ucontext_t *frame_of_sigreturn(const ucontext_t *uc);
/* Finds where the return address of a function is kept. The function's stack pointer is `from`,
 * that of its caller `cfa`. It is on the stack, or in a register if the function was interrupted.
 * Pass the returned number to frame_has_return(); 0: not found. */
uint64_t frame_return_slot(const ucontext_t *uc, uint64_t from, uint64_t cfa, uint64_t address);
bool frame_has_return(const ucontext_t *uc, uint64_t slot, uint64_t address);
typedef bool frame_write_fn(uint64_t to, const void *from, size_t n);
/* Writes, by `write`, a copy of the frame below `at` for a child that clone() is about to make. The
 * child will have the stack `stack` and see the result 0. own: its alternate signal stack; NULL:
 * the same as ours. Returns 0 if the frame cannot be written. */
uint64_t frame_child(const ucontext_t *uc, uint64_t at, uint64_t stack, const stack_t *own,
		     frame_write_fn *write);
/* Makes the program's handler run when our handler returns, in the way that the kernel would call
 * it. It gets a frame of its own below `stack`, but not below `end`. `mask` becomes the signal
 * mask. False: the frame cannot be written, and nothing has changed. */
struct frame_handler {
	uint64_t function, restorer, mask;
	/* the mask in the new frame, restored by the handler's return; frame_is_delivered()
	 * recognises such a frame */
	uint64_t mask_after;
	uint64_t stack, end;
};
bool frame_is_delivered(const ucontext_t *uc);
bool frame_deliver(ucontext_t *uc, int sig, const siginfo_t *si, const struct frame_handler *h,
		   frame_write_fn *write);
/* bytes below the stack pointer that may be in use (the red zone) */
extern const uint32_t arch_red_bytes;

/* ---- the gate: the only place of the process whose system calls go to the kernel; all others end
 * in a signal ---- */

/* The next two are known after arch_init(). */
extern int gate_signal; /* SIGSYS or SIGILL */
/* rt_sigreturn of the program's own handlers is caught, too */
extern bool gate_sees_return;

/* Makes a system call through the gate; returns the result or -errno. */
long rt_syscall(long number, long a, long b, long c, long d, long e, long f);
/* Does once, for all children of this process that will call gate_arm(), what can be done for them
 * together. True: system calls of this process may be caught from now on, too. */
bool gate_prepare(void);
/* Catches the system calls of this thread from now on. A child of fork() must call it again. False:
 * impossible here. */
bool gate_arm(void);
extern const char gate_lack[]; /* why it is impossible, for the user */
/* Catches the system calls of code in this memory, too. Called when the program has made the memory
 * executable, or mapped it executable. False: they cannot be caught. */
bool gate_watch(uint64_t start, uint64_t end);
/* Asks whether this gate_signal stands for a caught call. (The program may also cause such a signal
 * itself.) */
bool gate_is_call(const siginfo_t *si);
/* Reads the caught call's number and arguments, and moves the frame behind the call. False: it is a
 * call of another kind (32 bits). */
bool gate_call(const siginfo_t *si, ucontext_t *uc, long *number, long a[6]);
void gate_set_result(ucontext_t *uc, long result);
/* Asks whether the call would undo gate_arm(). Such a call must not be made. */
bool gate_is_escape(long number, const long a[6]);

/* Lets the program itself make the call when our handler returns, with its own mask and stack. So
 * signals and restarts of the call work as usual. *back is needed until the call is done. It may be
 * in the handler's frame if that is on the program's stack, beyond the used part. NULL: there is
 * none. False: the program's stack cannot be written. */
struct gate_return {
	uint64_t pc, sp;
};
bool gate_pass(ucontext_t *uc, struct gate_return *back);

/* The restorer of our signal handlers. Unwinders must recognise it as that of a signal frame. */
extern const char rt_restore[];
/* Does rt_sigreturn with the frame whose ucontext is given. */
_Noreturn void rt_return_to(void *uc);
/* Does clone or clone3 for a child with its own stack. The child arms the gate for itself and
 * continues as child_uc says. */
long rt_clone(long number, const long args[6], void *child_uc);

/* Copies bytes, some of which may be inaccessible. Returns how many were not copied. */
size_t gate_copy(void *to, const void *from, size_t n);
/* Handles a fault in gate_copy(), insn_perform() or insn_bulk_do(): makes the function continue
 * where it deals with the fault. False: the fault is another one. */
bool gate_catch(ucontext_t *uc);

/* ---- protection keys: each thread opens and closes pages for itself ---- */

/* Tests, by causing a signal and a fault, whether the kernel keeps closed what a thread has closed:
 * some kernels do not. Called once, before our own handlers are installed. */
bool keys_work(void);
int keys_init(void); /* a new key that is closed in every thread; -1: none available */
bool keys_is_closed_frame(int key, ucontext_t *uc); /* for the interrupted program */
void keys_open(int key);
void keys_close(int key);
/* keys_open_frame() opens, and keys_close_frame() closes the key for the interrupted program. */
void keys_open_frame(int key, ucontext_t *uc);
void keys_close_frame(int key, ucontext_t *uc);

/* ---- the instruction at which the program is ---- */

struct access {
	uint64_t addr;
	uint32_t len_bytes;
	uint32_t kind; /* ACCESS_READ | ACCESS_WRITE */
};

#define MAX_ACCESSES 17u /* a gather has sixteen, and may access one more range */

enum insn_kind {
	INSN_PLAIN, /* must be stepped over */
	/* the next three move one value between memory and a register or constant, so that we can
	 * do them ourselves */
	INSN_LOAD,
	INSN_STORE,
	INSN_COMPARE,
	INSN_FLUSH, /* clwb and the like: skipped, since no power fails during recovery */
	INSN_COPY,
	INSN_FILL,    /* copies and fills of any length: we do them at once */
	INSN_UNKNOWN, /* its accesses are unknown: the run does not count */
};

/* An instruction. Its reads may be overestimated: that costs a needless decision. Its writes may
 * not: bytes that the instruction may leave unchanged count as read and written. */
struct insn {
	enum insn_kind kind;
	uint32_t len_bytes, element_bytes;
	uint32_t naccesses;
	/* the following describe INSN_LOAD, INSN_STORE and INSN_COMPARE */
	int8_t greg; /* the register that is loaded */
	uint8_t greg_bytes;
	bool is_signed; /* the loaded value is sign-extended */
	/* is_test: test, not cmp; is_swapped: memory is the second operand */
	bool is_test, is_swapped;
	uint64_t value; /* the value that is stored or compared */
	struct access accesses[MAX_ACCESSES];
};
void insn_decode(struct insn *in, const ucontext_t *uc);
/* Does INSN_LOAD, INSN_STORE or INSN_COMPARE as one access, and moves the frame behind the
 * instruction. False: it faulted, and nothing has changed. */
bool insn_perform(const struct insn *in, ucontext_t *uc);

/* INSN_COPY and INSN_FILL. insn_bulk() says what they may access; INSN_FILL has no `from`.
 * insn_bulk_do() does them and returns the range that was really written. It leaves the frame as if
 * the instruction was done, or interrupted at that point. If nothing was written, the frame is
 * unchanged. */
struct insn_bulk {
	struct access to, from;
};
void insn_bulk(const struct insn *in, const ucontext_t *uc, struct insn_bulk *b);
struct access insn_bulk_do(const struct insn *in, ucontext_t *uc, const struct insn_bulk *b);

/* Stepping: after insn_step_begin(), the program executes this one instruction when our handler
 * returns, and then gets SIGTRAP. `state` is kept until insn_step_end(), which is called in the
 * handler of that trap, or of a fault of the instruction. insn_step_end() returns true if the trap
 * was only for us, false if the program steps itself. */
struct insn_step {
	uint64_t state[4];
};
void insn_step_begin(struct insn_step *s, const struct insn *in, ucontext_t *uc);
bool insn_step_end(struct insn_step *s, ucontext_t *uc);

/* ---- detours (optional): replace loads of the program, so that they avoid closed pages ---- */

#define MAP_WORD 8u          /* bytes of PM for each byte of the window's map */
#define DETOUR_MAX_BYTES 64u /* longest access that can have a detour */

/* What the code of detours looks up. All zero: no load is redirected. */
struct window {
	/* the addresses of loads that may be redirected; ends DETOUR_MAX_BYTES before the mapping
	 * does */
	uint64_t start, len_bytes;
	/* address of the map: one byte per MAP_WORD bytes, from `start` to the end of the mapping;
	 * not zero: this word must not be redirected */
	uint64_t map;
	uint64_t delta; /* add this to an address to get the same byte in the second mapping */
};

/* Gives the load at pc a detour, if that is possible. Called in the server between runs, not in a
 * handler. */
void detour_make(uint64_t pc);
bool detours_exist(void);
void detours_lead(const struct window *w); /* makes all detours use this window from now on */
uint64_t detour_original(uint64_t pc);     /* the address in the program for a pc in a detour */
/* Handles a fault of a redirected load: lets the program repeat the load at the original address.
 * False: the fault is another one. */
bool detour_leave(ucontext_t *uc);

/* ---- system calls that this architecture alone has ---- */

extern const struct buffer_call arch_buffer_calls[]; /* ends with number 0 */
extern const struct path_call arch_path_calls[];     /* ends with number 0 */
extern const uint16_t arch_no_pointers[];            /* ends with 0 */
/* Gives the flags of the clone() that does the same as fork() or vfork(); 0: the number is that of
 * another call. */
long arch_fork_flags(long number);

#endif
