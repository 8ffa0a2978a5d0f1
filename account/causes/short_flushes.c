/* Looks for flushes that cover less than they were given. A *run* is the sequence of flushes by one
 * instruction with one call stack, while its thread does nothing else to persistent memory: usually
 * one call of a helper. At the end of a run, the lines behind it that the thread has stored to and
 * not flushed may have been left out. They have been if nothing flushes them up to the thread's
 * next fence. Example: a helper that flushes `(len + 63) / 64` lines from an address in the middle
 * of a line leaves out the last line of some objects. On msync, this looks at pages instead of
 * lines. */
#include "account/causes/short_flushes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "account/causes/passed.h"
#include "util/map.h"

#define STORES_MAX 8u    /* sites that are kept per line */
#define KEPT 65536u      /* lines that are known at the same time */
#define LINES_MAX 65536u /* lines per proposal, and suspects at the same time */
#define LIST_MAX 64u     /* proposals */
#define LINE_OF(run, addr) ((addr) / (run)->unit)
#define PAGE_BYTES 4096u /* bytes that msync writes at once */

/* A line that was stored to and not flushed since. */
struct dirty {
	const struct trace_site *stores[STORES_MAX];
	uint32_t nstores, stream, thread;
	uint64_t line, low, end; /* number of the line; first and last + 1 of the stored bytes */
	uint64_t epoch;          /* fences of the thread up to the last store */
	uint64_t nfsyncs;        /* of any thread */
	bool is_dirty;
};

struct run {
	uint32_t stream, thread;
	uint32_t unit;                        /* bytes of a line, or of a page if it is synced */
	const struct trace_site *site;        /* NULL: no run is open */
	const struct trace_site *before_site; /* of the run before, since the last fence */
	enum pmt_kind kind;
	uint64_t first, last;           /* addresses, as in the instruction */
	uint64_t seq, n;                /* last event; number of flushes */
	uint64_t epoch;                 /* fences so far */
	uint64_t low;                   /* the first stored byte of the first line */
	const struct trace_site *store; /* a store that the run flushed; NULL: none is known */
	/* all flushes at one address; each flush one line further */
	bool is_stuck, is_stepping;
	bool is_chained;     /* one statement stored to all of its lines */
	bool is_skipping;    /* a line in between was left out */
	bool is_synced;      /* flushed by msync, which is also a fence */
	struct dirty before; /* the last line, before it was flushed */
};

/* A line that a run left out, unless something flushes it up to the thread's next fence. */
struct suspect {
	enum handed_how how;
	const struct trace_site *flush;
	uint64_t key;    /* who is to blame */
	bool is_certain; /* one statement stored both to this line and to a line that was flushed */
	struct whatif_flush line;
};

/* The number of lines that a helper with a certain wrong rounding flushes for the stored bytes
 * [low, end). */
typedef uint64_t rounding(const struct run *run, uint64_t low, uint64_t end);

/* What is known about the source line that flushes, or that calls a function which flushes. */
struct helper {
	uint64_t short_by;       /* from_key of the first call that was short */
	bool is_short_twice;     /* another call was short, too */
	bool is_short_of_object; /* short of an object whose size it was given */
	unsigned not_roundings;  /* bits: roundings that do not fit some run */
	bool is_advancing;       /* flushes more than one line in one run */
	bool is_skipping;        /* leaves out lines in between */
	bool is_fitting;         /* flushes one line as many times as there are lines to flush */
};

struct finder {
	/* KEPT entries, by the low bits of the line's number; a new line replaces an old one */
	struct dirty *lines;
	VEC(struct run) runs; /* one per thread */
	struct map helpers;   /* key → struct helper */
	struct passing passing;
	struct arena arena;
	VEC(struct suspect) suspects;
	handed_list *out;
	bool is_looking;  /* this is the second pass */
	bool is_synced;   /* only msync and fsync count */
	uint64_t nfsyncs; /* counted because everything stored before is synced, of any file */
};

void handed_release(handed_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		vec_release(&list->at[i].lines);
		vec_release(&list->at[i].stores);
	}
	vec_release(list);
}

bool handed_has_store(const struct handed *h, uint32_t site)
{
	for (size_t i = 0; i < h->stores.n; i++)
		if (h->stores.at[i] == site)
			return true;
	return false;
}

/* Finds what is known of a line; NULL: the line was not stored to, or too long ago to be known. */
static struct dirty *line_of(const struct finder *f, uint64_t line)
{
	struct dirty *d = &f->lines[line % KEPT];

	return d->nstores > 0 && d->line == line && d->nfsyncs == f->nfsyncs ? d : NULL;
}

static struct helper *helper_of(struct finder *f, uint64_t key)
{
	struct helper *h = map_get(&f->helpers, key);

	if (!h) {
		h = arena_alloc(&f->arena, sizeof *h);
		*h = (struct helper){ 0 };
		map_set(&f->helpers, key, h);
	}
	return h;
}

/* Did one statement store to both lines, with no fence in between? */
static bool crosses(struct finder *f, const struct dirty *a, const struct dirty *b)
{
	for (uint32_t i = 0; a->epoch == b->epoch && i < a->nstores; i++)
		for (uint32_t k = 0; k < b->nstores; k++)
			if (passing_same_statement(&f->passing, a->stores[i], b->stores[k]))
				return true;
	return false;
}

/* ---- proposals ---- */

static struct handed *proposal(struct finder *f, const struct suspect *s, const struct dirty *d)
{
	for (size_t i = 0; i < f->out->n; i++)
		if (f->out->at[i].how == s->how && f->out->at[i].key == s->key)
			return &f->out->at[i];
	if (f->out->n >= LIST_MAX)
		return NULL;
	*vec_add(f->out) = (struct handed){ .how = s->how,
					    .flush = s->flush,
					    .key = s->key,
					    .store = d->stores[0],
					    .shown = SIZE_MAX,
					    .first_seq = s->line.seq };
	return &f->out->at[f->out->n - 1];
}

static void suspect(struct finder *f, enum handed_how how, const struct run *run,
		    const struct call *c, uint64_t line, bool is_certain)
{
	const uint64_t key = how == HANDED_CALL || how == HANDED_SIZE ? c->from_key : c->helper_key;

	if (f->suspects.n < LINES_MAX)
		*vec_add(&f->suspects) = (struct suspect){
			.how = how,
			.flush = run->site,
			.key = key,
			.is_certain = is_certain,
			.line = { run->seq, line * run->unit, run->stream, run->thread, run->kind },
		};
}

static void leave_out(struct finder *f, const struct suspect *s, const struct dirty *d)
{
	struct handed *h = proposal(f, s, d);

	if (h && h->lines.n < LINES_MAX)
		*vec_add(&h->lines) = s->line;
	if (h)
		h->is_certain |= s->is_certain;
	for (uint32_t i = 0; h && i < d->nstores; i++)
		if (!handed_has_store(h, d->stores[i]->id))
			*vec_add(&h->stores) = d->stores[i]->id;
}

/* Settles the thread's suspects at a fence: a line that was not flushed before the fence was left
 * out. */
static void settle(struct finder *f, const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < f->suspects.n; i++) {
		const struct suspect *s = &f->suspects.at[i];
		const struct dirty *d = line_of(f, LINE_OF(run, s->line.addr));

		if (s->line.stream != run->stream || s->line.thread != run->thread)
			f->suspects.at[n++] = *s;
		else if (d && d->is_dirty)
			leave_out(f, s, d);
	}
	f->suspects.n = n;
}

/* ---- runs ---- */

/* Finds a line to which the run's thread has stored and which waits for a flush; NULL: the line is
 * no such line. */
static const struct dirty *left_by(const struct finder *f, const struct run *run, uint64_t line)
{
	const struct dirty *d = line_of(f, line);

	return d && d->is_dirty && d->stream == run->stream && d->thread == run->thread ? d : NULL;
}

/* Looks for a helper that flushes one address as many times as there are lines. The last of these
 * lines must be waiting at least once, because a caller may also flush the words of one line
 * separately. */
static bool look_if_stuck(struct finder *f, const struct run *run, const struct call *c,
			  struct helper *h)
{
	const uint64_t first = LINE_OF(run, run->first);

	if (!run->is_stuck || run->n < 2 || h->is_advancing)
		return false;
	for (uint64_t i = 1; i < run->n; i++)
		if (left_by(f, run, first + i))
			suspect(f, HANDED_STUCK, run, c, first + i, true);
	h->is_fitting |=
		left_by(f, run, first + run->n - 1) ||
		(c->given == CALL_GIVEN_OBJECT && LINE_OF(run, c->bytes + run->unit - 1) == run->n);
	return true;
}

/* Looks for a helper that steps from an address inside a line, and leaves out the last line, in
 * which the range ends. */
static bool look_if_steps(struct finder *f, const struct run *run, const struct call *c)
{
	const uint64_t next = LINE_OF(run, run->last) + 1;
	const struct dirty *d = left_by(f, run, next);

	if (!run->is_stepping || run->n < 2 || run->first % run->unit == 0 || !d ||
	    d->low >= run->last + run->unit || !crosses(f, &run->before, d))
		return false;
	suspect(f, HANDED_STEPS, run, c, next, true);
	return true;
}

static uint64_t counts_down(const struct run *run, uint64_t low, uint64_t end)
{
	return LINE_OF(run, end - low);
}

static uint64_t counts_from_begin(const struct run *run, uint64_t low, uint64_t end)
{
	return LINE_OF(run, end - low + run->unit - 1);
}

static uint64_t ends_before_last(const struct run *run, uint64_t low, uint64_t end)
{
	return LINE_OF(run, end - 1) - LINE_OF(run, low);
}

static uint64_t ends_down(const struct run *run, uint64_t low, uint64_t end)
{
	return LINE_OF(run, end) - LINE_OF(run, low);
}

static rounding *const roundings[] = { counts_down, counts_from_begin, ends_before_last,
				       ends_down };

static void judge_rounding(struct helper *h, const struct run *run, uint64_t low, uint64_t end)
{
	const uint64_t n = LINE_OF(run, run->last) - LINE_OF(run, run->first) + 1;

	for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++)
		if (n != roundings[i](run, low, end))
			h->not_roundings |= 1u << i;
}

/* Looks at a call for which the source says how many bytes were given, or should have been. */
static bool look_if_given(struct finder *f, const struct run *run, const struct call *c,
			  struct helper *h)
{
	const enum handed_how how = c->given == CALL_GIVEN_POINTER ? HANDED_SIZE : HANDED_HELPER;
	const uint64_t last = LINE_OF(run, run->first + c->bytes - 1);
	bool is_short = false;

	if (c->given == CALL_GIVEN_UNKNOWN || !c->bytes ||
	    (how == HANDED_HELPER && c->is_library) ||
	    (how == HANDED_SIZE && LINE_OF(run, run->first) != LINE_OF(run, run->last)))
		return false;
	for (uint64_t line = LINE_OF(run, run->last) + 1; line <= last; line++)
		if (left_by(f, run, line)) {
			suspect(f, how, run, c, line, true);
			is_short = true;
		}
	if (is_short && how == HANDED_HELPER) {
		judge_rounding(h, run, run->first, run->first + c->bytes);
		h->is_short_of_object = true;
	}
	return is_short;
}

/* Judges a run for which it is known what one statement stored: does the run end where those stores
 * end? */
static void judge_helper(struct helper *h, const struct run *run, const struct call *c,
			 uint64_t last, uint64_t end)
{
	if (last == LINE_OF(run, run->first))
		return;
	judge_rounding(h, run, run->low, end);
	if (last == LINE_OF(run, run->last))
		return;
	h->is_short_twice |= h->short_by && h->short_by != c->from_key;
	h->short_by = c->from_key;
}

/* Looks for lines behind the flushed ones to which the same statement stored, unless the call
 * passes the size of an object: it may be meant for all that the statement stored. If it is unknown
 * whether the helper takes a length, it does so if one of its runs flushed several lines. */
static void look_if_short(struct finder *f, const struct run *run, const struct call *c,
			  struct helper *h)
{
	const enum handed_how how = c->given == CALL_GIVEN_POINTER ? HANDED_SIZE : HANDED_CALL;
	const struct dirty *before = &run->before, *d;
	uint64_t last = LINE_OF(run, run->last), end = before->end;

	if (!run->is_chained || h->is_skipping || c->given == CALL_GIVEN_OBJECT ||
	    c->takes == CALL_TAKES_NO_LENGTH ||
	    (c->takes == CALL_TAKES_UNKNOWN && !h->is_advancing))
		return;
	for (; (d = left_by(f, run, last + 1)) && crosses(f, before, d); last++, before = d) {
		suspect(f, how, run, c, last + 1, true);
		end = d->end;
	}
	judge_helper(h, run, c, last, end);
}

/* Looks at a call that is certainly short at other times: then it is also short for other stores of
 * its function to the next lines, such as fields that happen to be in several lines. */
static void look_if_short_again(struct finder *f, const struct run *run, const struct call *c,
				const struct helper *h)
{
	const enum handed_how how = c->given == CALL_GIVEN_POINTER ? HANDED_SIZE : HANDED_CALL;
	const struct dirty *d;

	if (c->takes != CALL_TAKES_LENGTH || c->given == CALL_GIVEN_OBJECT || h->is_skipping)
		return;
	for (uint64_t line = LINE_OF(run, run->last) + 1; (d = left_by(f, run, line)); line++) {
		if (d->epoch != run->epoch ||
		    !passing_is_callers(&f->passing, run->site, d->stores[0]))
			break;
		suspect(f, how, run, c, line, false);
	}
}

static void look(struct finder *f, const struct run *run, const struct call *c)
{
	struct helper *h = helper_of(f, c->helper_key);

	if (look_if_stuck(f, run, c, h) || look_if_steps(f, run, c) ||
	    (!h->is_skipping && look_if_given(f, run, c, h)))
		return;
	look_if_short(f, run, c, h);
	look_if_short_again(f, run, c, h);
}

static void learn(struct finder *f, const struct run *run, const struct call *c)
{
	struct helper *h = helper_of(f, c->helper_key);

	h->is_advancing |= LINE_OF(run, run->first) != LINE_OF(run, run->last);
	h->is_skipping |= run->is_skipping;
}

static void end_run(struct finder *f, struct run *run)
{
	const struct trace_site *store = run->store;
	const struct call *c =
		run->site && store ? passing_call(&f->passing, run->site, store) : NULL;

	if (!run->site)
		return;
	if (c && f->is_looking)
		look(f, run, c);
	else if (c)
		learn(f, run, c);
	run->before_site = run->site;
	run->site = NULL;
}

static struct run *run_of(struct finder *f, const struct trace_event *ev)
{
	for (size_t i = 0; i < f->runs.n; i++)
		if (f->runs.at[i].stream == ev->stream && f->runs.at[i].thread == ev->thread)
			return &f->runs.at[i];
	*vec_add(&f->runs) = (struct run){ .stream = ev->stream,
					   .thread = ev->thread,
					   .unit = f->is_synced ? PAGE_BYTES : PMT_LINE_BYTES };
	return &f->runs.at[f->runs.n - 1];
}

/* Begins a run, or continues the last one, because a helper may do something else between two lines
 * of a range. */
static void begin_run(struct run *run, const struct trace_event *ev)
{
	const bool goes_on = run->before_site == ev->site &&
			     LINE_OF(run, ev->addr) == LINE_OF(run, run->last) + 1;

	run->site = ev->site;
	run->kind = ev->kind;
	run->is_stuck = run->is_stepping = !goes_on;
	if (goes_on)
		return;
	run->first = run->last = ev->addr;
	run->n = 0;
	run->is_chained = true;
	run->is_skipping = false;
	run->store = NULL;
}

static void note_flush(struct finder *f, struct run *run, const struct trace_event *ev)
{
	const uint64_t line = LINE_OF(run, ev->addr);
	struct dirty *d = line_of(f, line);

	if (run->site != ev->site)
		end_run(f, run);
	if (!run->site)
		begin_run(run, ev);
	run->is_stepping &= run->n == 0 || ev->addr == run->last + run->unit;
	run->is_stuck &= ev->addr == run->first;
	run->is_skipping |= run->n > 0 && line > LINE_OF(run, run->last) + 1;
	if (run->n == 0 || LINE_OF(run, run->last) != line) {
		const bool is_dirty = d && d->is_dirty;

		run->is_chained &=
			is_dirty && (run->n == 0 || (line == LINE_OF(run, run->last) + 1 &&
						     crosses(f, &run->before, d)));
		run->before = is_dirty ? *d : (struct dirty){ 0 };
		run->low = run->n == 0 ? run->before.low : run->low;
		run->store = run->store || !is_dirty ? run->store : d->stores[0];
	}
	run->n++;
	run->last = ev->addr;
	run->seq = ev->seq;
	if (d)
		d->is_dirty = false;
}

static void note_store(struct finder *f, const struct run *run, const struct trace_event *ev,
		       uint64_t line)
{
	const uint64_t begin = line * run->unit, low = ev->addr > begin ? ev->addr : begin;
	uint64_t end = ev->addr + ev->size_bytes;
	struct dirty *d = &f->lines[line % KEPT];

	if (!d->is_dirty || d->line != line || d->nfsyncs != f->nfsyncs)
		*d = (struct dirty){
			.line = line, .low = low, .nfsyncs = f->nfsyncs, .is_dirty = true
		};
	end = end < begin + run->unit ? end : begin + run->unit;
	d->end = end > d->end ? end : d->end;
	d->epoch = run->epoch;
	d->stream = ev->stream;
	d->thread = ev->thread;
	d->low = low < d->low ? low : d->low;
	for (uint32_t i = 0; i < d->nstores; i++)
		if (d->stores[i] == ev->site)
			return;
	if (d->nstores < STORES_MAX)
		d->stores[d->nstores++] = ev->site;
}

static bool is_fence(enum pmt_kind kind)
{
	return trace_is_barrier(kind) || kind == PMT_STORE_RMW || kind == PMT_RMW_FENCE;
}

static void note_fence(struct finder *f, struct run *run)
{
	settle(f, run);
	run->before_site = NULL;
	run->is_synced = false;
	run->epoch++;
}

/* Notes an msync. A helper may sync page by page, so the next store shows that it is done. */
static void note_sync(struct finder *f, struct run *run, const struct trace_event *ev)
{
	struct trace_event page = *ev;

	for (uint64_t done = 0; done < ev->arg[0]; done += PAGE_BYTES) {
		page.addr = ev->addr + done;
		note_flush(f, run, &page);
	}
	run->is_synced = true;
}

static void step(struct finder *f, const struct trace_event *ev)
{
	struct run *run = run_of(f, ev);

	if (f->is_synced && ev->kind == PMT_MSYNC && ev->arg[1] & MS_SYNC && ev->site) {
		note_sync(f, run, ev);
		return;
	}
	if (!f->is_synced && trace_is_flush(ev->kind) && ev->site) {
		note_flush(f, run, ev);
		return;
	}
	if (f->is_synced && (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC))
		f->nfsyncs++;
	if (f->is_synced && !trace_is_store(ev->kind))
		return;
	end_run(f, run);
	if (f->is_synced ? run->is_synced : is_fence(ev->kind))
		note_fence(f, run);
	if (!trace_is_store(ev->kind) || ev->kind == PMT_STORE_NT || !ev->size_bytes || !ev->site)
		return;
	for (uint64_t line = LINE_OF(run, ev->addr);
	     line <= LINE_OF(run, ev->addr + ev->size_bytes - 1); line++)
		note_store(f, run, ev, line);
}

static void pass(struct finder *f, const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;

	while (trace_next(t, &ev))
		step(f, &ev);
	for (size_t i = 0; i < f->runs.n; i++) {
		end_run(f, &f->runs.at[i]);
		settle(f, &f->runs.at[i]);
	}
	f->runs.n = f->suspects.n = 0;
	memset(f->lines, 0, KEPT * sizeof *f->lines);
	trace_close(t);
}

static int compare_lines(const void *a, const void *b)
{
	const struct whatif_flush *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Counts how often the flush was short. Several lines that were left out may belong to one
 * event. */
static uint64_t count_times(const struct handed *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->lines.n; i++)
		n += i == 0 || h->lines.at[i].seq != h->lines.at[i - 1].seq;
	return n;
}

/* Is the helper to blame for a short call? Several calls of it must be short, or it is short of an
 * object that it is given, or of what the line before stores. And it must never flush more than one
 * line, or all its runs must fit one wrong rounding. */
static bool is_helpers(struct finder *f, const struct handed *h, const struct call *c)
{
	const unsigned all = (1u << sizeof roundings / sizeof *roundings) - 1;
	const struct helper *helper = c ? helper_of(f, c->helper_key) : NULL;

	if (h->how != HANDED_CALL || !h->is_certain || !helper || c->is_library ||
	    c->takes != CALL_TAKES_LENGTH || (helper->is_advancing && helper->not_roundings == all))
		return false;
	return helper->is_short_twice || helper->is_short_of_object ||
	       passing_is_same_range(&f->passing, h->flush, h->store);
}

static void join(struct handed *to, struct handed *from)
{
	for (size_t i = 0; i < from->lines.n; i++)
		*vec_add(&to->lines) = from->lines.at[i];
	for (size_t i = 0; i < from->stores.n; i++)
		if (!handed_has_store(to, from->stores.at[i]))
			*vec_add(&to->stores) = from->stores.at[i];
	to->is_certain |= from->is_certain;
	vec_release(&from->lines);
	vec_release(&from->stores);
}

static struct handed *same_helper(const struct finder *f, const struct handed *h)
{
	for (size_t i = 0; i < f->out->n; i++) {
		struct handed *other = &f->out->at[i];

		if (other != h && other->lines.n > 0 && other->key == h->key &&
		    (other->how == HANDED_HELPER || other->how == HANDED_CALLS))
			return other;
	}
	return NULL;
}

/* Blames the helper for what its calls seem to have left out. */
static void blame_helpers(struct finder *f)
{
	for (size_t i = 0; i < f->out->n; i++) {
		struct handed *h = &f->out->at[i], *to;
		const struct call *c = map_get(&f->passing.calls, h->flush->id);

		if (!is_helpers(f, h, c))
			continue;
		h->how = HANDED_CALLS;
		h->key = c->helper_key;
		to = same_helper(f, h);
		if (to)
			join(to, h);
	}
}

static size_t shown_of(struct finder *f, const struct handed *h)
{
	const struct call *c = map_get(&f->passing.calls, h->flush->id);

	if (!c || c->from == SIZE_MAX)
		return SIZE_MAX;
	if (h->how == HANDED_CALL || h->how == HANDED_SIZE)
		return c->from;
	return c->takes == CALL_TAKES_LENGTH ? c->helper : SIZE_MAX;
}

/* Drops proposals whose list of lines is not complete, because such a cure proves nothing. */
static void finish(struct finder *f)
{
	size_t n = 0;

	blame_helpers(f);
	for (size_t i = 0; i < f->out->n; i++) {
		struct handed *h = &f->out->at[i];

		if (h->lines.n == 0 || h->lines.n >= LINES_MAX || !h->is_certain ||
		    (h->how == HANDED_STUCK && !helper_of(f, h->key)->is_fitting)) {
			vec_release(&h->lines);
			vec_release(&h->stores);
			continue;
		}
		h->shown = shown_of(f, h);
		qsort(h->lines.at, h->lines.n, sizeof *h->lines.at, compare_lines);
		h->first_seq = h->lines.at[0].seq;
		h->count = count_times(h);
		f->out->at[n++] = *h;
	}
	f->out->n = n;
}

void handed_find(handed_list *out, const struct trace *t, struct locator *l, struct report *r)
{
	const struct platform *p = report_platform(r) ? platform_find(report_platform(r)) : NULL;
	struct finder f = { .passing = { .locator = l, .report = r },
			    .out = out,
			    .is_synced = p && p->is_page_cache };

	f.lines = xcalloc(KEPT, sizeof *f.lines);
	pass(&f, t);
	f.is_looking = true;
	pass(&f, t);
	finish(&f);
	free(f.lines);
	map_release(&f.helpers);
	passing_release(&f.passing);
	arena_release(&f.arena);
	vec_release(&f.suspects);
	vec_release(&f.runs);
}
