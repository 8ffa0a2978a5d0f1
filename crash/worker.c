/* See worker.h. Messages: 'B' a bug as soon as it is found; 'F' a state whose recovery writes; 'C' how often each was seen; 'R' a race; 'S' a stop that is done, 'V' a
 * variant that failed (both of representative testing); 'E' the end: sums; 'X' an error. */
#include "crash/worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crash/race_wire.h"
#include "crash/within.h"
#include "crash/wire.h"

/* A bug that this worker knows, and the smallest loss that shows it at the present failure point. */
struct known {
	struct crash_bug bug;
	struct verdict verdict;
	uint64_t *state;      /* NULL: not at this point */
	uint64_t state_point;
};

struct worker {
	struct explorer explorer;
	const struct references *refs;
	VEC(struct known) known;
	VEC(uint64_t) signatures; /* of recoveries that were told of */
	struct races *races;	  /* NULL: not asked for */
	const struct representatives *reps; /* NULL: every failure point is visited */
	const struct rep_stop *stop;	    /* the present one of them */
	bool wants_first_crashes;
	bool is_allowed_fixed; /* the same for every failure point */
	int fd;
};

/* ---- telling ---- */

static void put_stores(struct wire *m, const struct crash_store *s, size_t n)
{
	wire_number(m, n);
	for (size_t i = 0; i < n; i++) {
		wire_number(m, s[i].seq);
		wire_number(m, s[i].site);
	}
}

static void put_bug(struct wire *m, const struct crash_bug *b)
{
	wire_number(m, 'B');
	wire_string(m, b->kind);
	put_stores(m, b->lost.at, b->lost.n);
	put_stores(m, b->survived.at, b->survived.n);
	wire_number(m, b->is_survivor_guessed);
	wire_number(m, b->acknowledged.seq);
	wire_number(m, b->acknowledged.site);
	wire_number(m, b->at_site);
	wire_number(m, b->point);
	wire_number(m, b->seq);
	wire_number(m, b->runs);
	wire_string(m, b->outcome);
	wire_string(m, b->command);
	wire_string(m, b->output);
	wire_string(m, b->state);
	wire_number(m, (uint64_t)b->signal);
	wire_number(m, b->stack.n);
	for (size_t i = 0; i < b->stack.n; i++)
		wire_number(m, b->stack.at[i]);
}

static void tell(struct worker *w, struct wire *m)
{
	if (wire_send(m, w->fd) < 0)
		_exit(1); /* the parent is gone; the runner's guardian cleans up */
	wire_release(m);
}

/* ---- first crashes ---- */

static bool is_told(const struct worker *w, uint64_t signature)
{
	for (size_t i = 0; i < w->signatures.n; i++)
		if (w->signatures.at[i] == signature)
			return true;
	return false;
}

static void tell_first_crash(struct worker *w, uint64_t signature, const uint64_t *state)
{
	struct explorer *e = &w->explorer;
	char *text = state_text(e, state);
	struct wire m = { 0 };

	wire_number(&m, 'F');
	wire_number(&m, signature);
	wire_number(&m, e->walk->point);
	wire_string(&m, text);
	wire_number(&m, e->allowed.hashes.n);
	for (size_t i = 0; i < e->allowed.hashes.n; i++)
		wire_number(&m, e->allowed.hashes.at[i]);
	tell(w, &m);
	free(text);
}

/* What recovery did not read has its oldest content: the second recovery may read it. NULL: it read everything that was undecided. */
static uint64_t *with_oldest(const struct explorer *e, const uint64_t *left)
{
	uint64_t *state = states_copy(&e->set, left);
	bool is_other = false;

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint32_t oldest = 0;

		while (!bit_get(left + l->set, oldest))
			oldest++;
		is_other |= oldest != states_newest_left(l, left);
		states_only(l, state, oldest);
	}
	if (is_other)
		return state;
	free(state);
	return NULL;
}

static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after, const struct verdict *v, void *arg)
{
	struct worker *w = arg;
	uint64_t signature, *oldest;

	(void)before;
	if (w->races)
		races_note_run(w->races, e, after, v);
	if (!w->wants_first_crashes || e->is_diagnosis)
		return;
	signature = v->kind == VERDICT_OK ? runner_changes(e->runner) : 0;
	if (signature == 0 || is_told(w, signature))
		return;
	*vec_add(&w->signatures) = signature;
	tell_first_crash(w, signature, after);
	oldest = with_oldest(e, after);
	if (oldest)
		tell_first_crash(w, signature + 1, oldest);
	free(oldest);
}

/* ---- races ---- */

static void on_point(struct explorer *e, void *arg)
{
	struct worker *w = arg;

	races_begin_point(w->races, e);
}

static void tell_races(struct worker *w)
{
	const struct race *list;
	size_t n = w->races ? races_list(w->races, &list) : 0;

	for (size_t i = 0; i < n; i++) {
		struct wire m = { 0 };

		wire_number(&m, 'R');
		race_put(&m, &list[i]);
		tell(w, &m);
	}
}

/* ---- known bugs ---- */

/* A new one is the same as a known one. A guessed survivor may be any, but a guess does not swallow what is known for sure. */
static bool same_bug(const struct crash_bug *a, const struct crash_bug *b)
{
	if (a->is_survivor_guessed && !b->is_survivor_guessed)
		return false;
	if (strcmp(a->kind, b->kind) != 0 || !a->lost.n != !b->lost.n || !a->survived.n != !b->survived.n)
		return false;
	if (a->lost.n == 0 && a->survived.n == 0)
		return a->at_site == b->at_site;
	if (a->acknowledged.site != b->acknowledged.site)
		return false;
	if (a->lost.n > 0 && a->lost.at[0].site != b->lost.at[0].site)
		return false;
	return a->survived.n == 0 || b->is_survivor_guessed || a->survived.at[0].site == b->survived.at[0].site;
}

/* The state loses at least what the smallest loss of a known bug does. */
static bool covers(const struct state_set *s, const uint64_t *state, const uint64_t *smallest)
{
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct state_line *l = &s->lines.at[i];
		uint32_t known = states_newest_left(l, smallest);

		if (known < l->ncontents - 1 && states_newest_left(l, state) > known)
			return false;
	}
	return true;
}

static struct known *find_here(struct worker *w, const uint64_t *state, const struct verdict *v)
{
	for (size_t i = 0; i < w->known.n; i++) {
		struct known *k = &w->known.at[i];

		if (k->state && k->state_point == w->explorer.walk->point && verdict_same(&k->verdict, v) &&
		    covers(&w->explorer.set, state, k->state))
			return k;
	}
	return NULL;
}

static struct known *remember(struct worker *w, struct crash_bug *b, const struct verdict *v)
{
	struct wire m = { 0 };
	struct known *k;

	for (size_t i = 0; i < w->known.n; i++) {
		k = &w->known.at[i];
		if (same_bug(&k->bug, b)) {
			crash_bug_release(b);
			return k;
		}
	}
	b->runs = __atomic_load_n(&w->explorer.counters->runs, __ATOMIC_RELAXED);
	put_bug(&m, b);
	tell(w, &m);
	__atomic_fetch_add(&w->explorer.counters->bugs, 1, __ATOMIC_RELAXED);
	k = vec_add(&w->known);
	*k = (struct known){ .bug = *b, .verdict = *v };
	k->bug.count = 0;
	return k;
}

/* The behaviours that the state is one of. */
static void tell_failed(struct worker *w, const uint64_t *state)
{
	struct explorer *e = &w->explorer;

	for (size_t i = 0; i < e->tests.n; i++) {
		struct wire m = { 0 };

		if (!states_include(&e->set, e->tests.at[i].set, state))
			continue;
		wire_number(&m, 'V');
		wire_number(&m, w->reps->tests.at[w->stop->first + i]);
		tell(w, &m);
	}
}

static int on_failure(struct explorer *e, const uint64_t *state, const struct verdict *v, void *arg, struct error *err)
{
	struct verdict first = *v;
	struct worker *w = arg;
	struct known *k = find_here(w, state, v);
	struct crash_bug b;
	uint64_t *smallest;
	enum minimise_end end;

	tell_failed(w, state);
	if (k) {
		k->bug.count++;
		return 0;
	}
	smallest = states_copy(&e->set, state);
	end = explain(e, smallest, v, &b, err);
	if (end != MINIMISE_DONE) {
		free(smallest);
		crash_bug_release(&b);
		if (end == MINIMISE_UNSTABLE)
			__atomic_fetch_add(&e->counters->unstable, 1, __ATOMIC_RELAXED);
		return end == MINIMISE_ERROR ? -1 : 0;
	}
	free(smallest);
	smallest = state_parse(&e->set, b.state, err); /* explaining lost more than needed */
	k = remember(w, &b, &first);
	k->bug.count++;
	free(k->state);
	k->state = smallest;
	k->state_point = e->walk->point;
	return 0;
}

/* ---- work ---- */

/* The failure point to go to next; UINT64_MAX: there is none for this worker. */
static uint64_t claim(struct worker *w)
{
	uint64_t n = __atomic_fetch_add(&w->explorer.counters->next_point, 1, __ATOMIC_RELAXED);

	if (!w->reps)
		return n;
	if (n > w->reps->stops.n)
		return UINT64_MAX;
	w->stop = &w->reps->stops.at[n - 1];
	return w->stop->point;
}

static void begin_stop(struct worker *w)
{
	for (size_t i = 0; i < w->stop->n; i++) {
		const struct variant *v = &w->reps->groups.variants.at[w->reps->tests.at[w->stop->first + i]];

		explore_add_test(&w->explorer, v->seqs, v->nseqs);
	}
}

static void end_stop(struct worker *w)
{
	struct wire m = { 0 };

	if (__atomic_load_n(&w->explorer.counters->is_stopped, __ATOMIC_RELAXED))
		return; /* it may not be done */
	wire_number(&m, 'S');
	wire_number(&m, (uint64_t)(w->stop - w->reps->stops.at));
	tell(w, &m);
}

static int explore_points(struct worker *w, struct walk *walk, struct error *err)
{
	struct explorer *e = &w->explorer;
	uint64_t claimed = claim(w);

	while (claimed != UINT64_MAX && explore_may_run(e) && walk_next(walk)) {
		if (walk->point != claimed)
			continue;
		if (w->reps)
			begin_stop(w);
		if (!w->is_allowed_fixed)
			references_allow(w->refs, walk->plan, walk->seq, &e->allowed);
		if (explore_point(e, err) < 0 || (w->races && races_end_point(w->races, e, err) < 0))
			return -1;
		if (w->reps)
			end_stop(w);
		claimed = claim(w);
	}
	return 0;
}

static void tell_end(struct worker *w)
{
	char *seen = big_string(&w->explorer.states_seen), *all = big_string(&w->explorer.states_all);
	struct wire m = { 0 };

	wire_number(&m, 'C');
	wire_number(&m, w->known.n);
	for (size_t i = 0; i < w->known.n; i++)
		wire_number(&m, w->known.at[i].bug.count);
	tell(w, &m);
	tell_races(w);
	wire_number(&m, 'E');
	wire_string(&m, seen);
	wire_string(&m, all);
	wire_string(&m, w->explorer.why_fallback[0] ? w->explorer.why_fallback : NULL);
	tell(w, &m);
	free(seen);
	free(all);
}

static void tell_error(struct worker *w, const struct error *err)
{
	struct wire m = { 0 };

	wire_number(&m, 'X');
	wire_string(&m, err->msg);
	tell(w, &m);
}

int worker_run(const struct plan *p, const struct crash_options *o, const struct references *refs, const struct representatives *reps,
	       struct crash_counters *counters, int fd)
{
	struct worker w = { .refs = refs, .reps = reps, .fd = fd, .wants_first_crashes = o->wants_first_crashes };
	struct runner_options runner = o->runner;
	struct walk walk = { 0 };
	struct error err = { "" };
	int result = -1;

	runner.is_cancelled = &counters->is_interrupted;
	w.explorer = (struct explorer){ .strategy = o->strategy,
					.walk = &walk,
					.recovery = o->recovery,
					.limits = o->limits,
					.counters = counters,
					.on_failure = on_failure,
					.on_run = o->wants_first_crashes || o->races.is_wanted ? on_run : NULL,
					.arg = &w };
	if (o->races.is_wanted) {
		w.races = races_new(&o->races);
		w.explorer.wants_reads = true;
		w.explorer.on_point = on_point;
	}
	w.explorer.runner = runner_new(&runner, p->mappings.at, p->mappings.n, &err);
	if (o->allowed) {
		w.is_allowed_fixed = true;
		for (size_t i = 0; i < o->allowed->hashes.n; i++)
			*vec_add(&w.explorer.allowed.hashes) = o->allowed->hashes.at[i];
	}
	if (w.explorer.runner && walk_init(&walk, p, o->stops, &err) == 0) {
		if (w.races)
			walk_add_shadow(&walk);
		result = explore_points(&w, &walk, &err);
	}
	if (result < 0 && __atomic_load_n(&counters->is_interrupted, __ATOMIC_RELAXED))
		result = 0; /* the run that was ended does not count; the report says that it was interrupted */
	if (result < 0)
		tell_error(&w, &err);
	tell_end(&w);
	if (w.explorer.runner)
		runner_free(w.explorer.runner);
	for (size_t i = 0; i < w.known.n; i++) {
		crash_bug_release(&w.known.at[i].bug);
		free(w.known.at[i].state);
	}
	vec_release(&w.known);
	vec_release(&w.signatures);
	races_free(w.races);
	explorer_release(&w.explorer);
	walk_release(&walk);
	return result < 0;
}

/* ---- listening ---- */

static void get_stores(struct wire *m, struct crash_bug *b, bool lost)
{
	uint64_t n = wire_get_number(m);

	for (uint64_t i = 0; i < n && !m->is_bad; i++) {
		struct crash_store s = { .seq = wire_get_number(m) };

		s.site = (uint32_t)wire_get_number(m);
		if (lost)
			*vec_add(&b->lost) = s;
		else
			*vec_add(&b->survived) = s;
	}
}

static const char *const kinds[] = { "ordering", "atomicity", "missing-flush", "recovery-failure" };

static void get_bug(struct wire *m, struct crash_bug *b)
{
	char *kind = wire_get_string(m);

	*b = (struct crash_bug){ .kind = "recovery-failure", .count = 1 };
	for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kind, kinds[i]) == 0)
			b->kind = kinds[i];
	free(kind);
	get_stores(m, b, true);
	get_stores(m, b, false);
	b->is_survivor_guessed = wire_get_number(m);
	b->acknowledged.seq = wire_get_number(m);
	b->acknowledged.site = (uint32_t)wire_get_number(m);
	b->at_site = (uint32_t)wire_get_number(m);
	b->point = wire_get_number(m);
	b->seq = wire_get_number(m);
	b->runs = wire_get_number(m);
	b->outcome = wire_get_string(m);
	b->command = wire_get_string(m);
	b->output = wire_get_string(m);
	b->state = wire_get_string(m);
	b->signal = (int)wire_get_number(m);
	for (uint64_t n = wire_get_number(m); n > 0 && !m->is_bad; n--)
		*vec_add(&b->stack) = wire_get_number(m);
}

void first_crash_release(struct first_crash *f)
{
	free(f->state);
	vec_release(&f->allowed);
}

static void get_first_crash(struct wire *m, struct crash_result *r)
{
	struct first_crash f = { .signature = wire_get_number(m) };

	f.point = wire_get_number(m);
	f.state = wire_get_string(m);
	for (uint64_t n = wire_get_number(m); n > 0 && !m->is_bad; n--)
		*vec_add(&f.allowed) = wire_get_number(m);
	for (size_t i = 0; i < r->first_crashes.n; i++) {
		struct first_crash *known = &r->first_crashes.at[i], later;

		if (known->signature != f.signature)
			continue;
		if (f.point < known->point) {
			later = *known;
			*known = f;
			f = later;
		}
		first_crash_release(&f);
		return;
	}
	*vec_add(&r->first_crashes) = f;
}

/* One bug of several workers is one: the earlier, unless its survivor is a guess only. */
static void merge(struct crash_bug *known, struct crash_bug *b)
{
	uint64_t count = known->count + b->count, runs = known->runs < b->runs ? known->runs : b->runs;
	struct crash_bug later = *b;

	if (b->point < known->point && known->is_survivor_guessed == b->is_survivor_guessed) {
		later = *known;
		*known = *b;
	}
	known->count = count;
	known->runs = runs;
	crash_bug_release(&later);
}

static struct crash_bug *find_same(struct crash_bug *list, size_t n, const struct crash_bug *b)
{
	for (size_t i = 0; i < n; i++)
		if (same_bug(&list[i], b))
			return &list[i];
	return NULL;
}

static void merge_bugs(struct crash_result *r, struct crash_bug *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct crash_bug *known = find_same(r->bugs.at, r->bugs.n, &list[i]);

		if (known)
			merge(known, &list[i]);
		else
			*vec_add(&r->bugs) = list[i];
	}
}

void worker_merge_guesses(struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++) {
		struct crash_bug *b = &r->bugs.at[i], *known = NULL;

		if (b->is_survivor_guessed)
			known = find_same(r->bugs.at, n, b);
		if (b->is_survivor_guessed && !known)
			known = find_same(b + 1, r->bugs.n - i - 1, b);
		if (known)
			merge(known, b);
		else
			r->bugs.at[n++] = *b;
	}
	r->bugs.n = n;
}

static void get_counts(struct wire *m, struct crash_bug *list, size_t n)
{
	uint64_t count = wire_get_number(m);

	for (uint64_t i = 0; i < count && i < n; i++)
		list[i].count = wire_get_number(m);
}

static void get_sums(struct wire *m, struct crash_result *r)
{
	char *seen = wire_get_string(m), *all = wire_get_string(m), *why = wire_get_string(m);
	struct big n = { 0 };

	if (seen && big_parse(&n, seen) == 0)
		big_add(&r->states_seen, &n);
	if (all && big_parse(&n, all) == 0)
		big_add(&r->states_all, &n);
	if (why) {
		free(r->why_fallback);
		r->why_fallback = why;
	}
	big_release(&n);
	free(seen);
	free(all);
}

int worker_listen(int fd, struct crash_result *r, struct error *err)
{
	VEC(struct crash_bug) list = { 0 };
	bool is_ended = false, is_error = false;
	struct race race;
	struct wire m = { 0 };
	char *text;

	while (wire_receive(&m, fd) > 0) {
		switch (wire_get_number(&m)) {
		case 'B':
			get_bug(&m, vec_add(&list));
			break;
		case 'F':
			get_first_crash(&m, r);
			break;
		case 'R':
			race_get(&m, &race);
			race_merge(r, &race);
			break;
		case 'S':
			representatives_done(r->representatives, wire_get_number(&m));
			break;
		case 'V':
			representatives_failed(r->representatives, (uint32_t)wire_get_number(&m));
			break;
		case 'C':
			get_counts(&m, list.at, list.n);
			break;
		case 'E':
			get_sums(&m, r);
			is_ended = true;
			break;
		case 'X':
			text = wire_get_string(&m);
			error_set(err, "%s", text ? text : "?");
			free(text);
			is_error = true;
			break;
		}
	}
	if (!is_ended && !is_error)
		error_set(err, "a worker process ended unexpectedly; this is a bug of pmend or it was killed");
	wire_release(&m);
	merge_bugs(r, list.at, list.n);
	vec_release(&list);
	return is_ended && !is_error ? 0 : -1;
}
