/* The call stack of each thread, updated at calls and returns. A frame is identified by its slot:
 * the stack pointer right after the call, which is where the return address is if calls push it.
 * Invariant: a frame is alive while the stack pointer is at or below its slot, on the same stack.
 * blocks/calls.c inlines ordinary calls and returns; this file handles everything else: longjmp and
 * exceptions (the stack pointer rose without returns), signals, and coroutines (the stack pointer
 * moved to another stack). Limits: a jump that switches to a stack less than 16 KiB below the old
 * one looks like a call. Where calls do not push, a function that calls without having moved the
 * stack pointer seems to have returned. */
#include "valgrind/common/arch.h"
#include "valgrind/common/memory.h"
#include "valgrind/recorder/out/out.h"
#include "valgrind/recorder/place/code.h"
#include "valgrind/recorder/place/stack.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

#define THREAD_FRAMES (1u << 20)    /* an 8 MiB stack cannot have more calls */
#define COROUTINE_FRAMES (1u << 16) /* less, because there may be many coroutines */
#define MAX_THREADS 500             /* Valgrind's default --max-threads */
#define SLACK 4 /* the inlined call writes one frame above the top before it checks */

struct stack {
	/* [0] stands for the code that started the stack, and is never removed */
	struct frame *frames;
	struct frame *top; /* valid while the stack is not the running one */
	UInt nframes;      /* size of frames */
	ThreadId owner;    /* the thread that last ran on it */
};

static struct stack **g_stacks;
static UInt g_nstacks, g_stacks_cap;

static struct {
	struct stack *stack;
	UInt number;    /* in the trace; 0: there is no such thread */
	const Addr *sp; /* in Valgrind's copy of its registers; NULL until known */
	ULong pending;
	struct frame *awaited;
} g_threads[MAX_THREADS];

struct frame *g_top, *g_frames_end, *g_awaited;
ThreadId g_tid;
ULong g_pending;
static const Addr g_unknown_sp; /* 0: far from any frame */
const Addr *g_sp = &g_unknown_sp;

static UInt g_nthreads;
static struct stack *g_stack;
static struct frame *g_far_top; /* a large frame: it reaches down to g_far_low */
static Addr g_far_low;

/* ---- stacks ---- */

static SizeT frames_bytes(UInt nframes)
{
	return VG_PGROUNDUP((nframes + SLACK) * sizeof(struct frame));
}

static struct stack *stack_new(Addr base, ThreadId owner, UInt nframes)
{
	struct stack *s = VG_(malloc)("pmend.stack", sizeof *s);

	s->frames = memory_alloc(frames_bytes(nframes));
	s->nframes = nframes;
	/* odd, so that no return comes from there */
	s->frames[0] = (struct frame){ .slot = base | 1 };
	s->frames[nframes].beyond = ~0ULL;
	s->top = s->frames;
	s->owner = owner;
	if (g_nstacks == g_stacks_cap) {
		g_stacks_cap = g_stacks_cap ? 2 * g_stacks_cap : 16;
		g_stacks = VG_(realloc)("pmend.stacks", g_stacks, g_stacks_cap * sizeof *g_stacks);
	}
	g_stacks[g_nstacks++] = s;
	return s;
}

static void stack_free(struct stack *s)
{
	UInt i = 0;

	while (g_stacks[i] != s)
		i++;
	g_stacks[i] = g_stacks[--g_nstacks];
	VG_(am_munmap_valgrind)((Addr)s->frames, frames_bytes(s->nframes));
	VG_(free)(s);
}

static void stack_enter(struct stack *s)
{
	if (g_stack != NULL)
		g_stack->top = g_top;
	g_stack = s;
	g_top = s->top;
	g_frames_end = s->frames + s->nframes;
	g_far_top = NULL;
	s->owner = g_tid;
	g_threads[g_tid].stack = s;
}

static Bool same_segment(Addr a, Addr b)
{
	const NSegment *seg = VG_(am_find_nsegment)(a);

	return seg != NULL && seg->start <= b && b <= seg->end;
}

static Bool is_near(Addr slot, Addr sp)
{
	return slot - sp < FRAME_FAR_BYTES; /* unsigned, so slot must not be below sp */
}

/* Finds another stack, on which no other thread runs, to whose newest frame sp could belong. */
static struct stack *stack_of(Addr sp)
{
	for (UInt i = 0; i < g_nstacks; i++) {
		struct stack *s = g_stacks[i];

		if (s != g_stack && (s->owner == VG_INVALID_THREADID || s->owner == g_tid) &&
		    is_near(s->top->slot, sp))
			return s;
	}
	return NULL;
}

/* Enters a stack that is new, or whose memory was given to a new coroutine. */
static void enter_new(Addr sp)
{
	for (UInt i = 0; i < g_nstacks; i++) {
		struct stack *s = g_stacks[i];

		if (s != g_stack && s->owner == g_tid && s->frames[0].slot - sp + 256 < 512) {
			stack_free(s);
			break;
		}
	}
	stack_enter(stack_new(sp, g_tid, COROUTINE_FRAMES));
}

/* Finds out on which stack the stack pointer is now. Called if the stack pointer is far from the
 * top frame. */
static void find_stack(Addr sp)
{
	struct frame *f;
	struct stack *s;

	if (g_top == g_far_top && sp >= g_far_low && sp <= g_top->slot)
		return;
	for (f = g_top; f >= g_stack->frames; f--) {
		if (f->slot >= sp && is_near(f->slot, sp)) {
			g_top = f;
			return;
		}
	}
	s = stack_of(sp);
	if (s != NULL) {
		stack_enter(s);
		return;
	}
	for (f = g_top; f >= g_stack->frames; f--) {
		if (f->slot >= sp && same_segment(f->slot, sp)) { /* a large frame */
			g_top = g_far_top = f;
			g_far_low = sp;
			return;
		}
	}
	enter_new(sp);
}

/* ---- calls, returns, events ---- */

VG_REGPARM(0) void stack_call_slow(void)
{
	Addr slot = g_top->slot, ret = g_top->ret;

	g_top--;
	if (!is_near(g_top->slot, slot + 1))
		find_stack(slot + 1);
	if (g_top + 1 >= g_frames_end)
		/* too deep to keep: its callees seem to be called by the last frame that is kept */
		return;
	*++g_top = (struct frame){ .slot = slot, .ret = ret, .node = NO_NODE };
}

/* Enters the stack of a coroutine that continues where it called, by its newest frame. */
static Bool coroutine_enter(Addr slot)
{
	for (UInt i = 0; i < g_nstacks; i++) {
		struct stack *s = g_stacks[i];

		if (s != g_stack && s->top > s->frames && s->top->slot == slot) {
			stack_enter(s);
			g_top--;
			return True;
		}
	}
	return False;
}

/* Handles longjmp, and switches to another stack. Frames at or below the stack pointer are gone.
 * Where calls push the return address, the address has been popped by then. */
VG_REGPARM(1) void stack_set(Addr sp)
{
	if (!coroutine_enter(sp))
		find_stack(sp + 1);
}

/* Handles a return that does not match the top frame's call. */
VG_REGPARM(1) void stack_return_slow(Addr sp)
{
	Addr slot = sp - arch_return_bytes;
	struct frame *f;

	g_top++;
	for (f = g_top; f > g_stack->frames && f->slot <= slot; f--) {
		if (f->slot == slot) {
			g_top = f - 1;
			return;
		}
	}
	if (coroutine_enter(slot))
		return;
	if (is_near(g_top->slot, sp))
		return; /* code pushed an address and "returned" to it */
	if (f > g_stack->frames || same_segment(f->slot, sp)) {
		/* several frames were unwound, as by an exception */
		if (f->slot >= sp && f != g_top) {
			g_top = f;
			return;
		}
	}
	if (g_top->slot < sp && g_stack->frames->slot >= sp)
		find_stack(sp);
	else
		enter_new(sp);
}

UInt stack_node(void)
{
	Addr sp = VG_(get_SP)(g_tid);
	struct frame *f;

	if (UNLIKELY(!is_near(g_top->slot, sp)))
		find_stack(sp);
	for (f = g_top; f->node == NO_NODE; f--)
		;
	while (f < g_top) {
		UInt parent = f->node;

		f++;
		f->node = node_get(parent, f->ret, f->is_signal == IS_SIGNAL);
	}
	return g_top->node;
}

/* ---- threads and signals ---- */

static void use_sp(void)
{
	g_sp = g_threads[g_tid].sp != NULL ? g_threads[g_tid].sp : &g_unknown_sp;
}

/* Notes where Valgrind keeps the running thread's stack pointer. It has one fixed copy of the
 * registers per thread id. */
void stack_learn_sp(const Addr *sp)
{
	g_threads[g_tid].sp = sp;
	use_sp();
}

void stack_run(ThreadId tid)
{
	if (tid == g_tid)
		return;
	g_threads[g_tid].pending = g_pending;
	g_threads[g_tid].awaited = g_awaited;
	g_tid = tid;
	g_pending = g_threads[tid].pending;
	g_awaited = g_threads[tid].awaited;
	out_thread(g_threads[tid].number);
	if (g_threads[tid].stack == NULL)
		g_threads[tid].stack = stack_new(VG_(get_SP)(tid) + 256, tid, THREAD_FRAMES);
	stack_enter(g_threads[tid].stack);
	use_sp();
}

void stack_thread_begin(ThreadId tid)
{
	g_threads[tid].number = ++g_nthreads;
	g_threads[tid].stack = NULL;
	g_threads[tid].pending = 0;
	g_threads[tid].awaited = NULL;
}

void stack_thread_end(ThreadId tid)
{
	stack_run(tid);
	/* coroutines may continue in another thread */
	for (UInt i = g_nstacks; i-- > 0;)
		if (g_stacks[i] != g_stack && g_stacks[i]->owner == tid)
			g_stacks[i]->owner = VG_INVALID_THREADID;
	stack_free(g_stack);
	g_stack = NULL;
	g_threads[tid].stack = NULL;
	g_threads[tid].number = 0;
	g_tid = VG_INVALID_THREADID;
	g_awaited = NULL;
}

UInt stack_thread_number(ThreadId tid)
{
	return g_threads[tid].number;
}

void stack_signal(ThreadId tid, Bool on_altstack)
{
	Addr sp;

	stack_run(tid);
	stack_node();
	sp = VG_(get_SP)(tid) - arch_red_zone_bytes;
	if (on_altstack)
		sp = VG_(thread_get_altstack_min)(tid) + VG_(thread_get_altstack_size)(tid);
	if (g_top + 1 < g_frames_end)
		*++g_top = (struct frame){
			.slot = sp, .ret = VG_(get_IP)(tid), .node = NO_NODE, .is_signal = IS_SIGNAL
		};
}

void stack_signal_return(ThreadId tid)
{
	struct frame *f;

	stack_run(tid);
	for (f = g_top; f > g_stack->frames; f--) {
		if (f->is_signal == IS_SIGNAL) {
			g_top = f - 1;
			return;
		}
	}
}

const struct frame *stack_bottom(void)
{
	return g_stack->frames;
}
