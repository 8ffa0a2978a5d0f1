/* Inside libpmend_rt.so. This library is loaded into somebody else's process. Nearly everything
 * runs in signal handlers. Nothing allocates. System calls are made by rt_syscall(). No function is
 * called that the program can replace or that is in the program's libraries; imports.txt lists the
 * exceptions, and the build checks that list. The files, lowest first:
 *
 *   libc.c arch/    own functions for bytes and strings; the processor (arch.h)
 *   state.c         what all others use: the region, this thread, giving up
 *   environment.c   the environment
 *   patch.c         finds code in which system calls are replaced, for arch/ (patch.h)
 *   own_stack.c     the stack of our handlers
 *   warm.c          what earlier runs of the same server found out
 *   stack.c         call stacks
 *   window.c        the second mapping of an image
 *   actions.c       the program's signal actions
 *   lines.c         undecided lines (pm.h)
 *   images.c        which file is which image
 *   maps.c          the mappings of images
 *   copy.c          access to the program's memory
 *   calls/          system calls that are made for the program, by subject; buffers.c: which
 *                   memory each one accesses (calls.h)
 *   calls.c step.c signals.c
 *                   what our handlers get: system calls, accesses of closed pages, signals
 *   attach.c annotate.c server.c
 *                   joins a process to a run; annotations; the fork server */
#ifndef RUNTIME_INTERNAL_H
#define RUNTIME_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch.h"
#include "pmend_run.h"

#define PAGE g_page_bytes
#define PAGE_DOWN(a) ((a) & ~(PAGE - 1))
#define PAGE_UP(a) PAGE_DOWN((a) + PAGE - 1)
#define IS_ERROR(result) ((unsigned long)(result) > -4096ul)

#define CALL0(n) rt_syscall(n, 0, 0, 0, 0, 0, 0)
#define CALL1(n, a) rt_syscall(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) rt_syscall(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) rt_syscall(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) \
	rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define CALL6(n, a, b, c, d, e, f) \
	rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* ---- state.c ---- */

extern struct run_region *g_region; /* NULL: the process is not part of a run */
extern uint64_t g_page_bytes;
extern bool g_is_lazy; /* there were undecided lines when this process joined the run */

/* Prepares what all files of the runtime use: finds the size of a page. Called in each process
 * before everything else; not in a handler. */
void rt_init(void);
/* Maps the region that the environment names; -1: there is none, or it is not ours. */
int rt_map_region(void);

/* Ends the run because it cannot count: notes why and kills the whole process group. pmend then
 * repeats the run on whole images. */
_Noreturn void rt_unsound(const char *why);

struct rt_thread {
	/* the frame of the interrupted program, where its call stack begins */
	const ucontext_t *uc;
	bool is_in_call; /* the program was interrupted behind a system call instruction */
	bool is_stepping;
	struct insn_step step;
	/* the program's signal mask, while one of its instructions is stepped */
	uint64_t step_mask;
	uint32_t nwrites;
	/* accesses of the instruction that is stepped: marked when the step ends */
	struct access writes[MAX_ACCESSES];
	/* those of our signals that the program believes to block */
	uint64_t blocked;
	stack_t alt_asked; /* the alternate stack that the program set; ss_size 0: none */
	/* the same, while a handler runs on it that was set with SS_AUTODISARM */
	stack_t alt_disarmed;
	int skip_depth;        /* nesting of PMEND_SKIP_CHECK_BEGIN and _END */
	uint32_t access_bytes; /* length of the access that is being decided */
	bool is_unwinding;
	void *unwind_failed[5]; /* buffer for __builtin_setjmp */
};
extern __thread struct rt_thread t_self;

/* ---- the stack of our handlers: own_stack.c ---- */

#define ALTSTACK_DISARMS (1 << 31) /* SS_AUTODISARM */
void own_stack_init(void);         /* called for the first thread */
/* own_stack_take() gets a stack for a new thread, one caller at a time; false: no memory.
 * own_stack_give() then says which thread has it; 0: none any more. */
bool own_stack_take(stack_t *s);
void own_stack_give(const stack_t *s, long tid);
/* Asks whether the signal interrupted a handler of ours, or a handler of the program's that one of
 * ours called. */
bool own_stack_is_on(const ucontext_t *uc);
bool own_stack_is_near(const ucontext_t *uc); /* the same, or the stack has just overflowed */

/* ---- environment.c ---- */

/* Takes over the environment. initial: what the loader passes, as the C library may not be
 * initialised yet. */
void environment_init(char **initial);
const char *environment_get(const char *name); /* NULL: it is not set */
/* Removes a variable, also from the environment that the program sees. */
void environment_remove(const char *name);

/* ---- stack.c ---- */

/* Stores the address of the interrupted instruction, then return addresses. Returns their
 * number. */
uint32_t rt_stack(uint64_t *stack);
/* Like rt_stack(), but may reuse the result of an earlier walk of the stack. Only one caller at a
 * time. */
uint32_t rt_stack_kept(uint64_t *stack);

/* ---- what earlier runs of the same server found out: warm.c ---- */

#define WARM_STACKS 128u
#define WARM_READS 1024u
#define WARM_PROBES 8u

struct warm_stack {
	uint64_t pc, sp;
	/* number of addresses; 0: the entry is empty */
	uint32_t n;
	/* slots: where each return address was (frame_return_slot()) */
	uint64_t stack[RUN_STACK], slots[RUN_STACK];
};

struct warm_read {
	uint64_t pc;
	uint32_t n;
	uint32_t is_tried; /* the server has tried to give it a detour */
};

struct warm {
	struct warm_stack stacks[WARM_STACKS];
	/* instructions that faulted for bytes beside undecided ones */
	struct warm_read reads[WARM_READS];
};
extern struct warm *g_warm;
void warm_share(void); /* called in the server */
void warm_note_read(uint64_t pc);
/* Returns an instruction that faulted often and was not returned before; 0: none. */
uint64_t warm_next_read(void);

/* ---- the program's signal actions: actions.c ---- */

#define BIT(sig) (1ul << ((sig)-1))
#define OURS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGTRAP) | BIT(gate_signal))
#define NOTED ((BIT(SIGABRT) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGSYS)) & ~BIT(gate_signal))

struct action { /* the kernel's struct sigaction */
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	const void *restorer;
	uint64_t mask;
};

/* Installs our handlers, given by signal number, for OURS and NOTED, and stores the program's
 * actions. */
typedef void handler_fn(int, siginfo_t *, void *);
void actions_init(handler_fn *const handlers[32]);
/* Installs a handler for one of OURS, before actions_init() does it for all. */
void actions_init_early(int sig, handler_fn *handler);
/* Does for the program what rt_sigaction does, and returns its result. new: NULL: set nothing. */
long actions_exchange(int sig, const struct action *new, struct action *old);
/* Gives the program a signal that is its own. */
void actions_deliver(int sig, siginfo_t *si, ucontext_t *uc);
_Noreturn void actions_die_of(int sig, const siginfo_t *si);
void actions_set_mask(uint64_t mask); /* without our signals */
uint64_t *frame_mask(ucontext_t *uc);
/* Saves and restores the program's actions, around a child that shares this memory but has actions
 * of its own. */
#define ACTIONS_SAVE_BYTES (65 * 32 + 8)
void actions_save(void *to);
void actions_restore(const void *from);
/* Resets the program's handlers and keeps ignored signals ignored, as CLONE_CLEAR_SIGHAND does in a
 * child. */
void actions_clear(void);
/* Does what actions_clear() does, for the actions that are stored here. Called in the parent,
 * before a child with CLONE_CLEAR_SIGHAND starts. */
void actions_forget(void);

/* ---- attach.c ---- */

/* Does what does not depend on the run. A fork server calls it once for all its runs. */
void rt_prepare(void);
/* Joins this process to the run: from now on, paths of PM files lead to images, mappings get their
 * recorded addresses, and, with RUN_LAZY, undecided lines are decided when they are read. Called in
 * the first process of a run just before main(), and by the constructor in a program that a run
 * execs. */
void rt_attach(void);

#endif
