/* Turns the failing crash states of an exploration into bugs of a report: which stores were lost,
 * which survived, where recovery died, and the command that replays the state. For a lost store it
 * names the flush or the fence that the store had, if any. */
#include "account/crash_report.h"
#include "account/recorded.h"

#include "account/making.h"

#include <stdio.h>
#include <string.h>

#include "account/choices.h"
#include "crash/setup/crash_command.h"
#include "account/dump_comparison.h"
#include "account/found.h"
#include "account/race_report.h"
#include "account/recovery_symbols.h"
#include "crash/creation.h"
#include "report/causes.h"
#include "util/str.h"
#include "crash/states/plan.h"

typedef VEC(struct bug_frame) frames;

#define LOCATIONS_MAX 16

/* Is the place listed already? Several stores of one line (of a string function, for example) are
 * listed once. */
static bool is_listed(const struct bug *b, const struct bug_location *where,
		      const struct bug_location *l, const frames *all, const struct bug_frame *own)
{
	size_t at = 0;

	for (size_t i = 0; i < b->nlocations; at += where[i++].nframes) {
		const struct bug_frame *other =
			where[i].nframes ? &all->at[at + where[i].shown] : NULL;

		if (other && strcmp(where[i].role, l->role) == 0 && other->line &&
		    other->line == own->line && str_same(other->file, own->file) &&
		    str_same(other->function, own->function))
			return true;
	}
	return false;
}

static void add_location(struct bug *b, struct bug_location *where, const char *role,
			 const struct crash_account *t, struct crash_store at, frames *all)
{
	const struct trace_site *site = plan_site(t->plan, at.site);
	struct bug_location place;
	struct bug_frame shown;
	const struct frame *list;
	size_t n;

	if (!site || b->nlocations == LOCATIONS_MAX)
		return;
	n = locate_stack(t->locator, site, &list);
	place = (struct bug_location){ .role = role,
				       .nframes = n,
				       .shown = locate_place(t->locator, list, n) };
	place.nsetters = n ? place.shown - locate_shown(t->locator, list, n) : 0;
	if (t->is_first)
		place.seq = at.seq, place.site = at.site;
	shown = n ? bug_frame_of(list[place.shown].symbol) : (struct bug_frame){ 0 };
	if (strcmp(role, "flush") != 0 && strcmp(role, "fence") != 0 &&
	    is_listed(b, where, &place, all, &shown))
		return;
	where[b->nlocations++] = place;
	for (size_t i = 0; i < n; i++) {
		struct bug_frame *f = vec_add(all);

		*f = bug_frame_of(list[i].symbol);
		f->is_signal = list[i].is_signal;
	}
}

/* Adds the stack of the signal that killed recovery, by the objects of its process. */
static void add_stack(const struct crash_account *t, const struct crash_bug *b, frames *out)
{
	const struct crash_result *c = t->result;

	for (size_t i = 0; i < b->stack.n; i++) {
		const struct symbol *list;
		size_t n = recovery_symbols(c, b->part, t->symbols, b->stack.at[i], i > 0, &list);

		/* skips frames that stand for functions of the C library */
		for (size_t k = 0; k < n; k++)
			if (!list[k].object || owner_of_object(list[k].object) != OWNER_PMEND)
				*vec_add(out) = bug_frame_of(&list[k]);
	}
}

/* Adds the place where recovery died, if it is known, because no place of the recorded program is
 * to blame. */
static void add_death(struct bug *b, struct bug_location *where, const struct crash_account *t,
		      const struct crash_bug *from, frames *all)
{
	VEC(struct frame) list = { 0 };

	for (size_t i = 0; i < from->stack.n; i++) {
		const struct symbol *symbols;
		size_t n = recovery_symbols(t->result, PART_RECOVER, t->symbols, from->stack.at[i],
					    i > 0, &symbols);

		/* the innermost frame outside the C library, through which it called abort() */
		for (size_t k = 0; k < n; k++)
			if (!str_same(symbols[k].object, t->setup->runtime))
				*vec_add(&list) = (struct frame){ .symbol = &symbols[k],
								  .pc = from->stack.at[i] };
	}
	for (size_t i = 0; i < list.n; i++)
		*vec_add(all) = bug_frame_of(list.at[i].symbol);
	if (list.n > 0)
		where[b->nlocations++] =
			(struct bug_location){ .role = "died",
					       .frames = all->at,
					       .nframes = list.n,
					       .shown = locate_shown(t->locator, list.at, list.n) };
	vec_release(&list);
}

static const char RELIED_ADVICE[] =
	"Initialise all of it and make that durable before recovery can reach it, or ask for zeroed memory (POBJ_ZALLOC, TX_ZALLOC).";

static const char CREATION_ADVICE[] =
	"Make the pool under another name, make all of it durable, and then rename it. Or let recovery accept a pool that is not made yet: exit with 0 if it is missing, empty or half made. "
	"Or start from a pool that exists: make it before pmend runs, and give its path instead of {pool}.";

static const char *torn_name(enum crash_torn t)
{
	switch (t) {
	case CRASH_NOT_TORN: return NULL;
	case CRASH_TORN_UNALIGNED: return "unaligned";
	case CRASH_TORN_LONG: return "long";
	}
	return NULL;
}

static const char *message_of(const struct crash_bug *b)
{
	if (b->message)
		return b->message;
	if (b->allocation.seq)
		return "recovery relies on zeros in memory that is handed out here: it fails if old bytes are there, although nothing is lost, and passes if they are zero";
	if (b->is_clean)
		return "recovery is killed by a signal although nothing is lost; this happens whenever the program is started again";
	if (strcmp(b->kind, "porting") == 0)
		return "on arm64 a crash can lose this store, on which recovery relies, and keep a later one to the same line (on amd64 it cannot); "
		       "safe only if the later store is a release, or if a barrier is between them";
	if (b->is_in_line && strcmp(b->kind, "ordering") == 0)
		return "a crash can lose this store and keep a later one to the same line on which recovery relies; nothing orders them: make the "
		       "later store a release, or put a barrier between them";
	if (strcmp(b->kind, "recovery-output") == 0)
		return "when a crash loses this store and a later one survives, recovery succeeds but prints what it never prints when nothing is lost";
	if (b->acknowledged.seq)
		return "the program reports the operation done before this store is durable; a crash can still lose it";
	if (strcmp(b->kind, "ordering") == 0)
		return "a crash can lose this store and keep a later one on which recovery relies";
	if (strcmp(b->kind, "atomicity") == 0)
		return "a crash between these stores leaves a state that recovery cannot handle";
	if (b->torn && strcmp(b->kind, "recovery-failure") == 0)
		return "recovery fails on the state that a crash leaves when it tears this store";
	if (strcmp(b->kind, "missing-flush") == 0)
		return "this store is never flushed, and recovery fails when a crash loses it";
	return "recovery fails on the state that a crash leaves here, before anything is stored";
}

/* Does the report have the bug already? A store that is never written back is one bug, whether an
 * oracle or a crash found it. */
static bool is_known(struct report *r, const struct bug *b)
{
	static const char *const kinds[] = { "missing-flush", "missing-flush-fence" };
	struct bug_location store = b->locations[0];
	struct bug other = *b;

	if (strcmp(b->kind, "missing-flush") != 0 && strcmp(b->kind, "recovery-output") != 0)
		return false;
	store.role = "store";
	other.locations = &store;
	other.nlocations = 1;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		other.kind = kinds[i];
		if (report_add_evidence(r, &other))
			return true;
	}
	return false;
}

/* What the program did about a lost store before the moment by which it had to be durable, and
 * whether it flushed the store later. */
struct remedy {
	uint64_t addr;
	uint32_t size_bytes, stream, thread;
	uint32_t flush, fence; /* sites; 0: none */
	bool is_late;
};

static bool is_flush_of(const struct trace_event *ev, const struct remedy *m)
{
	uint64_t len_bytes, start = platform_flushed(ev, &len_bytes);

	return trace_is_flush(ev->kind) && m->size_bytes && m->addr - start < len_bytes;
}

/* Must more of the trace be read, because a lost store has no flush yet? A store that was not
 * flushed in time needs only the first flush after `end`. */
static bool is_open(const struct remedy *remedies, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (remedies[i].size_bytes && !remedies[i].flush && !remedies[i].is_late)
			return true;
	return false;
}

static void note_event(struct remedy *m, const struct trace_event *ev, struct crash_store lost,
		       bool is_in_time)
{
	if (ev->seq == lost.seq)
		*m = (struct remedy){ .addr = ev->addr,
				      .size_bytes = ev->size_bytes,
				      .stream = ev->stream,
				      .thread = ev->thread };
	else if (m->stream != ev->stream || m->thread != ev->thread || !ev->site)
		return;
	else if (is_flush_of(ev, m) && !is_in_time)
		m->is_late = true;
	else if (is_flush_of(ev, m))
		m->flush = ev->site->id;
	else if (trace_is_barrier(ev->kind) && m->size_bytes && is_in_time)
		m->fence = ev->site->id;
}

/* Reads the trace and fills remedies, one per lost store. The user needs to know whether the flush
 * or the fence is missing, or only late. */
static void find_remedies(const struct plan *p, const struct crash_bug *b, struct remedy *remedies)
{
	const uint64_t end = b->acknowledged.seq ? b->acknowledged.seq
			     : b->survived.n     ? b->survived.at[b->survived.n - 1].seq
						 : b->seq;
	const size_t n = b->lost.n < LOCATIONS_MAX ? b->lost.n : LOCATIONS_MAX;
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	while (trace_next(t, &ev) && (ev.seq < end || is_open(remedies, n)))
		for (size_t i = 0; i < n; i++)
			note_event(&remedies[i], &ev, b->lost.at[i], ev.seq < end);
	trace_close(t);
}

/* Sets where the frames of each place of the bug begin. To be called when all frames are listed,
 * because the list may move while it grows. */
static void point_to_frames(const struct bug *b, struct bug_location *where, const frames *all)
{
	size_t at = 0;

	for (size_t i = 0; i < b->nlocations; i++) {
		where[i].frames = where[i].nframes ? all->at + at : NULL;
		at += where[i].nframes;
	}
}

/* Adds the lost stores, each with what was done about it, and the surviving ones; if there are
 * none, the place of the crash. *is_late: the first one is flushed, but too late. */
static void add_locations(struct bug *b, struct bug_location *where, const struct crash_account *t,
			  const struct crash_bug *from, frames *all, bool *is_late)
{
	struct remedy remedies[LOCATIONS_MAX] = { 0 };

	*is_late = false;
	for (size_t i = 0; i < from->places.n; i++)
		add_location(b, where, from->places.at[i].role, t, from->places.at[i].at, all);
	if (from->places.n > 0) {
		point_to_frames(b, where, all);
		return;
	}
	if (strcmp(from->kind, "atomicity") != 0)
		find_remedies(t->plan, from, remedies);
	*is_late = remedies[0].is_late;
	for (size_t i = 0; i < from->lost.n; i++) {
		size_t n = b->nlocations;

		add_location(b, where, "lost", t, from->lost.at[i], all);
		if (b->nlocations > n && i < LOCATIONS_MAX && remedies[i].flush)
			add_location(b, where, "flush", t,
				     (struct crash_store){ 0, remedies[i].flush }, all);
		else if (b->nlocations > n && i < LOCATIONS_MAX && remedies[i].fence)
			add_location(b, where, "fence", t,
				     (struct crash_store){ 0, remedies[i].fence }, all);
	}
	for (size_t i = 0; i < from->survived.n; i++)
		add_location(b, where, "survived", t, from->survived.at[i], all);
	if (from->acknowledged.seq)
		add_location(b, where, "acknowledged", t, from->acknowledged, all);
	if (b->nlocations == 0)
		add_location(b, where, "crash", t, (struct crash_store){ from->seq, from->at_site },
			     all);
	point_to_frames(b, where, all);
}

/* Does recovery fail although nothing is lost? Then the "lost" store comes after the crash. */
static bool is_whole(const struct crash_bug *b)
{
	return b->lost.n == 0 || b->lost.at[0].seq >= b->seq;
}

static bool is_made_at(const struct bug_location *l, const struct bug_frame *list)
{
	for (size_t i = 0; i < l->nframes; i++)
		if (owner_makes_pool(list[i].object, list[i].function))
			return true;
	return false;
}

/* Does recovery die inside PMDK because the pool is not completely created? The user can do nothing
 * about it. */
static bool is_librarys(const struct bug *b, const struct bug_location *where, const frames *all)
{
	const struct bug_crash *c = b->crash;
	size_t at = 0, i = 0;

	for (size_t k = 0; k < b->nlocations; at += where[k++].nframes)
		if (!is_made_at(&where[k], where[k].nframes ? all->at + at : NULL))
			return false;
	while (i < c->nframes && c->frames[i].object &&
	       (owner_of_object(c->frames[i].object) == OWNER_RUNTIME ||
		owner_of_object(c->frames[i].object) == OWNER_PMEND))
		i++;
	return b->nlocations > 0 && i < c->nframes && c->frames[i].object &&
	       owner_of_object(c->frames[i].object) == OWNER_PMDK;
}

/* Gives all ways in which recovery ended, as one text; NULL if there is only one. */
static char *endings_of(const struct crash_bug *b)
{
	char *text = NULL;

	for (size_t i = 0; b->endings.n > 1 && i < b->endings.n; i++) {
		char *longer =
			xasprintf("%s%s%s", text ? text : "", text ? "; " : "", b->endings.at[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* Adds a bug to the report. Returns the number of its draft; SIZE_MAX: it has no draft of its
 * own. */
static size_t add_bug(const struct crash_account *t, const struct crash_bug *from)
{
	struct bug_location where[LOCATIONS_MAX] = { 0 };
	char *command = crash_command_replay(t->setup, from->state, t->trace),
	     *endings = endings_of(from);
	struct bug_crash crash = { .endings = endings,
				   .failure_point = from->is_clean ? 0 : from->point,
				   .outcome = from->outcome,
				   .command = from->command,
				   .output = from->output && *from->output ? from->output : NULL,
				   .replay = command,
				   .seq = t->is_first ? from->seq : 0,
				   .state = t->is_first ? from->state : NULL,
				   .is_whole = is_whole(from),
				   .varies = from->varies,
				   .torn = torn_name(from->torn),
				   /* with several workers, the number depends on their speed */
				   .runs = t->setup->options.jobs == 1 ? from->runs : 0 };
	struct making making;
	const bool is_making = !t->setup->first_plan &&
			       making_find(&making, t->plan, t->setup->options.stops, from);
	char *evidence = race_report_evidence(t, from),
	     *message = evidence    ? xasprintf("%s; %s", message_of(from), evidence)
			: is_making ? xasprintf("%s: %s", message_of(from), making.state)
				    : xstrdup(message_of(from));
	struct bug b = {
		.kind = from->kind,
		.severity = from->undecided_by ? BUG_WARNING
			    : from->places.n > 0
				    ? BUG_CORRECTNESS /* of a warning, a crash shows the harm */
				    : bug_kind_find(from->kind)->severity,
		.message = message,
		.advice = from->advice           ? from->advice
			  : from->allocation.seq ? RELIED_ADVICE
			  : is_making            ? CREATION_ADVICE
			  : from->is_clean
				  ? "Fix recovery here: it must accept what a complete run leaves."
				  : NULL,
		.reason = from->why_undecided,
		.undecided_by = from->undecided_by,
		.count = from->count,
		.first_seq = from->lost.n ? from->lost.at[0].seq : from->seq,
		.locations = where,
		.crash = &crash
	};
	const char *profiles[FILES_PROFILES];
	frames all = { 0 }, stack = { 0 };
	const struct crash_setup *s = t->setup;
	struct comparison comparison;
	struct arena arena = { 0 };
	size_t draft = SIZE_MAX;
	const bool is_compared = comparison_make(
		&comparison, from, s->options.texts ? s->options.texts : &t->result->texts,
		s->first_plan ? s->first_plan : t->plan, s->first_plan ? s->first_seq : from->seq);

	b.nprofiles = recorded_profiles(from->profiles, profiles);
	b.profiles = profiles;
	if (is_compared)
		crash.comparison = &comparison.told;
	if (from->allocation.seq) {
		add_location(&b, where, "allocation", t, from->allocation, &all);
		for (size_t i = 0; i < b.nlocations; i++)
			where[i].frames = all.at;
	} else if (from->is_clean) {
		add_death(&b, where, t, from, &all);
	} else if (is_making && making.created.seq) {
		add_location(&b, where, "created", t, making.created, &all);
		add_location(&b, where, "resized", t, making.resized, &all);
		point_to_frames(&b, where, &all);
		add_stack(t, from, &stack);
	} else {
		add_locations(&b, where, t, from, &all, &crash.is_flushed_late);
		add_stack(t, from, &stack);
	}
	crash.frames = stack.at;
	crash.nframes = stack.n;
	choices_tell(t, from, &arena, &crash);
	if (is_librarys(&b, where, &all))
		b.library = "libpmemobj";
	if (!is_known(t->report, &b)) {
		report_add(t->report, &b);
		draft = b.library ? SIZE_MAX : report_find_draft(t->report, &b);
	}
	if (is_compared)
		comparison_release(&comparison);
	vec_release(&all);
	vec_release(&stack);
	arena_release(&arena);
	if (is_making)
		making_release(&making);
	free(command);
	free(endings);
	free(message);
	free(evidence);
	return draft;
}

/* ---- a pool that is being made ---- */

typedef VEC(size_t) drafts;

static bool has_draft(const drafts *list, size_t draft)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == draft)
			return true;
	return false;
}

/* Gives all ways in which recovery ended while the pool was being made; free() it. NULL: there is
 * one. */
static char *creation_endings(const struct creation *c, const struct crash_result *r)
{
	struct crash_bug all = { 0 };
	char *text;

	for (size_t i = 0; i < r->bugs.n; i++)
		for (size_t k = 0; k < r->bugs.at[i].endings.n; k++)
			if (creation_explains(c, &r->bugs.at[i]))
				crash_bug_ends(&all, xstrdup(r->bugs.at[i].endings.at[k]));
	text = endings_of(&all);
	crash_bug_release(&all);
	return text;
}

/* Gives the last store that a failing state loses while the pool is being made: recovery copes only
 * when it is durable. seq 0: no state loses a store. */
static struct crash_store initialised(const struct creation *c, const struct crash_result *r)
{
	struct crash_store last = { 0 };

	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct crash_bug *b = &r->bugs.at[i];

		if (creation_explains(c, b) && b->lost.n > 0 && b->lost.at[0].seq > last.seq)
			last = b->lost.at[0];
	}
	return last;
}

static const char CREATION[] =
	"recovery fails until this store is durable, also with nothing lost: it does not accept a pool that is being made";

/* Adds one finding for all bugs in which recovery does not accept the pool before initialisation
 * has ended. The bugs are listed under it. */
static void add_creation(const struct crash_account *t, const drafts *explained)
{
	const struct creation *c = &t->result->creation;
	const struct crash_store last = initialised(c, t->result);
	struct bug_location where[1] = { 0 };
	const struct bug *first = report_draft(t->report, explained->at[0]);
	struct bug_crash crash = *first->crash;
	struct bug b = { .kind = "recovery-failure",
			 .severity = bug_kind_find("recovery-failure")->severity,
			 .message = CREATION,
			 .advice = CREATION_ADVICE,
			 .first_seq = first->first_seq,
			 .locations = where,
			 .crash = &crash };
	char *endings = creation_endings(c, t->result);
	frames all = { 0 };
	size_t draft;

	crash.endings = endings;
	crash.first_window = c->first;
	crash.last_window = c->end - 1;
	for (size_t i = 0; i < explained->n; i++)
		b.count += report_draft(t->report, explained->at[i])->count;
	add_location(&b, where, "initialised", t, last, &all);
	where[0].frames = all.at;
	if (b.nlocations > 0) {
		report_add(t->report, &b);
		draft = report_find_draft(t->report, &b);
		for (size_t i = 0; i < explained->n; i++)
			report_explain(t->report, explained->at[i], draft);
	}
	free(endings);
	vec_release(&all);
}

/* Lists the drafts that the making of the pool explains under one finding. A draft stands for all
 * findings of one place, and all of these must be explained. */
static void fold_creation(const struct crash_account *t, const drafts *explained,
			  const drafts *others)
{
	drafts left = { 0 };

	for (size_t i = 0; i < explained->n; i++)
		if (explained->at[i] != SIZE_MAX && !has_draft(others, explained->at[i]) &&
		    !has_draft(&left, explained->at[i]))
			*vec_add(&left) = explained->at[i];
	if (left.n > 1)
		add_creation(t, &left);
	vec_release(&left);
}

void crash_report_add(struct report *r, const struct plan *p, const struct crash_result *c,
		      const struct crash_setup *s, const char *trace)
{
	struct crash_account t = { r,
				   p,
				   c,
				   s,
				   trace,
				   locator_new(p->trace, &s->libraries),
				   symbols_new(),
				   !s->first_plan };

	drafts explained = { 0 }, others = { 0 };

	for (size_t i = 0; i < c->bugs.n; i++)
		if (!found_is_declared(p, &c->bugs.at[i]))
			*vec_add(creation_explains(&c->creation, &c->bugs.at[i]) ? &explained
										 : &others) =
				add_bug(&t, &c->bugs.at[i]);
	fold_creation(&t, &explained, &others);
	vec_release(&explained);
	vec_release(&others);
	race_report_add(&t);
	symbols_free(t.symbols);
	locator_free(t.locator);
}
