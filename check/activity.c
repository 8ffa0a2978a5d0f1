/* Follows which locks each thread holds, and which operation and request it works on. Where the
 * program marks no operations, a guess takes the place of a mark: a later event belongs to one
 * operation with a load if the function that loaded, or one that it calls, is still running. A
 * function that has returned only looked something up, so its loads belong to nothing that
 * follows. */
#include "check/activity.h"

#include <stdlib.h>

#include "trace/owner.h"
#include "util/alloc.h"
#include "util/hash.h"

void activities_release(struct activities *a)
{
	for (size_t i = 0; i < a->list.n; i++)
		vec_release(&a->list.at[i].held);
	for (size_t i = 0; i < a->all_unlocks.n; i++)
		free(a->all_unlocks.at[i]);
	vec_release(&a->list);
	vec_release(&a->all_unlocks);
	map_release(&a->by_thread);
	map_release(&a->unlocks);
}

uint32_t activities_who(struct activities *a, const struct trace_event *ev)
{
	const uint64_t key = ((uint64_t)ev->stream << 32 | ev->thread) + 1;
	uintptr_t known;

	if (key == a->last_key)
		return a->last;
	known = (uintptr_t)map_get(&a->by_thread, key);
	if (!known) {
		*vec_add(&a->list) =
			(struct activity){ .stream = ev->stream, .thread = ev->thread };
		known = a->list.n;
		map_set(&a->by_thread, key, (void *)known);
	}
	a->last_key = key;
	return a->last = (uint32_t)known - 1;
}

/* ---- locks ---- */

uint64_t activity_lock(const struct trace_event *ev)
{
	return ev->arg[1] & PMT_SYNC_PM ? ev->arg[0]
					: hash_mix(hash_mix(1, ev->arg[0]), ev->stream);
}

static struct held_lock *held(const struct activity *t, uint64_t lock)
{
	for (size_t i = 0; i < t->held.n; i++)
		if (t->held.at[i].lock == lock)
			return &t->held.at[i];
	return NULL;
}

bool activity_is_given_back(const struct activity *t, const struct trace_event *ev)
{
	const struct held_lock *h = held(t, activity_lock(ev));

	return h && h->depth == 1;
}

static void take(struct activity *t, const struct trace_event *ev)
{
	struct held_lock *h = held(t, activity_lock(ev));

	if (h) { /* a recursive one, or once more for reading */
		h->depth++;
		return;
	}
	*vec_add(&t->held) =
		(struct held_lock){ activity_lock(ev), ev->seq, 1, ev->arg[1] & PMT_SYNC_SHARED };
}

static void give_back(struct activities *a, uint32_t who, const struct trace_event *ev)
{
	const uint64_t lock = activity_lock(ev);
	struct activity *t = &a->list.at[who];
	struct unlock *u = map_get(&a->unlocks, lock);
	struct held_lock *h = held(t, lock);
	size_t n = 0;

	if (h && --h->depth > 0)
		return;

	for (size_t i = 0; i < t->held.n; i++)
		if (t->held.at[i].lock != lock)
			t->held.at[n++] = t->held.at[i];
	if (n == t->held.n)
		return;
	t->held.n = n;
	if (!u) {
		*vec_add(&a->all_unlocks) = u = xcalloc(1, sizeof *u);
		map_set(&a->unlocks, lock, u);
	}
	*u = (struct unlock){ ev->seq, ev->site, who };
}

const struct unlock *activity_got_from(const struct activities *a, const struct activity *t,
				       uint32_t who, uint64_t seq)
{
	for (size_t i = 0; i < t->held.n; i++) {
		const struct unlock *u = map_get(&a->unlocks, t->held.at[i].lock);

		if (u && u->who == who && u->seq > seq)
			return u;
	}
	return NULL;
}

/* ---- operations and requests ---- */

static void begin_request(struct activity *t, const struct trace_event *ev)
{
	/* lines that are read together are one request until somebody answers */
	if (t->request == 0 || t->is_answered || t->fd != ev->arg[0])
		t->request++;
	t->is_answered = false;
	t->fd = ev->arg[0];
}

bool activity_is_answer(const struct activity *t, const struct trace_event *output)
{
	return t->request > 0 && (output->arg[0] == t->fd || (t->fd == 0 && output->arg[0] == 1));
}

void activities_step(struct activities *a, uint32_t who, const struct trace_event *ev)
{
	struct activity *t = &a->list.at[who];

	switch ((int)ev->kind) {
	case PMT_LOCK: take(t, ev); break;
	case PMT_UNLOCK: give_back(a, who, ev); break;
	case PMT_OP_BEGIN: t->op += t->op_depth++ == 0; break;
	case PMT_OP_END: t->op_depth -= t->op_depth > 0; break;
	case PMT_INPUT: begin_request(t, ev); break;
	case PMT_OUTPUT: t->is_answered |= activity_is_answer(t, ev); break;
	default: break;
	}
}

struct activity_moment activity_now(const struct activity *t, const struct trace_event *load)
{
	return (struct activity_moment){ .seq = load->seq,
					 .site = load->site,
					 .op = t->op_depth ? t->op : 0,
					 .request = t->request };
}

/* Gives the caller of the function that an instruction is in; for memcpy and the like, of the
 * function that called it. NULL: unknown. */
static const struct trace_node *caller_of(const struct trace_site *site)
{
	const struct trace_node *n = site->node;
	const struct trace_object *o = site->object;

	while (n && o && owner_of_object(o->path) == OWNER_RUNTIME) {
		o = n->object;
		n = n->parent;
	}
	return n;
}

bool activity_is_function_active(const struct trace_site *then, const struct trace_site *now)
{
	const struct trace_node *caller = then ? caller_of(then) : NULL;

	for (const struct trace_node *n = now ? now->node : NULL; n && caller; n = n->parent)
		if (n == caller)
			return true;
	return false;
}

bool activity_is_same(const struct activity *t, const struct activity_moment *then,
		      const struct trace_event *ev)
{
	if (t->op > 0)
		return then->op != 0 && t->op_depth > 0 && then->op == t->op;
	if (t->request > 0)
		return then->request == t->request;
	for (size_t i = 0; i < t->held.n; i++)
		if (t->held.at[i].seq < then->seq)
			return true;
	return !then->has_returned && activity_is_function_active(then->site, ev->site);
}
