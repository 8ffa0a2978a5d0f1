/* Gives Valgrind's scheduler lock to its threads in an order of our own. The linker puts the two
 * functions at the end of this file before the core's that acquire and release that lock (--wrap in
 * recorder.mk).
 *
 * A thread that wants the lock waits for its turn. Who waits while nobody runs decides; not before
 * every thread is at rest, so that it does not matter who came first:
 *
 *	waits for its turn      it can be chosen
 *	asleep in a call        it waits for another thread, for input, or for time
 *	anything else           it will do one of the two soon, so the decision waits for it
 *
 * The thread with the highest priority is chosen. Priorities come from the seed; a thread that gave
 * up the processor, whether it was asked to (points.c) or used up its time, has the lowest from
 * then on, so threads that spin let the others go on. Sleep (nanosleep) ends after an amount of
 * what the others do (now()), not after a time. So does a wait for a futex whose time is over: the
 * thread has returned from the kernel, and waits for its turn until then, or until nobody else can
 * run. Only if somebody wants to wake it meanwhile, time has decided.
 *
 * What time or other processes decide is a departure: the same seed need not give the same order.
 * Each kind of departure is noted in the trace once. If nothing but waiting happens for long, the
 * order is given up, and the threads compete for the lock as they would without --schedule.
 *
 * Limits: each process schedules its own threads, and they run beside those of others. A call that
 * blocks in a way that is not in can_block() is waited for, up to CALL_MOST_MS. */
#include "valgrind/recorder/schedule/turns.h"

#include "valgrind/common/arch.h"
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"

#define MAX_TURNS 512u
#define CALL_MOST_MS 300u   /* an unknown call that sleeps for longer counts as blocked */
#define REST_MOST_MS 10000u /* a thread that does not come to rest for longer is left out */
#define BLOCKS_PER_MS 2000u /* of sleep: while others run so many blocks */
#define SLEEP_MOST_MS 1000u
/* A wait with a time limit: while others run so many blocks, for each millisecond of the limit. As
 * many as they may run in that time: if they ran fewer, everybody would wait for the time to pass.
 * Limits are rounded up to powers of two from WAIT_LEAST_MS on, because how much of one is left
 * when the wait begins differs from run to run. */
#define BLOCKS_PER_WAIT_MS 16000u
#define WAIT_LEAST_MS 128u
#define WAIT_MOST_MS 2000u     /* nobody waits for a longer one to pass */
#define BLOCKS_PER_YIELD 1000u /* what a thread that gives up the processor counts for, besides */
/* the order is given up if there is no progress for so many blocks, or so many decisions */
#define IDLE_MOST_BLOCKS 300000000u
#define IDLE_MOST_DECISIONS 5000u

#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
enum { FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE = 3, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP };
enum { FUTEX_WAIT_BITSET = 9, FUTEX_WAKE_BITSET };
#define FUTEX_OPERATION 127u
#define FUTEX_CLOCK_REALTIME 256u
#define F_DUPFD_CLOEXEC 1030 /* Valgrind's headers lack it */
#define ETIMEDOUT 110

enum state {
	FREE,  /* no thread */
	WAITS, /* for its turn */
	RUNS,  /* has the lock */
	COMES, /* will wait for its turn soon: it is new, or it gave up the processor */
	CALLS, /* in a system call that can block */
	ENDS,  /* until the kernel has forgotten the thread */
};

struct turn {
	Int lwp;
	ThreadId tid; /* 0: not known yet */
	volatile UInt state;
	volatile UInt bell; /* a futex: it changes when the thread has to look */
	volatile Bool is_chosen;
	Bool is_held, is_ending, is_in_call, may_time_out;
	Bool has_cloned; /* the core makes a thread yield that has started another one */
	Long priority;   /* the highest runs */
	UInt call;       /* its number */
	Bool is_asleep;  /* in a call that only time ends, or it has returned from that */
	ULong due;       /* and now() when it ends */
	Bool is_timed;   /* the call waits for a futex with a time limit; it is asleep, too: */
	UWord futex;
	ULong until_ns; /* when its time is over */
	UInt clock;
	Bool is_missed;   /* somebody wanted to wake it after that */
	Bool was_blocked; /* at an earlier decision, when there had been so many calls: */
	ULong ncalls;
	Int stat_fd;
};

void __real_vgModuleLocal_acquire_sched_lock(void *lock);
void __real_vgModuleLocal_release_sched_lock(void *lock);
void __wrap_vgModuleLocal_acquire_sched_lock(void *lock);
void __wrap_vgModuleLocal_release_sched_lock(void *lock);

Bool g_many;

static volatile Bool g_is_on;
static volatile Bool g_is_forking;
static Int g_pid;
static struct turn g_turns[MAX_TURNS];
static volatile UInt g_nturns; /* slots that were ever used */
static UInt g_nalive;
static struct turn *g_owner, *g_last;
static Bool g_is_deciding;
static ThreadId g_child; /* was created, and its lwp is not known yet */
static UInt g_nborn;
static ULong g_random, g_blocks, g_ncalls;
static Long g_lowest;
static ULong g_nyields; /* how often a thread gave up the processor by itself */
static enum turns_why g_asked;
static UInt g_held_yields; /* decisions because a thread's time was over while one is held */

/* to notice that nothing happens */
static Bool g_has_progressed;
static ULong g_progress_blocks;
static UInt g_idle;

/* for the trace */
static ULong g_number; /* of the last switch */
static UInt g_reason;  /* enum pmt_schedule */
static Bool g_is_switched, g_is_given_up;
enum departure { BACK_BY_ITSELF, TIMED_OUT, NOT_AT_REST, UNKNOWN_CALL, NO_PROC, NDEPARTURES };
static const HChar *const g_departures[NDEPARTURES] = {
	"a thread went on without another one's doing (input, or time)",
	"a wait ended because its time was over",
	"a thread did not come to rest, and the others went on without it",
	"a thread stayed in a system call of which pmend does not know that it waits",
	"what threads do in system calls cannot be read from /proc",
};
static Bool g_is_departed[NDEPARTURES], g_is_departure_told[NDEPARTURES];

static void depart(enum departure d)
{
	g_is_departed[d] = True;
}

ULong turns_random(void) /* splitmix64 */
{
	ULong z = g_random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* ---- a lock of our own; it is held for a few instructions ---- */

static volatile UInt g_mutex; /* 0: free, 1: held, 2: held, and others wait */

static void futex_wait(volatile UInt *at, UInt value)
{
	arch_syscall(__NR_futex, (Long)(Addr)at, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static void futex_wake(volatile UInt *at)
{
	arch_syscall(__NR_futex, (Long)(Addr)at, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void mutex_lock(void)
{
	UInt free = 0;

	if (__atomic_compare_exchange_n(&g_mutex, &free, 1, False, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&g_mutex, 2, __ATOMIC_ACQUIRE) != 0)
		futex_wait(&g_mutex, 2);
}

static void mutex_unlock(void)
{
	if (__atomic_exchange_n(&g_mutex, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(&g_mutex);
}

static void ring(struct turn *t)
{
	__atomic_add_fetch(&t->bell, 1, __ATOMIC_RELEASE);
	futex_wake(&t->bell);
}

static ULong clock_ns(UInt clock)
{
	struct vki_timespec ts = { 0, 0 };

	arch_syscall(__NR_clock_gettime, clock, (Long)(Addr)&ts, 0, 0, 0, 0);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void nap(UInt microseconds)
{
	struct vki_timespec ts = { 0, microseconds * 1000 };

	arch_syscall(__NR_nanosleep, (Long)(Addr)&ts, 0, 0, 0, 0, 0);
}

/* ---- threads ---- */

static struct turn *turn_of_lwp(Int lwp)
{
	const UInt n = __atomic_load_n(&g_nturns, __ATOMIC_ACQUIRE);

	for (UInt i = 0; i < n; i++)
		if (g_turns[i].state != FREE && g_turns[i].lwp == lwp)
			return &g_turns[i];
	return NULL;
}

static struct turn *turn_of_tid(ThreadId tid)
{
	if (g_last != NULL && g_last->tid == tid)
		return g_last;
	for (UInt i = 0; i < g_nturns; i++)
		if (g_turns[i].state != FREE && g_turns[i].tid == tid)
			return &g_turns[i];
	return NULL;
}

/* Opens the file that says what the thread does. Its descriptor gets a high number, out of the
 * program's way. */
static Int stat_open(Int lwp)
{
	struct vki_rlimit limit;
	HChar path[64];
	Long high;
	SysRes r;

	VG_(sprintf)(path, "/proc/self/task/%d/stat", lwp);
	r = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(r))
		return -1;
	if (sys_getrlimit(VKI_RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 4 * MAX_TURNS)
		return sr_Res(r);
	high = sys_fcntl(sr_Res(r), F_DUPFD_CLOEXEC, limit.rlim_cur - 2 * MAX_TURNS);
	if (high < 0)
		return sr_Res(r);
	VG_(close)(sr_Res(r));
	return high;
}

/* Gives the letter by which /proc says what the thread does; 0: there is no such thread, or it
 * cannot be read. */
static HChar stat_letter(const struct turn *t)
{
	HChar text[128];
	Long n = t->stat_fd < 0 ? -1 : sys_pread(t->stat_fd, text, sizeof text, 0);

	/* the name of the thread is in parentheses, and may have any bytes */
	while (n > 0 && text[n - 1] != ')')
		n--;
	return n > 0 && n + 1 < (Long)sizeof text ? text[n + 1] : 0;
}

/* Adds a thread. The caller has the mutex. */
static struct turn *turn_add(Int lwp, enum state state)
{
	struct turn *t;
	UInt i = 0;

	while (i < g_nturns && g_turns[i].state != FREE)
		i++;
	if (i == MAX_TURNS)
		return NULL;
	t = &g_turns[i];
	VG_(memset)(t, 0, sizeof *t);
	t->lwp = lwp;
	t->stat_fd = -1;
	__atomic_store_n(&t->state, state, __ATOMIC_RELEASE);
	if (i == g_nturns)
		__atomic_store_n(&g_nturns, i + 1, __ATOMIC_RELEASE);
	g_nalive++;
	return t;
}

static void turn_free(struct turn *t)
{
	if (t->stat_fd >= 0)
		VG_(close)(t->stat_fd);
	t->stat_fd = -1;
	t->tid = 0;
	g_nalive--;
	__atomic_store_n(&t->state, FREE, __ATOMIC_RELEASE);
}

/* Names the thread: who it is for Valgrind, and its priority. Without a seed, the older thread has
 * the higher one. */
static void turn_name(struct turn *t, ThreadId tid)
{
	t->tid = tid;
	t->stat_fd = stat_open(t->lwp);
	if (t->stat_fd < 0)
		depart(NO_PROC);
	g_nborn++;
	t->priority = clo_schedule_seed ? 1 + (Long)(turns_random() >> 16 << 12) : 1LL << 40;
	t->priority -= g_nborn;
}

/* ---- rest ---- */

/* Is it a call that waits for another thread, for input or for time, and does nothing else? */
static Bool can_block(UInt number)
{
	switch (number) {
	case __NR_futex:
	case __NR_read:
	case __NR_readv:
	case __NR_write:
	case __NR_writev:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_accept:
	case __NR_accept4:
	case __NR_connect:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
#ifdef __NR_poll
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
	case __NR_pause:
#endif
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_rt_sigtimedwait:
	case __NR_rt_sigsuspend:
	case __NR_flock:
	case __NR_fcntl:
	case __NR_msgrcv:
	case __NR_msgsnd:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_splice:
	case __NR_io_getevents: return True;
	default: return False;
	}
}

/* May the program make this call while it does nothing but to wait? */
static Bool only_waits(UInt number)
{
	switch (number) {
	case __NR_sched_yield:
	case __NR_clock_gettime:
	case __NR_gettimeofday:
#ifdef __NR_time
	case __NR_time:
#endif
	case __NR_getpid:
	case __NR_gettid:
	case __NR_getcpu: return True;
	case __NR_write:
	case __NR_writev:
	case __NR_sendto:
	case __NR_sendmsg: return False;
	default: return can_block(number);
	}
}

/* Is the thread at rest, so that a decision need not wait for it? ms: how long somebody waits. */
static Bool is_at_rest(struct turn *t, UInt ms)
{
	HChar letter;

	switch (t->state) {
	case FREE:
	case WAITS: return True;
	case ENDS:
		letter = stat_letter(t);
		/* the first thread stays a zombie until the process ends */
		if (letter != 0 && letter != 'X' && letter != 'Z')
			return False;
		mutex_lock();
		turn_free(t);
		mutex_unlock();
		return True;
	case CALLS:
		letter = t->stat_fd < 0 ? 'S' : stat_letter(t);
		if (t->state != CALLS || letter != 'S')
			return False;
		if (can_block(t->call))
			return True;
		if (ms < CALL_MOST_MS)
			return False;
		depart(UNKNOWN_CALL);
		return True;
	default: return False;
	}
}

/* Waits until all threads are at rest. They are if they were in two rounds: in the first one, a
 * thread that is asked late may have woken one that was asked before. */
static void come_to_rest(void)
{
	const UInt from = VG_(read_millisecond_timer)();
	UInt i = 0, ms = 0, tries = 0;

	while (i < 2 * g_nturns) {
		if (is_at_rest(&g_turns[i % g_nturns], ms)) {
			i++;
			continue;
		}
		if (ms >= REST_MOST_MS) {
			depart(NOT_AT_REST);
			return;
		}
		if (++tries < 20)
			sys_yield();
		else
			nap(tries < 200 ? 20 : 200);
		if (tries >= 20)
			ms = VG_(read_millisecond_timer)() - from;
		i = 0;
	}
}

/* ---- decisions ---- */

/* The time by which threads sleep: it depends only on what the program does. */
static ULong now(void)
{
	return g_blocks + BLOCKS_PER_YIELD * g_nyields;
}

/* Gives the order up: everybody competes for the lock. The caller has the mutex. */
static void give_up_order(void)
{
	g_is_on = False;
	g_many = False;
	g_is_given_up = True;
	for (UInt i = 0; i < g_nturns; i++)
		if (g_turns[i].state == WAITS) {
			g_turns[i].is_chosen = True;
			ring(&g_turns[i]);
		}
}

static Bool is_better(const struct turn *t, const struct turn *best)
{
	return best == NULL || t->priority > best->priority;
}

/* Chooses who runs; NULL: nobody can yet. *nready: how many could. */
static struct turn *choose(UInt *nready)
{
	struct turn *best = NULL, *held = NULL, *sleeper = NULL;

	*nready = 0;
	for (UInt i = 0; i < g_nturns; i++) {
		struct turn *t = &g_turns[i];

		if (t->is_asleep && (t->state == WAITS || t->state == CALLS)) {
			if (t->due <= now() && t->state == CALLS)
				return NULL; /* it comes soon */
			if (sleeper == NULL || t->due < sleeper->due)
				sleeper = t;
			if (t->due > now())
				continue;
		}
		if (t->state != WAITS)
			continue;
		++*nready;
		if (t->is_held)
			held = t;
		else if (is_better(t, best))
			best = t;
	}
	if (best != NULL)
		return best;
	if (held != NULL) {
		held->is_held = False;
		return held;
	}
	return sleeper != NULL && sleeper->state == WAITS ? sleeper : NULL;
}

/* Notes who is blocked, and who was, and has come back although nobody made a call since. */
static void note_blocked(UInt nready)
{
	for (UInt i = 0; i < g_nturns; i++) {
		struct turn *t = &g_turns[i];

		if (t->state == WAITS && t->was_blocked) {
			if (t->ncalls == g_ncalls && nready > 1 && !t->is_asleep)
				depart(BACK_BY_ITSELF);
			t->was_blocked = False;
		} else if (t->state == CALLS && !t->was_blocked) {
			t->was_blocked = True;
			t->ncalls = g_ncalls;
		}
	}
}

/* Does the program only wait, and for long? */
static Bool is_idle(UInt nready)
{
	if (g_has_progressed || nready < 2) {
		g_has_progressed = False;
		g_progress_blocks = g_blocks;
		g_idle = 0;
		return False;
	}
	return ++g_idle > IDLE_MOST_DECISIONS || g_blocks - g_progress_blocks > IDLE_MOST_BLOCKS;
}

/* Is a thread held while the others use up their time? They may wait for it without a call. */
static Bool is_held_for_long(UInt nready)
{
	if (!turns_is_held() || g_reason != PMT_SCHEDULE_YIELDS)
		return False;
	if (++g_held_yields <= nready)
		return False;
	g_held_yields = 0;
	return True;
}

/* Decides who runs. The caller waits for its turn, and has the mutex; nobody runs. */
static void decide(void)
{
	struct turn *t;
	UInt nready;

	g_is_deciding = True;
	mutex_unlock();
	come_to_rest();
	mutex_lock();
	g_is_deciding = False;
	if (!g_is_on)
		return;
	t = choose(&nready);
	if (t == NULL) {
		mutex_unlock();
		nap(100);
		mutex_lock();
		return;
	}
	note_blocked(nready);
	if (is_held_for_long(nready)) {
		turns_unhold();
		return;
	}
	if (is_idle(nready)) {
		give_up_order();
		return;
	}
	t->is_asleep = False;
	g_is_switched |= g_last != t;
	g_number += g_last != t;
	g_owner = t;
	t->is_chosen = True;
	ring(t);
}

/* ---- the trace ---- */

static void tell(ThreadId tid, UInt reason, const HChar *text)
{
	const ULong args[2] = { g_number, reason };

	if (shared_has_files())
		emit_event(tid, PMT_SCHEDULE, 0, args, text, VG_(strlen)(text));
}

static void tell_all(ThreadId tid)
{
	if (g_is_switched)
		tell(tid, g_reason, "");
	g_is_switched = False;
	for (UInt i = 0; i < NDEPARTURES; i++)
		if (g_is_departed[i] && !g_is_departure_told[i] && shared_has_files()) {
			g_is_departure_told[i] = True;
			tell(tid, PMT_SCHEDULE_DEPARTED, g_departures[i]);
		}
	if (g_is_given_up && shared_has_files()) {
		g_is_given_up = False;
		tell(tid, PMT_SCHEDULE_GIVEN_UP,
		     "the threads only waited for each other in this order");
	}
}

/* ---- what the rest of the recorder tells ---- */

void turns_begin(ThreadId tid)
{
	if (!clo_schedule)
		return;
	g_random = clo_schedule_seed;
	g_pid = VG_(getpid)();
	g_owner = g_last = turn_add(VG_(gettid)(), RUNS);
	turn_name(g_owner, tid);
	g_is_on = True;
}

void turns_run(ThreadId tid, ULong blocks)
{
	g_blocks = blocks;
	tell_all(tid);
}

void turns_created(ThreadId child)
{
	if (g_is_on)
		g_child = child;
}

void turns_ends(ThreadId tid)
{
	struct turn *t = g_is_on ? turn_of_tid(tid) : NULL;

	g_ncalls++;
	g_has_progressed = True;
	if (t != NULL)
		t->is_ending = True;
	if (t != NULL && t->is_held)
		turns_unhold();
}

static ULong ms_of(const struct vki_timespec *ts)
{
	return ts->tv_sec >= SLEEP_MOST_MS / 1000 ? SLEEP_MOST_MS : ts->tv_nsec / 1000000u;
}

static Bool is_readable(UWord at)
{
	return VG_(am_is_valid_for_client)(at, sizeof(struct vki_timespec), VKI_PROT_READ);
}

/* Notes a call that only time ends, and when. A point in time counts as the longest sleep, because
 * how far away it is differs from run to run. */
static void note_sleep(struct turn *t, UInt number, const UWord *args)
{
	const Bool is_clock = number == __NR_clock_nanosleep;
	const UWord at = is_clock ? args[2] : args[0];
	ULong ms = SLEEP_MOST_MS;

	t->is_asleep = number == __NR_nanosleep || is_clock;
	if (!t->is_asleep)
		return;
	if (!(is_clock && args[1] != 0) && is_readable(at))
		ms = ms_of((const struct vki_timespec *)at);
	t->due = now() + (ms + 1) * BLOCKS_PER_MS;
}

/* Notes a wait for a futex that time may end, if it is not long. */
static void note_wait(struct turn *t, UInt number, const UWord *args)
{
	const UInt operation = args[1] & FUTEX_OPERATION;
	const struct vki_timespec *limit = (const struct vki_timespec *)args[3];
	ULong now_ns, ms = WAIT_LEAST_MS;

	t->is_timed = t->is_missed = False;
	if (number != __NR_futex || (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) ||
	    !is_readable((UWord)limit) || limit->tv_sec < 0)
		return;
	t->clock = args[1] & FUTEX_CLOCK_REALTIME ? VKI_CLOCK_REALTIME : VKI_CLOCK_MONOTONIC;
	now_ns = clock_ns(t->clock);
	t->until_ns = limit->tv_sec * 1000000000ull + limit->tv_nsec;
	if (operation == FUTEX_WAIT) /* relative */
		t->until_ns += now_ns;
	if (t->until_ns > now_ns + WAIT_MOST_MS * 1000000ull)
		return;
	while (now_ns + ms * 1000000 < t->until_ns)
		ms *= 2;
	t->is_timed = t->is_asleep = True;
	t->futex = args[0];
	t->due = now() + ms * BLOCKS_PER_WAIT_MS;
}

/* Notes whom a call wants to wake although the time of its wait is over. */
static void note_wake(UInt number, const UWord *args)
{
	const UInt operation = args[1] & FUTEX_OPERATION;

	if (number != __NR_futex || (operation != FUTEX_WAKE && operation != FUTEX_WAKE_BITSET &&
				     operation != FUTEX_REQUEUE && operation != FUTEX_CMP_REQUEUE &&
				     operation != FUTEX_WAKE_OP))
		return;
	for (UInt i = 0; i < g_nturns; i++) {
		struct turn *t = &g_turns[i];

		if (t->state != FREE && t->is_timed && t->is_asleep &&
		    (t->futex == args[0] || (operation == FUTEX_WAKE_OP && t->futex == args[4])))
			t->is_missed |= clock_ns(t->clock) >= t->until_ns;
	}
}

void turns_before_call(ThreadId tid, UInt number, const UWord *args)
{
	struct turn *t = g_is_on ? turn_of_tid(tid) : NULL;

	if (t == NULL)
		return;
	g_ncalls += number != __NR_sched_yield;
	g_has_progressed |= !only_waits(number);
	t->is_in_call = number != __NR_sched_yield;
	t->call = number;
	t->may_time_out = (number == __NR_futex && args[3] != 0) || number == __NR_ppoll ||
			  number == __NR_pselect6 || number == __NR_epoll_pwait;
	note_wake(number, args);
	note_sleep(t, number, args);
	note_wait(t, number, args);
}

void turns_after_call(ThreadId tid, UInt number, SysRes result)
{
	struct turn *t = g_is_on ? turn_of_tid(tid) : NULL;

	if (t == NULL)
		return;
	t->is_in_call = t->is_asleep = False;
	if (t->may_time_out && (!t->is_timed || t->is_missed) && sr_isError(result) &&
	    sr_Err(result) == ETIMEDOUT)
		depart(TIMED_OUT);
	t->is_timed = False;
	if (number != __NR_clone || g_child == 0)
		return;
	if (!sr_isError(result)) {
		struct turn *child;

		t->has_cloned = True;
		mutex_lock();
		child = turn_of_lwp(sr_Res(result));
		if (child == NULL)
			child = turn_add(sr_Res(result), COMES);
		mutex_unlock();
		if (child != NULL)
			turn_name(child, g_child);
		g_many = True;
	}
	g_child = 0;
}

void turns_before_fork(void)
{
	g_is_forking = True;
}

void turns_in_parent(void)
{
	g_is_forking = False;
}

/* Schedules the threads of a process that was forked just now. It has one. */
void turns_in_child(ThreadId tid)
{
	g_is_forking = g_is_on = g_many = False;
	if (!clo_schedule)
		return;
	for (UInt i = 0; i < g_nturns; i++)
		if (g_turns[i].state != FREE && g_turns[i].stat_fd >= 0)
			VG_(close)(g_turns[i].stat_fd);
	VG_(memset)(g_turns, 0, sizeof g_turns);
	g_nturns = g_nalive = g_idle = g_held_yields = 0;
	g_mutex = 0; /* another thread of the parent may have held it */
	g_is_deciding = g_is_switched = g_is_given_up = False;
	g_child = 0;
	g_asked = TURNS_OWN;
	g_pid = VG_(getpid)();
	g_owner = g_last = turn_add(VG_(gettid)(), RUNS);
	turn_name(g_owner, tid);
	g_is_on = True;
}

void turns_ask(enum turns_why why)
{
	g_asked = why;
}

void turns_fall_behind(void)
{
	if (g_owner != NULL)
		g_owner->priority = --g_lowest;
}

void turns_progress(void)
{
	g_has_progressed = True;
}

void turns_hold(void)
{
	if (g_owner != NULL)
		g_owner->is_held = True;
	g_held_yields = 0;
}

void turns_unhold(void)
{
	for (UInt i = 0; i < g_nturns; i++)
		g_turns[i].is_held = False;
}

Bool turns_is_held(void)
{
	for (UInt i = 0; i < g_nturns; i++)
		if (g_turns[i].state != FREE && g_turns[i].is_held)
			return True;
	return False;
}

/* ---- the core's lock ---- */

/* Is the order ours? Not in a process that was forked just now. */
static Bool is_scheduled(void)
{
	return g_is_on && !(g_is_forking && VG_(getpid)() != g_pid);
}

/* Has the calling thread, which was in a call, returned because its time was over? */
static Bool is_timed_out(const struct turn *t)
{
	Long result;

	VG_(get_shadow_regs_area)(t->tid, (UChar *)&result, 0, arch_result_offset, sizeof result);
	return result == -ETIMEDOUT;
}

static void wait_for_turn(void)
{
	const Int lwp = VG_(gettid)();
	struct turn *t = turn_of_lwp(lwp);
	UInt bell;

	if (t != NULL && t->is_timed && t->is_in_call)
		t->is_asleep = is_timed_out(t);
	if (t != NULL)
		__atomic_store_n(&t->state, WAITS, __ATOMIC_RELEASE);
	mutex_lock();
	if (t == NULL)
		t = turn_of_lwp(lwp); /* its creator may have added it since */
	if (t == NULL && g_is_on)
		t = turn_add(lwp, WAITS);
	if (t != NULL)
		__atomic_store_n(&t->state, WAITS, __ATOMIC_RELEASE);
	while (g_is_on && t != NULL && !t->is_chosen) {
		if (g_owner == NULL && !g_is_deciding) {
			decide();
			continue;
		}
		bell = t->bell;
		mutex_unlock();
		futex_wait(&t->bell, bell);
		mutex_lock();
	}
	if (t != NULL) {
		t->is_chosen = t->is_in_call = False; /* a signal can end a call, too */
		__atomic_store_n(&t->state, RUNS, __ATOMIC_RELEASE);
	}
	mutex_unlock();
}

/* Gives the turn back, and wakes somebody who decides. */
static void end_turn(void)
{
	struct turn *t = g_owner, *next = NULL;

	mutex_lock();
	g_last = t;
	g_owner = NULL;
	if (t != NULL) {
		g_reason = t->is_in_call || t->is_ending ? PMT_SCHEDULE_WAITS
			   : g_asked == TURNS_CHANGE     ? PMT_SCHEDULE_CHANGE
			   : g_asked == TURNS_HOLD       ? PMT_SCHEDULE_HELD
							 : PMT_SCHEDULE_YIELDS;
		if ((g_reason == PMT_SCHEDULE_YIELDS && !t->has_cloned) ||
		    g_reason == PMT_SCHEDULE_CHANGE)
			t->priority = --g_lowest;
		g_nyields += g_reason == PMT_SCHEDULE_YIELDS;
		t->has_cloned = False;
		__atomic_store_n(&t->state,
				 t->is_ending    ? ENDS
				 : t->is_in_call ? CALLS
						 : COMES,
				 __ATOMIC_RELEASE);
	}
	g_asked = TURNS_OWN;
	for (UInt i = 0; i < g_nturns; i++)
		if (g_turns[i].state == WAITS && is_better(&g_turns[i], next))
			next = &g_turns[i];
	if (next != NULL)
		ring(next);
	mutex_unlock();
}

void __wrap_vgModuleLocal_acquire_sched_lock(void *lock)
{
	/* behind a fork, the core takes the new process' lock when its thread has the turn */
	if (UNLIKELY(g_is_on) && is_scheduled() &&
	    !(g_owner != NULL && g_owner->lwp == VG_(gettid)()))
		wait_for_turn();
	__real_vgModuleLocal_acquire_sched_lock(lock);
}

void __wrap_vgModuleLocal_release_sched_lock(void *lock)
{
	const Bool is_ours = UNLIKELY(g_is_on) && is_scheduled();

	/* first the turn, because after the release its owner could be another thread */
	if (is_ours)
		end_turn();
	__real_vgModuleLocal_release_sched_lock(lock);
}
