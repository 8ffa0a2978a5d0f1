/* Finds candidates with a table of the last store to each word. A store is covered by a lock while
 * its thread has held the lock without a break; when its fence comes, the rest is settled. The
 * table forgets stores that all threads come after, so it does not grow with the run. */
#include "check/candidates.h"

#include <stdlib.h>

#include "util/alloc.h"

#define WORD_BYTES 8u
#define ROOM_LEAST 1024u
#define STORED_MOST 4096u /* more words are not remembered */
#define STORE_MAX 512u    /* of a longer store, the words behind are left out */
#define OPEN_MAX 256u     /* the oldest words are given up: they are no candidates */

struct candidate_store {
	uint64_t key; /* address / 8 + 1; 0: the slot is free */
	const struct trace_site *site;
	uint64_t locks[CANDIDATE_LOCKS]; /* held at the store; 0: none */
	uint32_t who;
	uint32_t stored, persisted; /* how far its thread had come; persisted 0: not durable yet */
	uint8_t from, to;           /* the bytes of the word */
	uint8_t covered;            /* bit i: locks[i] has been held since */
	bool is_unknown;            /* too many locks, or given up */
};

void candidates_release(struct candidates *c)
{
	for (size_t i = 0; i < c->threads.n; i++) {
		vec_release(&c->threads.at[i].seen);
		vec_release(&c->threads.at[i].open);
	}
	for (size_t i = 0; i < c->object_clocks.n; i++)
		vec_release(&c->object_clocks.at[i].seen);
	vec_release(&c->threads);
	vec_release(&c->object_clocks);
	vec_release(&c->list);
	map_release(&c->objects);
	map_release(&c->known);
	free(c->slots);
	free(c->keys);
	*c = (struct candidates){ 0 };
}

/* ---- clocks ---- */

static uint32_t seen(const struct candidate_clock *clock, uint32_t who)
{
	return who < clock->seen.n ? clock->seen.at[who] : 0;
}

static void see(struct candidate_clock *clock, uint32_t who, uint32_t time)
{
	while (clock->seen.n <= who)
		*vec_add(&clock->seen) = 0;
	if (clock->seen.at[who] < time)
		clock->seen.at[who] = time;
}

static void see_all(struct candidate_clock *clock, const struct candidate_clock *other)
{
	for (uint32_t i = 0; i < other->seen.n; i++)
		see(clock, i, other->seen.at[i]);
}

static struct candidate_clock *thread_clock(struct candidates *c, uint32_t who)
{
	while (c->threads.n <= who)
		*vec_add(&c->threads) = (struct candidate_clock){ 0 };
	see(&c->threads.at[who], who, 1);
	return &c->threads.at[who];
}

static struct candidate_clock *object_clock(struct candidates *c, uint64_t object)
{
	uintptr_t known = (uintptr_t)map_get(&c->objects, object);

	if (!known) {
		*vec_add(&c->object_clocks) = (struct candidate_clock){ 0 };
		known = c->object_clocks.n;
		map_set(&c->objects, object, (void *)known);
	}
	return &c->object_clocks.at[known - 1];
}

static void see_ended(struct candidates *c, uint32_t who)
{
	for (uint32_t i = 0; i < c->threads.n; i++)
		if (c->threads.at[i].has_ended && i != who)
			see_all(&c->threads.at[who], &c->threads.at[i]);
}

/* ---- the table ---- */

static struct candidate_store *slot_of(const struct candidates *c, uint64_t key)
{
	const uint64_t h = key * 0x9e3779b97f4a7c15u;
	size_t i = h >> 32 & (c->room - 1);

	while (c->keys[i] && c->keys[i] != key)
		i = (i + 1) & (c->room - 1);
	return &c->slots[i];
}

/* Finds the slot of a word, and makes it the word's own if it was free. */
static struct candidate_store *slot_take(struct candidates *c, uint64_t key)
{
	struct candidate_store *s = slot_of(c, key);

	c->keys[s - c->slots] = key;
	return s;
}

/* Do all other threads that still run come after the fence of this store? No pair with it is
 * possible then. */
static bool is_past(const struct candidates *c, const struct candidate_store *s)
{
	if (s->persisted == 0)
		return s->is_unknown;
	for (uint32_t i = 0; i < c->threads.n; i++)
		if (i != s->who && !c->threads.at[i].has_ended &&
		    seen(&c->threads.at[i], s->who) < s->persisted)
			return false;
	return true;
}

/* Makes room in the table: forgets the stores that all threads come after; if that is not enough,
 * all that are durable. */
static void make_room(struct candidates *c)
{
	struct candidate_store *old = c->slots;
	const size_t room = c->room;
	size_t kept = 0;

	for (size_t i = 0; i < room; i++)
		if (old[i].key && is_past(c, &old[i]))
			old[i].key = 0;
		else
			kept += old[i].key != 0;
	for (size_t i = 0, n = kept; n > STORED_MOST && i < room; i++)
		if (old[i].key && old[i].persisted) {
			old[i].key = 0;
			kept--;
		}
	for (c->room = ROOM_LEAST; c->room < 4 * kept;)
		c->room *= 2;
	c->n = kept;
	c->slots = xcalloc(c->room, sizeof *c->slots);
	free(c->keys);
	c->keys = xcalloc(c->room, sizeof *c->keys);
	for (size_t i = 0; i < room; i++)
		if (old[i].key)
			*slot_take(c, old[i].key) = old[i];
	free(old);
}

/* ---- stores ---- */

static void note_locks(struct candidate_store *s, const struct activity *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->held.n; i++) {
		if (t->held.at[i].is_shared)
			continue;
		if (n == CANDIDATE_LOCKS) {
			s->is_unknown = true;
			return;
		}
		s->locks[n] = t->held.at[i].lock;
		s->covered |= (uint8_t)(1u << n++);
	}
}

static void add_open(struct candidates *c, struct candidate_clock *clock, uint64_t key)
{
	if (clock->open.n > 0 && clock->open.at[clock->open.n - 1] == key)
		return;
	if (clock->open.n == OPEN_MAX) {
		slot_of(c, clock->open.at[0])->is_unknown = true;
		memmove(clock->open.at, clock->open.at + 1, --clock->open.n * sizeof(uint64_t));
	}
	*vec_add(&clock->open) = key;
}

void candidates_store(struct candidates *c, const struct activities *a, uint32_t who,
		      const struct trace_event *ev)
{
	struct candidate_clock *clock = thread_clock(c, who);
	const uint32_t len = ev->size_bytes < STORE_MAX ? ev->size_bytes : STORE_MAX;
	const uint64_t end = ev->addr + len;

	for (uint64_t addr = ev->addr, next; addr < end; addr = next) {
		const uint64_t word = addr / WORD_BYTES;
		struct candidate_store *s;

		next = (word + 1) * WORD_BYTES < end ? (word + 1) * WORD_BYTES : end;
		if (2 * (c->n + 1) > c->room)
			make_room(c);
		s = slot_take(c, word + 1);
		c->n += !s->key;
		*s = (struct candidate_store){ .key = word + 1,
					       .site = ev->site,
					       .who = who,
					       .stored = seen(clock, who),
					       .from = (uint8_t)(addr % WORD_BYTES),
					       .to = (uint8_t)(next - word * WORD_BYTES) };
		note_locks(s, &a->list.at[who]);
		add_open(c, clock, word + 1);
	}
}

/* Finds the thread's store to a word that may not be durable yet; NULL: another thread has stored
 * there since. */
static struct candidate_store *open_store(const struct candidates *c, uint32_t who, uint64_t key)
{
	struct candidate_store *s = slot_of(c, key);

	return s->key && s->who == who && s->persisted == 0 ? s : NULL;
}

void candidates_settle(struct candidates *c, const struct model *m, uint32_t who)
{
	struct candidate_clock *clock = thread_clock(c, who);
	size_t n = 0;

	if (clock->open.n == 0)
		return;
	see(clock, who, seen(clock, who) + 1);
	for (size_t i = 0; i < clock->open.n; i++) {
		const uint64_t key = clock->open.at[i];
		struct candidate_store *s = open_store(c, who, key);

		if (s && model_is_durable(m, (key - 1) * WORD_BYTES + s->from,
					  (uint64_t)(s->to - s->from)))
			s->persisted = seen(clock, who);
		else if (s)
			clock->open.at[n++] = key;
	}
	clock->open.n = n;
}

/* ---- loads ---- */

static const struct candidate_store *find(const struct candidates *c, uint64_t key)
{
	const struct candidate_store *s = slot_of(c, key);

	return c->keys[s - c->slots] ? s : NULL;
}

static bool holds(const struct activity *t, uint64_t lock)
{
	for (size_t i = 0; i < t->held.n; i++)
		if (t->held.at[i].lock == lock)
			return true;
	return false;
}

static void add_candidate(struct candidates *c, const struct candidate_store *s,
			  const struct trace_event *ev)
{
	const uint64_t pair =
		(uint64_t)(s->site ? s->site->id : 0) << 32 | (ev->site ? ev->site->id : 0);

	if (map_get(&c->known, pair + 1))
		return;
	map_set(&c->known, pair + 1, c);
	*vec_add(&c->list) =
		(struct candidate){ s->site, ev->site, (s->key - 1) * WORD_BYTES + s->from };
}

static void look_at(struct candidates *c, const struct activity *t, struct candidate_clock *clock,
		    const struct candidate_store *s, const struct trace_event *ev)
{
	bool is_locked = false, is_covered = s->is_unknown;

	for (uint32_t i = 0; i < CANDIDATE_LOCKS && s->locks[i]; i++)
		if (holds(t, s->locks[i])) {
			is_locked = true;
			is_covered |= s->covered >> i & 1;
		}
	if (s->persisted && !is_covered)
		add_candidate(c, s, ev);
	if (!is_locked)
		see(clock, s->who, s->stored);
}

void candidates_load(struct candidates *c, const struct activities *a, uint32_t who,
		     const struct trace_event *ev)
{
	struct candidate_clock *clock;

	if (c->room == 0)
		return;
	clock = thread_clock(c, who);
	for (uint64_t addr = ev->addr & ~7ul; addr < ev->addr + ev->size_bytes; addr += 8) {
		const struct candidate_store *s = find(c, addr / WORD_BYTES + 1);

		if (s && s->who != who && addr + s->from < ev->addr + ev->size_bytes &&
		    addr + s->to > ev->addr &&
		    (s->persisted == 0 || seen(clock, s->who) < s->persisted) &&
		    a->list.at[s->who].stream == ev->stream)
			look_at(c, &a->list.at[who], clock, s, ev);
	}
}

/* ---- other events ---- */

static void uncover(struct candidates *c, uint32_t who, uint64_t lock)
{
	const struct candidate_clock *clock = thread_clock(c, who);

	for (size_t i = 0; i < clock->open.n; i++) {
		struct candidate_store *s = open_store(c, who, clock->open.at[i]);

		for (uint32_t k = 0; s && k < CANDIDATE_LOCKS; k++)
			if (s->locks[k] == lock)
				s->covered &= (uint8_t) ~(1u << k);
	}
}

static void begin_thread(struct candidates *c, struct activities *a, uint32_t who,
			 const struct trace_event *ev)
{
	const struct trace_event child = { .stream = ev->stream, .thread = (uint32_t)ev->arg[0] };
	const uint32_t new = activities_who(a, &child);

	thread_clock(c, who);
	thread_clock(c, new)->has_ended = false;
	see_all(&c->threads.at[new], &c->threads.at[who]);
}

void candidates_step(struct candidates *c, struct activities *a, uint32_t who,
		     const struct trace_event *ev)
{
	switch ((int)ev->kind) {
	case PMT_UNLOCK:
		if (activity_is_given_back(&a->list.at[who], ev))
			uncover(c, who, activity_lock(ev));
		break;
	case PMT_THREAD_BEGIN: begin_thread(c, a, who, ev); break;
	case PMT_THREAD_END: thread_clock(c, who)->has_ended = true; break;
	case PMT_RELEASE: see_all(object_clock(c, activity_lock(ev)), thread_clock(c, who)); break;
	case PMT_ACQUIRE:
		thread_clock(c, who);
		if (ev->arg[0])
			see_all(&c->threads.at[who], object_clock(c, activity_lock(ev)));
		else
			see_ended(c, who);
		break;
	default: break;
	}
}
