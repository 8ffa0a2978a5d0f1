/* Records events for calls of functions that synchronise threads. A function is known by its name,
 * where its code begins, so nothing is preloaded and static programs are seen, too, if they have
 * symbols. A release is recorded when the function is called; a lock or an acquire when it returns,
 * for which its frame is watched.
 *
 *	pthread_cond_wait(c, m)    unlock m … lock m, acquire c
 *	sem_post(s)                release s
 *	sem_trywait(s)             acquire s, if it returns 0
 *
 * Not seen: locks whose code was inlined into the program, and functions without a name. */
#include "valgrind/recorder/blocks/sync.h"

#include "valgrind/common/ir.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm.h"
#include "valgrind/recorder/schedule/points.h"

/* for the sizes of their types */
#include <pthread.h>
#include <semaphore.h>

#define MAX_STEPS 2

struct step {
	UChar kind;  /* enum pmt_kind; 0: none */
	UChar flags; /* enum pmt_sync */
	UChar arg;   /* the argument that is the object's address, from 0 */
	UChar bytes; /* size of the object; 0: unknown, or it is not in memory */
};

struct call {
	const HChar *name;
	struct step enter[MAX_STEPS], leave[MAX_STEPS];
	Bool may_fail; /* leave: only if it returns 0 */
};

#define SYNC(what, of, ...) \
	{ \
		.kind = PMT_##what, .bytes = sizeof(of), __VA_ARGS__ \
	}
#define LOCKS(name, of, ...) \
	{ \
		name, .leave = { SYNC(LOCK, of, __VA_ARGS__) }, .may_fail = True \
	}
#define UNLOCKS(name, of) \
	{ \
		name, .enter = { SYNC(UNLOCK, of) } \
	}
#define WAITS(name) \
	{ \
		name, .enter = { SYNC(UNLOCK, pthread_mutex_t, .arg = 1) }, .leave = { \
			SYNC(LOCK, pthread_mutex_t, .arg = 1), \
			SYNC(ACQUIRE, pthread_cond_t, .flags = PMT_SYNC_WAITED) \
		} \
	}
#define RELEASES(name, of) \
	{ \
		name, .enter = { SYNC(RELEASE, of) } \
	}
#define ACQUIRES(name, of) \
	{ \
		name, .leave = { SYNC(ACQUIRE, of) }, .may_fail = True \
	}
#define JOINS(name) \
	{ \
		name, .leave = { { .kind = PMT_ACQUIRE } }, .may_fail = True \
	}

static const struct call calls[] = {
	LOCKS("pthread_mutex_lock", pthread_mutex_t, .flags = 0),
	LOCKS("pthread_mutex_trylock", pthread_mutex_t, .flags = 0),
	LOCKS("pthread_mutex_timedlock", pthread_mutex_t, .flags = 0),
	LOCKS("pthread_mutex_clocklock", pthread_mutex_t, .flags = 0),
	UNLOCKS("pthread_mutex_unlock", pthread_mutex_t),
	LOCKS("pthread_spin_lock", pthread_spinlock_t, .flags = 0),
	LOCKS("pthread_spin_trylock", pthread_spinlock_t, .flags = 0),
	UNLOCKS("pthread_spin_unlock", pthread_spinlock_t),
	UNLOCKS("pthread_spin_init", pthread_spinlock_t), /* the same code on amd64 */
	LOCKS("pthread_rwlock_rdlock", pthread_rwlock_t, .flags = PMT_SYNC_SHARED),
	LOCKS("pthread_rwlock_tryrdlock", pthread_rwlock_t, .flags = PMT_SYNC_SHARED),
	LOCKS("pthread_rwlock_timedrdlock", pthread_rwlock_t, .flags = PMT_SYNC_SHARED),
	LOCKS("pthread_rwlock_clockrdlock", pthread_rwlock_t, .flags = PMT_SYNC_SHARED),
	LOCKS("pthread_rwlock_wrlock", pthread_rwlock_t, .flags = 0),
	LOCKS("pthread_rwlock_trywrlock", pthread_rwlock_t, .flags = 0),
	LOCKS("pthread_rwlock_timedwrlock", pthread_rwlock_t, .flags = 0),
	LOCKS("pthread_rwlock_clockwrlock", pthread_rwlock_t, .flags = 0),
	UNLOCKS("pthread_rwlock_unlock", pthread_rwlock_t),
	WAITS("pthread_cond_wait"),
	WAITS("pthread_cond_timedwait"),
	WAITS("pthread_cond_clockwait"),
	RELEASES("pthread_cond_signal", pthread_cond_t),
	RELEASES("pthread_cond_broadcast", pthread_cond_t),
	{ "pthread_barrier_wait", .enter = { SYNC(RELEASE, pthread_barrier_t) },
	  .leave = { SYNC(ACQUIRE, pthread_barrier_t) } },
	RELEASES("sem_post", sem_t),
	ACQUIRES("sem_wait", sem_t),
	ACQUIRES("sem_trywait", sem_t),
	ACQUIRES("sem_timedwait", sem_t),
	ACQUIRES("sem_clockwait", sem_t),
	/* the one that ran the function releases it by that, too */
	{ "pthread_once",
	  .leave = { SYNC(ACQUIRE, pthread_once_t), SYNC(RELEASE, pthread_once_t) } },
	JOINS("pthread_join"),
	JOINS("pthread_tryjoin_np"),
	JOINS("pthread_timedjoin_np"),
	JOINS("pthread_clockjoin_np"),
	JOINS("thrd_join"),
};

/* What the user named. */
#define MAX_NAMED 64
static struct call g_named[MAX_NAMED];
static UInt g_nnamed;

static void add_named(struct call call)
{
	if (g_nnamed < MAX_NAMED)
		g_named[g_nnamed++] = call;
}

void sync_lock_call(const HChar *name)
{
	add_named((struct call){ name, .leave = { { .kind = PMT_LOCK } } });
}

void sync_unlock_call(const HChar *name)
{
	add_named((struct call){ name, .enter = { { .kind = PMT_UNLOCK } } });
}

static Bool is_named(const HChar *wanted, const HChar *name)
{
	const SizeT n = VG_(strlen)(wanted);

	/* of C++, without the types of its parameters */
	return VG_(strncmp)(wanted, name, n) == 0 && (name[n] == '\0' || name[n] == '(');
}

static const struct call *find(const struct call *list, UInt n, const HChar *name)
{
	for (UInt i = 0; i < n; i++)
		if (is_named(list[i].name, name))
			return &list[i];
	return NULL;
}

/* Finds the row for the function. The C library has several names for one function, some of which
 * begin with underscores. */
static const struct call *find_call(const HChar *name)
{
	const struct call *found = find(g_named, g_nnamed, name);

	while (*name == '_')
		name++;
	if (VG_(strncmp)(name, "new_sem_", 8) == 0)
		name += 4;
	return found ? found : find(calls, sizeof calls / sizeof *calls, name);
}

/* ---- events ---- */

static void describe(ULong *args, const struct step *s, Addr object)
{
	ULong addr;

	args[0] = object;
	args[1] = s->flags;
	args[2] = s->bytes;
	if (object != 0 && pm_addr(object, &addr)) {
		args[0] = addr;
		args[1] |= PMT_SYNC_PM;
	}
}

static void take_steps(Addr pc, const struct step *steps, const Addr *objects)
{
	struct code *c;
	ULong args[3];

	if (!shared_has_files())
		return;
	for (UInt i = 0; i < MAX_STEPS && steps[i].kind; i++) {
		describe(args, &steps[i],
			 steps[i].bytes || steps[i].kind != PMT_ACQUIRE ? objects[steps[i].arg]
									: 0);
		c = code_get(pc, steps[i].kind, 0);
		emit_place(c);
		emit_args(c, args);
	}
}

void sync_annotated(ThreadId tid, enum pmt_kind kind, Addr object)
{
	const struct step s = { .kind = kind };
	ULong args[3];

	if (!clo_threads || !shared_has_files())
		return;
	describe(args, &s, object);
	emit_event(tid, kind, 0, args, NULL, 0);
}

/* ---- calls that have not returned ---- */

#define MAX_AWAITED 8 /* of a thread, one inside another; others are not seen to return */
#define MAX_THREADS 500

struct awaited {
	struct frame *frame;
	Addr slot, ret; /* of the frame: after a longjmp it may be another one */
	const struct call *call;
	Addr objects[2];
};
static struct {
	struct awaited list[MAX_AWAITED];
	UInt n;
} g_awaiting[MAX_THREADS];

static void await(const struct call *call, const Addr *objects)
{
	struct awaited *list = g_awaiting[g_tid].list;
	UInt *n = &g_awaiting[g_tid].n;

	if (g_awaited == NULL)
		*n = 0;
	while (*n > 0 && list[*n - 1].frame >= g_top)
		--*n;
	if (*n == MAX_AWAITED)
		return;
	list[(*n)++] = (struct awaited){
		g_top, g_top->slot, g_top->ret, call, { objects[0], objects[1] }
	};
	g_awaited = g_top;
}

static VG_REGPARM(0) void sync_entered(const struct call *call, Addr pc, Addr a, Addr b)
{
	const Addr objects[2] = { a, b };

	take_steps(pc, call->enter, objects);
	if (call->leave[0].kind)
		await(call, objects);
}

/* Records the lock or acquire of a function that has returned. Its frame is gone for whoever asks
 * for the stack now, so the event's place is where the function was called. */
static VG_REGPARM(1) void sync_returned(ULong result)
{
	UInt *n = &g_awaiting[g_tid].n;
	const struct awaited *a = &g_awaiting[g_tid].list[--*n];
	const Bool is_it = a->slot == a->frame->slot && a->ret == a->frame->ret;

	g_awaited = *n > 0 ? a[-1].frame : NULL;
	if (is_it && !(a->call->may_fail && (UInt)result != 0))
		take_steps(a->ret - 1, a->call->leave, a->objects);
}

/* ---- blocks ---- */

void sync_add_entry(IRSB *sb, Addr pc, const HChar *name)
{
	const struct call *call = find_call(name);

	if (call == NULL)
		return;
	if (clo_schedule)
		points_add(sb, NULL, POINT_CALL);
	ir_call(sb, NULL, "sync_entered", sync_entered,
		mkIRExprVec_4(ir_ptr(call), ir_u64(pc), ir_register(sb, arch_argument_offset(0)),
			      ir_register(sb, arch_argument_offset(1))));
}

void sync_add_return(IRSB *sb, IRExpr *top)
{
	ir_call(sb,
		ir_binop(sb, Ity_I1, Iop_CmpEQ64, top, ir_load(sb, Ity_I64, ir_ptr(&g_awaited))),
		"sync_returned", sync_returned, mkIRExprVec_1(ir_register(sb, arch_result_offset)));
}
