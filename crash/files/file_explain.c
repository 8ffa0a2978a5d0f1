/* Turns a state of files on which recovery fails into something that a person can act on: the
 * smallest loss with which recovery fails in the same way, what has to survive for that, the kind
 * of the bug, and its places. The kinds:
 *   rename-before-fsync    a file has its name, but not what was written to it before
 *   unlink-before-durable  another file is gone, which was removed after the lost write
 *   missing-fsync          a write is lost that the program had acknowledged, or that was its last
 *   missing-dir-fsync      the same of a name
 *   ordering               something later survived, and needs what is lost
 *   atomicity              what survived is what the program had done by some moment */
#include <stdlib.h>
#include <string.h>

#include "crash/files/internal.h"
#include "crash/search/blame.h"

struct explaining {
	struct file_explorer *e;
	const struct verdict *v; /* as the state failed */
	struct error *err;
	bool has_failed; /* recovery could not be run */
};

/* ---- runs ---- */

/* There is no time to make failures smaller: the present state stays. */
static bool is_spent(const struct file_explorer *e)
{
	const struct explorer_limits *l = &e->options->limits;

	return (l->deadline_ns && clock_ns() >= l->deadline_ns + l->grace_ns) ||
	       (e->options->is_interrupted && e->options->is_interrupted(e->options->arg));
}

/* Does recovery fail in the same way on the items' versions? is_last: the run that confirms it. */
static bool fails(struct explaining *x, struct verdict *now, bool is_last)
{
	struct file_explorer *e = x->e;

	if (x->has_failed || (!is_last && is_spent(e)) || !file_profile_has(e, e->profile))
		return false;
	e->result->counters.diagnosis_runs++;
	if (file_run_state(e, &e->allowed, now, x->err) < 0) {
		x->has_failed = true;
		return false;
	}
	return now->kind != VERDICT_OK && !now->why_unsound && verdict_same(now, x->v);
}

static enum blame_again run_again(void *arg, struct error *err)
{
	struct explaining *x = arg;
	struct verdict now;

	if (file_run_state(x->e, &x->e->allowed, &now, err) < 0)
		return AGAIN_ERROR;
	return now.kind == VERDICT_OK || now.why_unsound ? AGAIN_FINE
	       : verdict_same(&now, x->v)                ? AGAIN_SAME
							 : AGAIN_OTHER;
}

/* ---- the smallest loss ---- */

typedef VEC(size_t) numbers;

/* Gives the listed items the versions want[item] if recovery still fails in the same way; otherwise
 * tries each half of the list. Adds to `stuck` the items that had to keep their versions. */
static void change(struct explaining *x, const size_t *list, size_t n, const uint32_t *want,
		   numbers *stuck)
{
	uint32_t *was = xcalloc(n + 1, sizeof *was);
	files_items *items = &x->e->items;
	struct verdict now;

	for (size_t i = 0; i < n; i++) {
		was[i] = items->at[list[i]].version;
		items->at[list[i]].version = want[list[i]];
	}
	if (n > 0 && !fails(x, &now, false)) {
		for (size_t i = 0; i < n; i++)
			items->at[list[i]].version = was[i];
		if (n == 1) {
			*vec_add(stuck) = list[0];
		} else {
			change(x, list, n / 2, want, stuck);
			change(x, list + n / 2, n - n / 2, want, stuck);
		}
	}
	free(was);
}

static bool is_lost(const struct files_item *i)
{
	return i->version + 1 < i->nversions;
}

/* Gives the oldest change of the item that the state lost. */
static const struct files_change *lost_change(const struct files_item *i)
{
	return files_item_change(i, i->version + 1);
}

struct aged {
	size_t item;
	uint64_t seq;
};

static int newest_first(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	return (x->seq < y->seq) - (x->seq > y->seq);
}

/* Lists the items that lost something, the latest loss first; or, if !wants_lost, those that lost
 * nothing, the latest change first. */
static void list_items(const struct file_explorer *e, bool wants_lost, numbers *out)
{
	VEC(struct aged) list = { 0 };

	for (size_t i = 0; i < e->items.n; i++) {
		const struct files_item *it = &e->items.at[i];

		if (is_lost(it) == wants_lost)
			*vec_add(&list) = (struct aged){
				i, wants_lost ? lost_change(it)->seq
					      : files_item_change(it, it->nversions - 1)->seq
			};
	}
	if (list.n > 1)
		qsort(list.at, list.n, sizeof *list.at, newest_first);
	for (size_t i = 0; i < list.n; i++)
		*vec_add(out) = list.at[i].item;
	vec_release(&list);
}

/* Makes the loss as small as possible, while recovery still fails in the same way: first, whole
 * items get all their changes back; then each item that must lose something gets back as many
 * changes as possible. *lost: the items that must lose something. */
static void lose_less(struct explaining *x, numbers *lost)
{
	struct file_explorer *e = x->e;
	uint32_t *want = xcalloc(e->items.n + 1, sizeof *want);
	numbers all = { 0 }, ignored = { 0 };

	list_items(e, true, &all);
	for (size_t i = 0; i < e->items.n; i++)
		want[i] = e->items.at[i].nversions - 1;
	change(x, all.at, all.n, want, lost);
	for (size_t i = 0; i < lost->n; i++) {
		const size_t item = lost->at[i];
		const uint32_t at = e->items.at[item].version, n = e->items.at[item].nversions;

		for (uint32_t v = n - 2; v > at && e->items.at[item].version == at; v--) {
			want[item] = v;
			change(x, &item, 1, want, &ignored);
		}
	}
	vec_release(&all);
	vec_release(&ignored);
	free(want);
}

/* Finds the items whose changes have to survive. The other items lose all their changes, too:
 * recovery still fails in the same way. */
static void find_survivors(struct explaining *x, numbers *survivors)
{
	struct file_explorer *e = x->e;
	uint32_t *want = xcalloc(e->items.n + 1, sizeof *want);
	numbers kept = { 0 };

	list_items(e, false, &kept);
	change(x, kept.at, kept.n, want, survivors);
	vec_release(&kept);
	free(want);
}

/* ---- what it is ---- */

static const char ORDERING_ADVICE[] =
	"Call fsync (or fdatasync) on the file of the first before the second is done; if the first is a name, call fsync on its folder.";
static const char MEMORY_ADVICE[] =
	"Flush the store and fence before anything is done that relies on it.";
static const char ATOMICITY_ADVICE[] =
	"Make the change atomic: write a new file, sync it and rename it over the old one, or keep a log that recovery replays or undoes.";
static const char MOVE_ADVICE[] =
	"Link the file under its new name and call fsync on that folder before the old name is removed, or let recovery look in both.";
static const char PART_ADVICE[] =
	"Store a checksum or a sequence number with the data, and let recovery ignore what does not match.";

static struct crash_store store_of(const struct files_change *c)
{
	return (struct crash_store){ c->seq, site_id(c->site) };
}

static enum pmt_kind kind_of(const struct files_change *c)
{
	return c->site ? c->site->kind : PMT_STORE_SYS;
}

static void add_place(struct crash_bug *b, const char *role, struct crash_store at)
{
	*vec_add(&b->places) = (struct crash_place){ role, at };
}

/* Gives the number of the file whose size, sector or line of memory the item is; 0: the item is
 * names. */
static uint32_t file_of(const struct files_item *i)
{
	return i->kind == FILES_NAMES ? 0 : PMT_FILE(i->key);
}

static const char *role_of(const struct files_change *c)
{
	switch (kind_of(c)) {
	case PMT_UNNAME: return "unlink";
	case PMT_NAME:
	case PMT_MOVE: return "name";
	default: return "write";
	}
}

struct story {
	const struct files_item *lost; /* whose loss is the oldest; NULL: nothing is lost */
	const struct files_change *loss;
	/* of what has to survive, the newest change; and one of a name */
	const struct files_change *survivor, *name;
	const struct file_event *acknowledged; /* after the loss; NULL: there is none */
	const struct file_event *sync;         /* the first after the loss, of something else */
};

/* Gives the first event of the list that comes after event seq; NULL if there is none. */
static const struct file_event *first_after(const struct file_event *list, size_t n, uint64_t seq)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].at.seq > seq)
			return &list[i];
	return NULL;
}

static void tell_story(const struct file_explorer *e, const numbers *lost, const numbers *survivors,
		       struct story *s)
{
	*s = (struct story){ 0 };
	for (size_t i = 0; i < lost->n; i++) {
		const struct files_item *it = &e->items.at[lost->at[i]];

		if (s->loss && s->loss->seq < lost_change(it)->seq)
			continue;
		s->lost = it;
		s->loss = lost_change(it);
	}
	for (size_t i = 0; i < survivors->n; i++) {
		const struct files_item *it = &e->items.at[survivors->at[i]];
		const struct files_change *c = files_item_change(it, it->nversions - 1);

		if (!s->survivor || c->seq > s->survivor->seq)
			s->survivor = c;
		if (it->kind == FILES_NAMES && (!s->name || c->seq > s->name->seq))
			s->name = c;
	}
	if (!s->loss)
		return;
	s->acknowledged =
		first_after(e->walk.acknowledgements.at, e->walk.acknowledgements.n, s->loss->seq);
	s->sync = first_after(e->walk.syncs.at, e->walk.syncs.n, s->loss->seq);
}

/* Finds the next sync of the file after the crash, which comes too late; seq 0: there is none. */
static struct crash_store late_sync(const struct file_explorer *e, uint32_t file)
{
	struct trace *t = trace_cursor(e->plan->trace);
	struct crash_store found = { 0 };
	struct trace_event ev;

	while (found.seq == 0 && trace_next(t, &ev))
		if (ev.seq >= e->walk.seq && (ev.kind == PMT_FSYNC || ev.kind == PMT_FDATASYNC) &&
		    (ev.arg[0] == 0 || ev.arg[0] == file))
			found = (struct crash_store){ ev.seq, site_id(ev.site) };
	trace_close(t);
	return found;
}

/* Gives the newest change of the file that is older than event `before` and that a crash here may
 * lose. The oracle of files (check/files.c) also names the newest such write, so both findings have
 * the same place. */
static struct crash_store newest_loss(const struct file_explorer *e, uint32_t file, uint64_t before)
{
	struct crash_store newest = { 0 };

	for (size_t i = 0; i < e->items.n; i++)
		for (uint32_t v = 1; v < e->items.at[i].nversions; v++) {
			const struct files_change *c = files_item_change(&e->items.at[i], v);

			if (file_of(&e->items.at[i]) == file && c->seq < before &&
			    c->seq > newest.seq)
				newest = store_of(c);
		}
	return newest;
}

/* Can a crash here still undo the change that event seq made? */
static bool is_undecided(const struct file_explorer *e, uint64_t seq)
{
	for (size_t i = 0; i < e->items.n; i++)
		for (uint32_t v = 1; v < e->items.at[i].nversions; v++)
			if (files_item_change(&e->items.at[i], v)->seq == seq)
				return true;
	return false;
}

/* Finds the first durable name that the file got after this event; seq 0: there is none. */
static struct crash_store later_name(const struct file_explorer *e, uint32_t file, uint64_t after)
{
	struct trace *t = trace_cursor(e->plan->trace);
	struct crash_store found = { 0 };
	struct trace_event ev;

	while (file && found.seq == 0 && trace_next(t, &ev) && ev.seq < e->walk.seq)
		if (ev.seq > after && (ev.kind == PMT_MOVE || ev.kind == PMT_NAME) &&
		    ev.arg[0] == file && !is_undecided(e, ev.seq))
			found = (struct crash_store){ ev.seq, site_id(ev.site) };
	trace_close(t);
	return found;
}

static void name_rename(const struct file_explorer *e, uint32_t file, struct crash_store name,
			struct crash_bug *b)
{
	b->kind = "rename-before-fsync";
	b->message =
		"this file gets its name before what was written to it is durable: recovery fails when a crash keeps the name and loses the write";
	add_place(b, "rename", name);
	add_place(b, "write", newest_loss(e, file, name.seq));
}

/* Describes a bug in which something survived that had to wait until the lost change is durable:
 * rename-before-fsync, unlink-before-durable or ordering. */
static void name_ordering(const struct file_explorer *e, const struct story *s, struct crash_bug *b)
{
	const uint32_t file = file_of(s->lost);
	const bool is_file = file != 0 && s->name && s->name->seq > s->loss->seq;
	const enum pmt_kind how = s->name ? kind_of(s->name) : PMT_STORE_SYS;
	struct crash_store late;

	if (is_file && PMT_FILE(s->name->addr) == file && (how == PMT_MOVE || how == PMT_NAME)) {
		name_rename(e, file, store_of(s->name), b);
		return;
	}
	if (is_file && how == PMT_UNNAME) {
		late = late_sync(e, file);
		b->kind = "unlink-before-durable";
		b->message =
			"this file is removed before what was written to another one is durable: recovery fails when a crash loses both";
		add_place(b, "unlink", store_of(s->name));
		add_place(b, "write", newest_loss(e, file, s->name->seq));
		if (late.seq)
			add_place(b, "fsync", late);
		return;
	}
	b->kind = "ordering";
	b->advice = ORDERING_ADVICE;
	b->message =
		"a crash can lose this and keep what was done later, on which recovery relies: sync the first before the second";
	add_place(b, "lost", store_of(s->loss));
	add_place(b, "survived", store_of(s->survivor));
}

/* Describes a bug in which a store to memory is lost that had to be durable earlier. It is not for
 * a crash that only comes between two things that belong together. */
static void name_store(const struct file_explorer *e, const struct story *s, struct crash_bug *b)
{
	b->kind = "ordering";
	b->advice = MEMORY_ADVICE;
	add_place(b, "lost", store_of(s->loss));
	if (s->survivor && s->survivor->seq > s->loss->seq) {
		b->message =
			"a crash can lose this store and keep what was done later, on which recovery relies: flush it and fence first";
		add_place(b, "survived", store_of(s->survivor));
	} else if (s->acknowledged) {
		b->message =
			"the program reports the operation done before this store is durable; a crash can still lose it";
		add_place(b, "acknowledged", s->acknowledged->at);
	} else if (e->walk.is_over) {
		b->kind = "missing-flush";
		b->message =
			"this store is not durable at the end, and recovery fails when a crash loses it";
	} else {
		b->message =
			"a crash can lose this store although something is synced after it on which recovery relies: flush it and fence first";
		add_place(b, "fsync", s->sync->at);
	}
}

/* Describes a bug in which recovery fails without the lost change, whatever else survives: a sync
 * is missing after the change, or comes after the sync of something else. */
static void name_loss(const struct file_explorer *e, const struct story *s, struct crash_bug *b)
{
	const bool is_name = s->lost->kind == FILES_NAMES;

	if (!s->acknowledged && !e->walk.is_over && s->sync) {
		b->kind = "ordering";
		b->advice = ORDERING_ADVICE;
		b->message =
			"a crash can lose this although something is synced after it on which recovery relies: sync this first";
		add_place(b, "lost", store_of(s->loss));
		add_place(b, "fsync", s->sync->at);
		return;
	}
	b->kind = is_name ? "missing-dir-fsync" : "missing-fsync";
	b->message =
		s->acknowledged
			? (is_name ? "the program reports the operation done before this name is durable, because the folder is not synced: a crash can still undo it"
				   : "the program reports the operation done before this is durable, because the file is not synced: a crash can still lose it")
			: (is_name ? "the folder is not synced after this: recovery fails when a crash undoes it"
				   : "the file is not synced after this: recovery fails when a crash loses it");
	add_place(b, role_of(s->loss), store_of(s->loss));
}

/* Are both sites of one call? A call can have two sites: at one it changes the size of the file, at
 * the other it stores. */
static bool is_same_call(const struct trace_site *a, const struct trace_site *b)
{
	return a == b || (a && b && a->pc == b->pc && a->node == b->node);
}

/* Finds the last change before event seq that `call` did not make; if call is NULL, the last of all
 * changes. seq 0 in the result: there is none. */
static struct crash_store change_before(const struct file_explorer *e, uint64_t seq,
					const struct trace_site *call)
{
	struct trace *t = trace_cursor(e->plan->trace);
	struct crash_store found = { 0 };
	struct trace_event ev;

	while (trace_next(t, &ev) && ev.seq < seq)
		if (file_walk_is_change(&e->walk, &ev) && !(call && is_same_call(ev.site, call)))
			found = (struct crash_store){ ev.seq, site_id(ev.site) };
	trace_close(t);
	return found;
}

/* Did one call make both changes? A call changes the size of the file first, and then writes from
 * one place on. */
static bool is_one_call(const struct file_explorer *e, const struct files_change *a,
			const struct files_change *b)
{
	const uint64_t first = a->seq < b->seq ? a->seq : b->seq,
		       last = a->seq < b->seq ? b->seq : a->seq;
	struct trace *t = trace_cursor(e->plan->trace);
	struct trace_event ev;
	uint64_t end = 0;
	bool is_one = first == last || kind_of(a) == PMT_STORE_SYS || kind_of(a) == PMT_SIZE;

	while (is_one && trace_next(t, &ev) && ev.seq <= last) {
		if (ev.seq < first || !file_walk_is_change(&e->walk, &ev))
			continue;
		is_one = is_same_call(ev.site, a->site) &&
			 (ev.seq == first ||
			  (ev.kind == PMT_STORE_SYS && (end == 0 || ev.addr == end)));
		end = ev.kind == PMT_STORE_SYS ? ev.addr + ev.size_bytes : 0;
	}
	trace_close(t);
	return is_one;
}

/* Describes a bug in which the crash comes between two changes that belong together: atomicity. If
 * no change follows, it is a recovery-failure. */
static void name_atomicity(const struct file_explorer *e, const struct story *s,
			   struct crash_bug *b)
{
	struct crash_store next = s->loss ? store_of(s->loss) : (struct crash_store){ 0 };
	struct trace *t = trace_cursor(e->plan->trace);
	struct trace_event ev;

	while (next.seq == 0 && trace_next(t, &ev))
		if (ev.seq >= e->walk.seq && file_walk_is_change(&e->walk, &ev))
			next = (struct crash_store){ ev.seq, site_id(ev.site) };
	trace_close(t);
	if (next.seq == 0) {
		b->kind = "recovery-failure";
		b->message = "recovery fails on what the program leaves, although nothing is lost";
		add_place(b, "survived", e->walk.last);
		return;
	}
	b->kind = "atomicity";
	b->advice = ATOMICITY_ADVICE;
	b->message = "a crash between these two leaves a state that recovery cannot handle";
	add_place(b, "lost", next);
	add_place(b, "survived",
		  s->survivor ? store_of(s->survivor)
			      : change_before(e, s->loss ? s->loss->seq : e->walk.seq,
					      s->loss ? s->loss->site : NULL));
}

/* Describes a bug in which only a part of what one call does survived: atomicity. */
static void name_part(const struct story *s, struct crash_bug *b)
{
	const bool is_move = kind_of(s->loss) == PMT_MOVE;

	b->kind = "atomicity";
	b->advice = is_move ? MOVE_ADVICE : PART_ADVICE;
	b->message =
		is_move ? "a crash can keep one of the names that this rename changes, in two folders, and not the other"
			: "a crash can keep a part of what this call does: the size of the file and each sector of 512 bytes become durable on their own, and recovery does not notice that some are missing";
	add_place(b, "lost", store_of(s->loss));
	add_place(b, "survived", store_of(s->survivor));
}

/* Does recovery fail because of what the program did before the lost change, and not because of the
 * loss? Then it would fail alike if the program had stopped before that change. */
static bool is_between(const struct file_explorer *e, const struct story *s)
{
	if (!s->loss)
		return true;
	if (s->acknowledged)
		return false;
	return (s->survivor && s->loss->seq > s->survivor->seq) ||
	       (!s->survivor && !s->sync && !e->walk.is_over);
}

static void name_bug(const struct file_explorer *e, const numbers *lost, const numbers *survivors,
		     struct crash_bug *b)
{
	struct crash_store name = { 0 };
	struct story s;

	tell_story(e, lost, survivors, &s);
	if (s.loss && s.lost->kind != FILES_LINE)
		name = later_name(e, file_of(s.lost), s.loss->seq);
	for (size_t i = 0; i < lost->n; i++)
		*vec_add(&b->lost) = store_of(lost_change(&e->items.at[lost->at[i]]));
	if (b->lost.n > 1)
		qsort(b->lost.at, b->lost.n, sizeof *b->lost.at, crash_store_order);
	if (name.seq)
		name_rename(e, file_of(s.lost), name, b);
	else if (s.loss && s.survivor && !s.acknowledged && is_one_call(e, s.loss, s.survivor))
		name_part(&s, b);
	else if (is_between(e, &s))
		name_atomicity(e, &s, b);
	else if (s.lost->kind == FILES_LINE)
		name_store(e, &s, b);
	else if (s.survivor && s.survivor->seq > s.loss->seq && !is_one_call(e, s.loss, s.survivor))
		name_ordering(e, &s, b);
	else
		name_loss(e, &s, b);
	if (s.acknowledged)
		b->acknowledged = s.acknowledged->at;
}

/* ---- which bugs are known ---- */

static unsigned bit_of(enum files_profile p)
{
	return 1u << p;
}

static bool is_same(const struct crash_bug *a, const struct crash_bug *b)
{
	if (strcmp(a->kind, b->kind) != 0 || a->places.n != b->places.n)
		return false;
	for (size_t i = 0; i < a->places.n; i++)
		if (strcmp(a->places.at[i].role, b->places.at[i].role) != 0 ||
		    a->places.at[i].at.site != b->places.at[i].at.site)
			return false;
	return true;
}

/* Does the state lose any change that this call made? */
static bool loses(const struct file_explorer *e, const struct trace_site *call)
{
	for (size_t i = 0; i < e->items.n; i++)
		for (uint32_t v = e->items.at[i].version + 1; v < e->items.at[i].nversions; v++)
			if (is_same_call(files_item_change(&e->items.at[i], v)->site, call))
				return true;
	return false;
}

/* Finds a known bug of the profile that explains the failing state: the state loses all that the
 * bug loses, and recovery fails as for the bug. Such a state is not explained again. NULL: there
 * is none. */
static struct crash_bug *find_known(const struct file_explorer *e, const struct verdict *v)
{
	for (size_t k = 0; k < e->known.n; k++) {
		struct crash_bug *b = &e->result->bugs.at[e->known.at[k].bug];
		bool is_it = b->lost.n > 0 && (b->profiles & bit_of(e->profile)) &&
			     verdict_same(&e->known.at[k].verdict, v);

		for (size_t i = 0; i < b->lost.n && is_it; i++)
			is_it = loses(e, plan_site(e->plan, b->lost.at[i].site));
		if (is_it)
			return b;
	}
	return NULL;
}

static void keep(struct file_explorer *e, struct crash_bug *b, const struct verdict *v,
		 bool is_counted)
{
	for (size_t i = 0; i < e->result->bugs.n; i++)
		if (is_same(&e->result->bugs.at[i], b)) {
			e->result->bugs.at[i].count += is_counted;
			e->result->bugs.at[i].profiles |= b->profiles;
			crash_bug_ends(&e->result->bugs.at[i], xstrdup(b->outcome));
			crash_bug_release(b);
			return;
		}
	*vec_add(&e->known) = (struct file_known){ e->result->bugs.n, *v };
	*vec_add(&e->result->bugs) = *b;
	e->result->counters.bugs++;
}

/* ---- */

/* Does the failure repeat, and is it the program's own? Other failures are only counted. */
static bool is_programs(struct explaining *x)
{
	struct crash_counters *c = &x->e->result->counters;
	enum runner_limit which;

	switch (blame_find(x->e->runner, x->v, false, run_again, x, &which, x->err)) {
	case BLAME_PROGRAM:
	case BLAME_EXCESS: return true;
	case BLAME_CHANCE: c->unstable++; return false;
	case BLAME_LIMIT:
		c->impossible++;
		if (!x->e->result->why_impossible)
			x->e->result->why_impossible = runner_limit_text(x->e->runner, which);
		return false;
	case BLAME_ERROR: x->has_failed = true; return false;
	}
	return false;
}

/* Explains the failure in states that e->profile allows. What has to survive for it is asked on all
 * states: that is about recovery, and not about the file system. 1: it is explained; 0: it is not a
 * bug. */
static int explain_in_profile(struct file_explorer *e, const struct verdict *v, const char *state,
			      struct error *err)
{
	const enum files_profile asked = e->options->profile, profile = e->profile;
	struct verdict now;
	struct explaining x = { e, v, err, false };
	struct crash_bug *known, b = { .count = 1 };
	numbers lost = { 0 }, survivors = { 0 };
	bool is_explained = false;

	if (!files_state_is_text(state))
		return error_set(err, "a part is damaged: '%s' is not a state", state);
	if (file_state_parse(e, state, err) < 0)
		return -1;
	known = find_known(e, v);
	if (known) {
		known->count += profile == asked;
		e->result->counters.remembered += profile == asked;
		return 1;
	}
	if (!is_programs(&x))
		return x.has_failed ? -1 : 0;
	lose_less(&x, &lost);
	b.point = e->walk.point;
	b.seq = e->walk.seq;
	b.at_site = site_id(e->walk.site);
	b.runs = e->result->counters.runs;
	if (!x.has_failed && fails(&x, &now, true)) {
		is_explained = true;
		b.state = file_state_text(e);
		crash_bug_describe(&b, &now);
		crash_bug_ends(&b, verdict_text(&now));
		for (size_t i = 0; now.kind == VERDICT_DUMP && i < e->allowed.hashes.n; i++)
			*vec_add(&b.allowed) = e->allowed.hashes.at[i];
		for (enum files_profile p = 0; p < FILES_PROFILES; p++)
			if (file_profile_has(e, p))
				b.profiles |= bit_of(p);
		e->profile = FILES_WEAKEST;
		find_survivors(&x, &survivors);
		e->profile = profile;
		name_bug(e, &lost, &survivors, &b);
		keep(e, &b, v, profile == asked);
	} else {
		crash_bug_release(&b);
		e->result->counters.unstable += !x.has_failed;
	}
	vec_release(&lost);
	vec_release(&survivors);
	return x.has_failed ? -1 : is_explained;
}

int file_explain(struct file_explorer *e, const struct verdict *v, char *const *states,
		 struct error *err)
{
	/* its strings are those of the run, which is over with the next */
	struct verdict kept = *v;
	int result = 1;

	kept.result.output = kept.result.errors = kept.output = "";
	kept.result.output_len = kept.result.errors_len = kept.output_len = 0;
	for (enum files_profile p = e->options->profile; result == 1 && p < FILES_PROFILES; p++) {
		e->profile = p;
		if (states[p])
			result = explain_in_profile(e, &kept, states[p], err);
	}
	e->profile = FILES_WEAKEST;
	return result < 0 ? -1 : 0;
}
