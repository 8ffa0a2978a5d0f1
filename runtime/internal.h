/* What the files of the runtime that are not the fork server (server.c) know of each other. Everything here runs in signal handlers: no
 * allocation, no libc but memcpy and the like, system calls only by rt_syscall(). */
#ifndef RUNTIME_INTERNAL_H
#define RUNTIME_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/amd64/gate.h"
#include "rt.h"

#define PAGE 4096ul
#define PAGE_DOWN(a) ((a) & ~(PAGE - 1))
#define PAGE_UP(a) PAGE_DOWN((a) + PAGE - 1)
#define IS_ERROR(result) ((unsigned long)(result) > -4096ul)

#define CALL0(n) rt_syscall(n, 0, 0, 0, 0, 0, 0)
#define CALL1(n, a) rt_syscall(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) rt_syscall(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) rt_syscall(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define CALL6(n, a, b, c, d, e, f) rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* ---- the instruction at which we are: insn.c ---- */

enum { ACCESS_READ = 1, ACCESS_WRITE = 2 };
struct access {
	uint64_t addr;
	uint32_t len_bytes;
	uint32_t kind; /* ACCESS_READ | ACCESS_WRITE */
};

#define MAX_ACCESSES 10u /* a gather of eight, and its destination */

enum insn_kind {
	INSN_PLAIN,	/* can be stepped over */
	INSN_LOAD, INSN_STORE, INSN_COMPARE, /* between memory and a register or constant: simple enough to be done by us */
	INSN_FLUSH,	/* clwb and the like: may be skipped, recovery does not lose power */
	INSN_REP_MOVS, INSN_REP_STOS, /* done by us in one go */
	INSN_UNKNOWN,	/* what it accesses is not known */
};

struct insn {
	enum insn_kind kind;
	uint32_t len_bytes, element_bytes;
	uint32_t naccesses;
	/* of the simple ones: */
	int8_t greg;		/* that is loaded */
	uint8_t greg_bytes;
	bool is_signed;		/* it is extended so */
	bool is_test, is_swapped; /* test, not cmp; memory is the second operand */
	uint64_t value;		/* stored or compared with */
	struct access accesses[MAX_ACCESSES];
};
void insn_decode(struct insn *in, const ucontext_t *uc);

/* ---- this thread ---- */

struct rt_thread {
	const ucontext_t *uc;	/* where the program was interrupted: stacks begin there */
	bool is_in_call;	/* ... just after a system call instruction */
	bool is_stepping;
	bool had_trap_flag;	/* the program itself single-steps */
	uint64_t step_mask;	/* its signal mask */
	uint32_t nwrites;
	struct access writes[MAX_ACCESSES]; /* of the instruction being stepped: to be marked when it is done */
	uint64_t blocked;	/* signals that the program believes it has blocked though we need them */
	stack_t alt_asked;	/* the alternate stack that the program set, if ours is used in its place: */
	uint64_t alt_memory;	/* 0: not so */
	int skip_depth;		/* PMEND_SKIP_CHECK_BEGIN/END */
	uint32_t access_bytes;	/* of the access whose bytes are being looked at */
	bool is_unwinding;
	void *unwind_failed[5]; /* __builtin_setjmp buffer */
};
extern __thread struct rt_thread t_self;

/* ---- memory of undecided lines: lines.c ---- */

extern bool g_is_lazy; /* there were undecided lines when this process joined the run */

/* Decides what reading these bytes of a file must decide. is_one: a single access of at most 8 bytes, else in aligned pieces of 8. False: there
 * is no line there, so nothing has changed. */
bool lines_read(uint32_t file, uint64_t from, uint64_t to, bool is_one);
/* The run has overwritten these bytes. */
void lines_written(uint32_t file, uint64_t from, uint64_t to);
/* The first page at or after `from` with an undecided line; `to` if there is none before. */
uint64_t lines_undecided_page(uint32_t file, uint64_t from, uint64_t to);
bool lines_any_undecided(void);
/* Tells the window (window.c) which words of these bytes are not to be read there. */
void lines_mark(uint32_t file, uint64_t from, uint64_t to);

/* ---- mappings of images in this process: maps.c ---- */

struct pm_map {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint32_t file;
	int prot;	 /* what the program asked for */
	bool is_private;
	bool was_guarded; /* pages of it are or were inaccessible */
};

int maps_init(void); /* finds out about protection keys */
extern int g_pkey;   /* -1: by mprotect */

/* The mapping that holds addr, a copy of it; false: none. */
bool maps_find(uint64_t addr, struct pm_map *m);
/* Does any guarded mapping overlap? */
bool maps_touch(uint64_t addr, uint64_t len_bytes);
/* A read or write of the program's, in terms of lines; parts outside of PM are ignored. maps_read(): as lines_read(). */
bool maps_read(uint64_t addr, uint64_t len_bytes);
void maps_written(uint64_t addr, uint64_t len_bytes);
/* Before a write: the first one to a private page copies it, and later decisions do not reach the copy. */
void maps_read_private(uint64_t addr, uint64_t len_bytes);
/* Everything on the page is decided? Then it is accessible from now on. */
bool maps_release_page(uint64_t addr);
/* The kernel, or our own code, may access these bytes until they are closed. */
void maps_open(uint64_t addr, uint64_t len_bytes);
void maps_close(uint64_t addr, uint64_t len_bytes);
/* The same for this thread's interrupted program. */
void maps_open_program(ucontext_t *uc, const struct access *list, uint32_t n);
void maps_close_program(ucontext_t *uc, const struct access *list, uint32_t n);
void maps_lock(void);	/* around fork */
void maps_unlock(void);

long call_mmap(long a[6]);
long call_munmap(long a[6]);
long call_mremap(long a[6]);
long call_mprotect(long number, long a[6]);

/* Does a simple instruction for the program: what it reads is decided. False: it faults, or is none. emulate.c */
bool insn_emulate(const struct insn *in, ucontext_t *uc);

/* ---- loads that are led around closed pages: detour.h ---- */

void detours_make(void); /* in the server, between runs */
uint64_t detour_original(uint64_t rip); /* where the program would be */
/* A load elsewhere faulted: it is done where the program wanted it. */
bool detour_leave(ucontext_t *uc);
void window_open(const struct pm_map *m, long fd);
void window_close(uint64_t start, uint64_t end);
bool window_is_open(void);
void window_mark(uint32_t file, uint64_t offset, bool is_marked);

/* ---- step.c ---- */

/* A fault on a protected page: true: dealt with. */
bool step_fault(siginfo_t *si, ucontext_t *uc);
/* A trap after a step: true: ours, and only ours. */
bool step_trap(ucontext_t *uc);
/* The stepped instruction has faulted itself: back to before it. */
void step_abort(ucontext_t *uc);
/* After a write: pages of which nothing is undecided any more are opened. */
void step_release(const struct access *a);

/* ---- files and paths: paths.c ---- */

void paths_init(void);
const struct run_file *paths_file(uint32_t i);
int paths_file_of_fd(long fd);	     /* index in the region's files, -1: not an image with lines */
int paths_file_of_inode(uint64_t dev, uint64_t ino);
int paths_file_mapped(long fd);	     /* the same, also for images that recovery made itself */

/* ---- system calls: calls.c and others ---- */

#define CALL_PASS (-100000l) /* let the program do it itself */

/* In our SIGSYS handler, whose frame holds `back`. */
void calls_dispatch(siginfo_t *si, ucontext_t *uc, struct gate_return *back);
/* Does a call for the program, whose buffers may lie in PM. */
long calls_perform(long number, long a[6]);
long paths_call(long number, long a[6]);   /* CALL_PASS: not one with a PM file's path */
long dirents_call(long number, long a[6]);
long fileio_call(long number, long a[6]);  /* CALL_PASS: no image's descriptor */
long clone_call(long number, long a[6], ucontext_t *uc);
long exec_call(long number, long a[6]);
void exec_init(void);
void buffers_init(void);
bool buffers_touch(long number, const long a[6]);
void buffers_before(long number, const long a[6]);
void buffers_after(long number, const long a[6], long result);
/* Total length of an iovec, read safely. */
uint64_t buffers_iov_bytes(uint64_t iov, uint64_t n);

/* Copies from or to the program's memory, deciding what is read; false: it cannot be accessed. */
bool rt_copy_in(void *to, uint64_t from, size_t n);
bool rt_copy_out(uint64_t to, const void *from, size_t n);
/* A NUL-terminated string; false: bad address or longer than room. */
bool rt_copy_string(char *to, uint64_t from, size_t room);

/* ---- signals: signals.c ---- */

void signals_init(void);
long signals_call(long number, long a[6], ucontext_t *uc); /* CALL_PASS: not about signals */
long call_sigaltstack(const long a[6], ucontext_t *uc); /* altstack.c */
void signals_set_mask(uint64_t mask); /* never those that we need */
/* The program's handlers, for children that share memory but not these. */
#define SIGNALS_SAVE_BYTES (65 * 32 + 8)
void signals_save(void *to);
void signals_restore(const void *from);

/* The interrupted place, then return addresses. */
uint32_t rt_stack(uint64_t *stack);
/* The same, perhaps from an earlier walk. One caller at a time. */
uint32_t rt_stack_kept(uint64_t *stack);

void rt_arm_dispatch(void);

/* ---- what runs of one server know from earlier ones: warm.c ---- */

#define WARM_STACKS 128u
#define WARM_READS 1024u
#define WARM_PROBES 8u

struct warm_stack {
	uint64_t rip, rsp;
	uint32_t n; /* 0: none */
	uint64_t stack[RUN_STACK], slots[RUN_STACK]; /* where each was on the stack */
};

struct warm_read {
	uint64_t pc;
	uint32_t n;
	uint32_t is_tried; /* the server has seen to it */
};

struct warm {
	struct warm_stack stacks[WARM_STACKS];
	struct warm_read reads[WARM_READS]; /* instructions that faulted for what lies beside undecided bytes */
};
extern struct warm *g_warm;
void warm_share(void); /* in the server */
void warm_note_read(uint64_t pc);

#endif
