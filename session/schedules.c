/* Chooses which orders of threads are recorded. The first lets each thread run until it waits. What
 * it shows directs the others: two of three hold a thread between its store and its fence until
 * another thread has come to its load, for a pair that could meet and did not yet; one of three
 * draws priorities and a few change points from the seed. So the same seed gives the same
 * schedules, as long as the program depends on nothing but its files and arguments. */
#include "session/schedules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/platform_choice.h"
#include "pools/folders.h"
#include "pools/restore.h"
#include "report/schedules.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/vec.h"

/* without --max-time, a schedule may take as long as the first one, so many times, and so many
 * seconds more */
#define SLOWER_MOST 20u
#define SLOWER_SECONDS 30u
#define CHANGES_MOST 5u
#define SKIP_MOST 24u

/* A store and a load that may meet before the store is durable. */
struct pair {
	char *store, *load; /* OFFSET:PATH */
	uint32_t tries;
	bool has_met;
};

struct schedules {
	uint32_t n, number; /* number: of the last one looked at */
	uint64_t seed, random;
	uint64_t span;          /* the most points of a schedule */
	uint32_t first_seconds; /* what the first one took */
	VEC(struct pair) pairs;
	size_t next_pair;
	VEC(uint64_t) orders;    /* by schedule: a hash of its events; 0: not judged */
	uint32_t repeats;        /* the last one repeats this schedule; 0: none */
	char *trace;             /* of the last one, for its files; NULL: none yet */
	struct folders *folders; /* those that are followed; NULL: none */
	uint64_t ndifferent, ndeparted, ngiven_up;
	bool has_processes;
	char *departure; /* why the first that departed did */
	struct report *all;
};

struct schedules *schedules_new(uint32_t n, uint64_t seed)
{
	struct schedules *s = xcalloc(1, sizeof *s);

	s->n = n;
	s->seed = s->random = seed;
	s->all = report_new();
	return s;
}

void schedules_free(struct schedules *s)
{
	for (size_t i = 0; i < s->pairs.n; i++) {
		free(s->pairs.at[i].store);
		free(s->pairs.at[i].load);
	}
	vec_release(&s->pairs);
	vec_release(&s->orders);
	report_free(s->all);
	free(s->departure);
	free(s->trace);
	free(s);
}

static uint64_t draw(struct schedules *s) /* splitmix64 */
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* ---- which order is next ---- */

/* Finds the pair to direct the next schedule to: the next one in turn that has not met yet. */
static struct pair *pair_next(struct schedules *s)
{
	for (size_t i = 0; i < s->pairs.n; i++) {
		struct pair *p = &s->pairs.at[s->next_pair++ % s->pairs.n];

		if (!p->has_met)
			return p;
	}
	return NULL;
}

struct schedule schedules_next(struct schedules *s)
{
	const uint32_t number = s->number + 1;
	/* of 32 bits and not 0, which means that nothing is drawn */
	const uint64_t seed = (draw(s) >> 32) + 1;
	struct pair *p = number > 1 && number % 3 != 1 ? pair_next(s) : NULL;

	if (number == 1)
		return (struct schedule){ .seed = 0 };
	if (!p)
		return (struct schedule){ .seed = seed,
					  .changes = 1 + number % CHANGES_MOST,
					  .span = s->span };
	return (struct schedule){ .seed = seed,
				  .hold_store = p->store,
				  .hold_load = p->load,
				  .hold_skip = p->tries++ ? (uint32_t)(draw(s) % SKIP_MOST) : 0 };
}

/* ---- what a trace shows ---- */

static char *place_of(const struct trace_site *site)
{
	const struct trace_object *o = site ? site->object : NULL;

	return o ? xasprintf("%" PRIx64 ":%s", site->pc - o->va + o->offset, o->path) : NULL;
}

static void note_pair(struct schedules *s, const struct trace_site *store,
		      const struct trace_site *load, bool has_met)
{
	char *from = place_of(store), *to = place_of(load);
	size_t i = 0;

	while (from && to && i < s->pairs.n &&
	       (strcmp(s->pairs.at[i].store, from) != 0 || strcmp(s->pairs.at[i].load, to) != 0))
		i++;
	if (from && to && i == s->pairs.n) {
		*vec_add(&s->pairs) = (struct pair){ .store = from, .load = to };
		from = to = NULL;
	}
	if (i < s->pairs.n)
		s->pairs.at[i].has_met |= has_met;
	free(from);
	free(to);
}

/* Notes which pairs of a store and a load met in the trace, and which others could. */
static void note_pairs(struct schedules *s, const struct trace *trace)
{
	static const char *const names[] = { "unpersisted-read", NULL };
	struct check_options o = { .only = names };
	struct trace_event ev;
	struct error ignored;
	struct check *c;
	struct trace *t;

	o.platform = platform_choose(trace, NULL, NULL, &ignored);
	c = o.platform ? check_new(&o, &ignored) : NULL;
	if (!c)
		return;
	t = trace_cursor(trace);
	while (trace_next(t, &ev))
		check_event(c, &ev);
	check_finish(c);
	for (size_t i = 0; i < check_nfindings(c); i++)
		note_pair(s, check_finding(c, i)->places[0].site,
			  check_finding(c, i)->places[1].site, true);
	for (size_t i = 0; i < check_ncandidates(c); i++)
		note_pair(s, check_candidate(c, i)->store, check_candidate(c, i)->load, false);
	check_free(c);
	trace_close(t);
}

/* Is the event a part of what the program did, and not of how it was recorded? */
static bool is_done(enum pmt_kind k)
{
	return k != PMT_META && k != PMT_PROCESS && k != PMT_FILE && k != PMT_SCHEDULE &&
	       k != PMT_MAP && k != PMT_UNMAP && k != PMT_PROTECT;
}

/* Is the event about a file that its first argument numbers? */
static bool is_about_file(enum pmt_kind k)
{
	return k == PMT_NAME || k == PMT_UNNAME || k == PMT_MOVE || k == PMT_FSYNC ||
	       k == PMT_FDATASYNC || k == PMT_SIZE || k == PMT_FALLOCATE;
}

/* Reads the trace once: hashes what the program did in which order, and notes what the recorder
 * says about the schedule. */
static uint64_t trace_read(struct schedules *s, struct trace *t, bool is_cut)
{
	bool is_departed = false, is_given_up = false;
	struct trace_event ev;
	const char *points;
	uint64_t h = 1;

	while (trace_next(t, &ev)) {
		s->has_processes |= ev.stream > 0;
		if (ev.kind == PMT_SCHEDULE && ev.arg[1] == PMT_SCHEDULE_DEPARTED) {
			is_departed = true;
			if (!s->departure)
				s->departure =
					xasprintf("%.*s", (int)ev.data_len, (const char *)ev.data);
		}
		is_given_up |= ev.kind == PMT_SCHEDULE && ev.arg[1] == PMT_SCHEDULE_GIVEN_UP;
		if (!is_done(ev.kind))
			continue;
		h = hash_mix(h, (uint64_t)ev.kind << 48 ^ (uint64_t)ev.stream << 24 ^ ev.thread);
		h = hash_mix(h, ev.addr);
		if (is_about_file(ev.kind))
			h = hash_mix(hash_mix(h, ev.arg[0]), ev.arg[1]);
		if (trace_is_store(ev.kind))
			h = hash_mix(h, pmt_hash(ev.data, ev.data_len));
	}
	s->ndeparted += is_departed;
	s->ngiven_up += is_given_up || is_cut;
	points = trace_meta(t, "schedule_points");
	if (points && strtoull(points, NULL, 10) > s->span)
		s->span = strtoull(points, NULL, 10);
	return h | 1;
}

void schedules_look(struct schedules *s, const char *path, bool is_cut)
{
	struct error ignored;
	struct trace *t;
	uint64_t order = 0;

	s->number++;
	s->repeats = 0;
	if (trace_open(&t, path, &ignored) == 0) {
		order = trace_read(s, t, is_cut);
		for (uint32_t i = 0; i < s->orders.n && !s->repeats; i++)
			if (s->orders.at[i] == order)
				s->repeats = i + 1;
		if (!s->repeats)
			note_pairs(s, t);
		trace_close(t);
	}
	s->ndifferent += !s->repeats;
	*vec_add(&s->orders) = s->repeats ? 0 : order;
}

/* ---- recording ---- */

bool schedules_has_next(const struct schedules *s)
{
	return s->number < s->n;
}

uint32_t schedules_number(const struct schedules *s)
{
	return s->number;
}

bool schedules_note_pairs(const struct schedules *s, struct map *known)
{
	bool is_new = false;

	for (size_t i = 0; i < s->pairs.n; i++) {
		const struct pair *p = &s->pairs.at[i];
		const uint64_t key = hash_mix(hash_text(p->store), hash_text(p->load));

		is_new |= !map_get(known, key);
		map_set(known, key, known);
	}
	return is_new;
}

bool schedules_is_repeat(const struct schedules *s, uint32_t *of)
{
	*of = s->repeats;
	return s->repeats != 0;
}

uint32_t schedules_seconds(uint32_t first_seconds)
{
	return SLOWER_MOST * first_seconds + SLOWER_SECONDS;
}

/* Was the program ended because its time was over? */
static bool was_cut(const char *path)
{
	struct error ignored;
	struct trace *t;
	bool is_cut;

	if (trace_open(&t, path, &ignored) < 0)
		return false;
	is_cut = trace_ending(t).how == PMT_END_TIME;
	trace_close(t);
	return is_cut;
}

enum recorded schedules_record(struct schedules *s, const struct recording *asked, char **target,
			       const char *path, struct error *err)
{
	struct recording r = *asked;
	const struct schedule own = schedules_next(s);
	const double from = clock_s();
	struct restore *files = NULL;
	enum recorded status;
	struct error failed;

	r.output = path;
	r.schedule = &own;
	if (s->number > 0 && !r.max_seconds)
		r.max_seconds = schedules_seconds(s->first_seconds);
	if (r.files.n && !s->folders)
		s->folders = folders_begin(&r.files, err);
	if (r.files.n && (!s->folders || folders_fill(s->folders, err) < 0))
		return RECORDED_NOTHING;
	if (s->trace && !r.fresh) {
		files = restore_begin_others(s->trace, &failed);
		if (!files) {
			error_set(err, "the program cannot be run again from the same state: %s",
				  failed.msg);
			return RECORDED_NOTHING;
		}
	}
	status = recording_run(&r, target, err);
	/* the files of the last schedule stay, whatever its program did with them */
	if (files && restore_end(files, status != RECORDED_NOTHING, &failed) < 0)
		notes_say(r.notes, "%s", failed.msg);
	if (status == RECORDED_NOTHING)
		return status;
	if (s->number == 0)
		s->first_seconds = (uint32_t)(clock_s() - from) + 1;
	free(s->trace);
	s->trace = xstrdup(path);
	schedules_look(s, path, was_cut(path));
	return status;
}

void schedules_leave(struct schedules *s, const struct notes *notes)
{
	struct error failed;

	if (folders_end(s->folders, s->number > 0, &failed) < 0)
		notes_say(notes, "%s", failed.msg);
	s->folders = NULL;
}

/* ---- adding up ---- */

bool schedules_is_new(const struct schedules *s, const struct report *r)
{
	return report_needs_schedule(s->all, r);
}

void schedules_add(struct schedules *s, uint32_t number, struct report *r, const char *trace)
{
	report_add_schedule(s->all, r, number, trace);
	report_free(r);
}

static uint64_t count_unmet(const struct schedules *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->pairs.n; i++)
		n += !s->pairs.at[i].has_met;
	return n;
}

void schedules_sum_add(struct schedules_sum *sum, const struct schedules *s)
{
	struct report_schedules *c = &sum->counts;

	c->seed = s->seed;
	c->recorded += s->number;
	c->different += s->ndifferent;
	c->departed += s->ndeparted;
	c->given_up += s->ngiven_up;
	c->pairs += count_unmet(s);
	if (!sum->departure && s->departure)
		sum->departure = xstrdup(s->departure);
	sum->has_processes |= s->has_processes;
}

void schedules_sum_tell(const struct schedules_sum *sum, struct report *r)
{
	if (sum->counts.recorded)
		report_set_schedules(r, &sum->counts, sum->departure, sum->has_processes);
}

void schedules_sum_release(struct schedules_sum *sum)
{
	free(sum->departure);
}

struct report *schedules_report(struct schedules *s)
{
	struct schedules_sum own = { 0 };
	struct report *all = s->all;

	schedules_sum_add(&own, s);
	schedules_sum_tell(&own, all);
	schedules_sum_release(&own);
	s->all = NULL;
	return all;
}
