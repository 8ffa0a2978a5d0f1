/* Inside libpmend_rt.so. It lives in somebody else's process: nearly everything runs in signal
 * handlers, nothing allocates, system calls go by rt_syscall(), and no function is called that the
 * program can replace or that lies in the program's libraries (imports.txt names the exceptions;
 * the build checks that). Bottom first:
 *
 *   libc.c arch/     own routines for bytes and strings; the processor (arch.h)
 *   state.c          what all others know: the region, this thread, giving up; environment.c: the
 *                    environment
 *   patch.c          finds code in which system calls are replaced, for arch/ (patch.h)
 *   own_stack.c      the stack of our handlers
 *   warm.c stack.c window.c actions.c       what earlier runs knew; call stacks; the second
 *                                           mapping; the program's signal actions
 *   lines.c images.c maps.c copy.c          undecided lines; which file is which; their mappings;
 *                                           the program's memory (pm.h)
 *   calls/           system calls that are done for the program, by subject; which memory each
 *                    accesses: buffers.c (calls.h)
 *   calls.c step.c signals.c                what arrives in our handlers: system calls, touches of
 *                                           closed pages, signals
 *   attach.c annotate.c server.c            joins a process to a run; annotations; the fork
 *                                           server */
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

extern struct run_region *g_region; /* NULL: not part of a run */
extern uint64_t g_page_bytes;
extern bool g_is_lazy; /* there were undecided lines when this process joined the run */

/* Before everything else, in each process; not in a handler. */
void rt_init(void);
/* Maps the region that the environment names; -1 if there is none or it is none of ours. */
int rt_map_region(void);

/* Laziness cannot be kept up: notes why and ends the whole process group; the run will be repeated
 * on whole images. */
_Noreturn void rt_unsound(const char *why);

struct rt_thread {
	const ucontext_t *uc; /* where the program was interrupted: stacks begin there */
	bool is_in_call;      /* ... just after a system call instruction */
	bool is_stepping;
	struct insn_step step;
	uint64_t step_mask; /* its signal mask */
	uint32_t nwrites;
	/* of the instruction being stepped: to be marked when it is done */
	struct access writes[MAX_ACCESSES];
	/* signals that the program believes it has blocked though we need them */
	uint64_t blocked;
	stack_t alt_asked;     /* the alternate stack that the program set; of no size: none */
	stack_t alt_disarmed;  /* the same while a handler runs there that wants none meanwhile */
	int skip_depth;        /* PMEND_SKIP_CHECK_BEGIN/END */
	uint32_t access_bytes; /* of the access whose bytes are being looked at */
	bool is_unwinding;
	void *unwind_failed[5]; /* __builtin_setjmp buffer */
};
extern __thread struct rt_thread t_self;

/* ---- the stack of our handlers: own_stack.c ---- */

#define ALTSTACK_DISARMS (1 << 31) /* SS_AUTODISARM */
void own_stack_init(void);         /* of the first thread */
/* For a new thread, one caller at a time; false: there is no memory. Then: whose it is, 0: nobody's
 * any more. */
bool own_stack_take(stack_t *s);
void own_stack_give(const stack_t *s, long tid);
/* Was a handler of ours interrupted, or a handler of the program's that one of ours called? */
bool own_stack_is_on(const ucontext_t *uc);
bool own_stack_is_near(const ucontext_t *uc); /* or has it just overflowed? */

/* ---- environment.c ---- */

/* what the loader says: the C library may not be initialised yet */
void environment_init(char **initial);
const char *environment_get(const char *name); /* NULL: it is not set */
void environment_remove(const char *name);     /* in place: the program's own view, too */

/* ---- stack.c ---- */

/* The interrupted place, then return addresses. */
uint32_t rt_stack(uint64_t *stack);
/* The same, perhaps from an earlier walk. One caller at a time. */
uint32_t rt_stack_kept(uint64_t *stack);

/* ---- what runs of one server know from earlier ones: warm.c ---- */

#define WARM_STACKS 128u
#define WARM_READS 1024u
#define WARM_PROBES 8u

struct warm_stack {
	uint64_t pc, sp;
	uint32_t n;                                  /* 0: none */
	uint64_t stack[RUN_STACK], slots[RUN_STACK]; /* where each was on the stack */
};

struct warm_read {
	uint64_t pc;
	uint32_t n;
	uint32_t is_tried; /* the server has seen to it */
};

struct warm {
	struct warm_stack stacks[WARM_STACKS];
	/* instructions that faulted for what lies beside undecided bytes */
	struct warm_read reads[WARM_READS];
};
extern struct warm *g_warm;
void warm_share(void); /* in the server */
void warm_note_read(uint64_t pc);
/* The first instruction that faulted often and was not asked for yet; 0: none. */
uint64_t warm_next_read(void);

/* ---- the program's signal actions: actions.c ---- */

#define BIT(sig) (1ul << ((sig)-1))
#define OURS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGTRAP) | BIT(gate_signal))
#define NOTED ((BIT(SIGABRT) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGSYS)) & ~BIT(gate_signal))

struct action { /* as the kernel has it */
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	const void *restorer;
	uint64_t mask;
};

/* Installs our handlers, of OURS and NOTED by number, and keeps the program's actions. */
typedef void handler_fn(int, siginfo_t *, void *);
void actions_init(handler_fn *const handlers[32]);
/* Before that, and until then: a handler for one of OURS. */
void actions_init_early(int sig, handler_fn *handler);
/* What the program sees and sets. new, old: NULL: not asked for. Returns as rt_sigaction. */
long actions_exchange(int sig, const struct action *new, struct action *old);
/* A signal that is the program's own. */
void actions_deliver(int sig, siginfo_t *si, ucontext_t *uc);
_Noreturn void actions_die_of(int sig, const siginfo_t *si);
void actions_set_mask(uint64_t mask); /* never those that we need */
uint64_t *frame_mask(ucontext_t *uc);
/* The program's actions, for children that share memory but not these. */
#define ACTIONS_SAVE_BYTES (65 * 32 + 8)
void actions_save(void *to);
void actions_restore(const void *from);
/* the program's handlers are gone, and what it ignores stays so: as CLONE_CLEAR_SIGHAND does in a
 * child */
void actions_clear(void);
/* the same, before the child is there that it is meant for, of those that are kept here */
void actions_forget(void);

/* ---- attach.c ---- */

/* What does not depend on the run; a fork server does it for all its runs. */
void rt_prepare(void);
/* Called in the first process of a run just before main(), and by the constructor in a process that
 * a run exec'd. From here on paths of PM files lead to images, mappings go to recorded addresses,
 * and (RUN_LAZY) undecided lines are decided as they are read. */
void rt_attach(void);

#endif
