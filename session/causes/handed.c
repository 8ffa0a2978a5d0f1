/* Looks for flushes that cover less than they were given. A *run* is what one instruction flushes
 * with one call stack, while its thread does nothing else to persistent memory: usually one call of
 * a helper. When a run is over, the lines after it that the thread has stored to, and not flushed,
 * are those that it may have left out; those that nothing flushes up to the next fence, it has. */
#include "session/causes/handed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/map.h"

#define STORES_MAX 8u	 /* sites that are kept of a line */
#define KEPT 65536u	 /* lines that are known at a time */
#define LINES_MAX 65536u /* of one proposal, and that are suspected at a time */
#define LIST_MAX 64u	 /* proposals */
#define REACH 64u	 /* lines after a call that names no length: a page */
#define LINE_OF(addr) ((addr) / PMT_LINE_BYTES)

/* A line that was stored to, and not flushed since. */
struct dirty {
	const struct trace_site *stores[STORES_MAX];
	uint32_t nstores, stream, thread;
	uint64_t line, low; /* its number; the first byte that was stored */
	bool is_dirty;
};

struct run {
	uint32_t stream, thread;
	const struct trace_site *site; /* NULL: none is open */
	enum pmt_kind kind;
	uint64_t first, last; /* addresses, as the instruction has them */
	uint64_t seq, n;      /* the last event; how many */
	bool is_stuck, is_stepping; /* all at one address; each a line further */
	struct dirty before;	    /* the last line, as it was */
};

/* A line that a run left out, if nothing flushes it up to the thread's next fence. */
struct suspect {
	enum handed_how how;
	const struct trace_site *flush;
	struct whatif_flush line;
};

struct finder {
	struct dirty *lines; /* KEPT, by the end of their numbers: a line takes the place of another */
	VEC(struct run) runs; /* one a thread */
	struct map advancing; /* instructions that flush more than one line in one run */
	struct map fitting;   /* those that flush one line as often as there are lines to flush */
	struct map sizes;     /* sites of flushes, by id: IS_SIZE, or IS_NONE */
	VEC(struct suspect) suspects;
	struct locator *locator;
	struct report *report;
	handed_list *out;
	bool is_looking; /* the second pass */
};

static char IS_SIZE[1], IS_NONE[1];

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

/* NULL: it was not stored to, or so long ago that it is not known any more. */
static struct dirty *line_of(const struct finder *f, uint64_t line)
{
	struct dirty *d = &f->lines[line % KEPT];

	return d->nstores > 0 && d->line == line ? d : NULL;
}

/* ---- where ---- */

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* One statement: a copy in the C library is made by many instructions. */
static bool is_same_statement(struct finder *f, const struct trace_site *a, const struct trace_site *b)
{
	const struct symbol *x, *y;

	if (a == b)
		return true;
	x = locate(f->locator, a) ? locate(f->locator, a)->symbol : NULL;
	y = locate(f->locator, b) ? locate(f->locator, b)->symbol : NULL;
	return x && y && x->line && x->line == y->line && same_text(x->function, y->function) &&
	       same_text(x->file, y->file);
}

/* A statement stored to both lines: to the second by the site that it gives. */
static bool crosses(struct finder *f, const struct dirty *a, const struct dirty *b)
{
	for (uint32_t i = 0; i < a->nstores; i++)
		for (uint32_t k = 0; k < b->nstores; k++)
			if (is_same_statement(f, a->stores[i], b->stores[k]))
				return true;
	return false;
}

/* The frame of the flush's stack in the function that also leads to the store: there, the two part.
 * SIZE_MAX: they have none in common. */
static size_t frame_in_common(struct finder *f, const struct trace_site *flush,
			      const struct trace_site *store)
{
	VEC(struct frame) other = { 0 };
	const struct frame *list;
	size_t n = locate_stack(f->locator, store, &list), i, k;

	for (i = 0; i < n; i++)
		*vec_add(&other) = list[i];
	n = locate_stack(f->locator, flush, &list);
	for (i = n, k = other.n; i > 0 && k > 0; i--, k--)
		if (list[i - 1].pc != other.at[k - 1].pc ||
		    list[i - 1].symbol->line != other.at[k - 1].symbol->line)
			break;
	if (i == 0 || k == 0 ||
	    !same_text(list[i - 1].symbol->function, other.at[k - 1].symbol->function))
		i = 0;
	vec_release(&other);
	return i ? i - 1 : SIZE_MAX;
}

/* ---- f(x, sizeof(x)) ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t word_at(const char *text, size_t len, size_t at)
{
	size_t n = 0;

	while (at + n < len && is_word(text[at + n]))
		n++;
	return n;
}

/* A whole argument: after '(', ',' or a cast, and before ','. */
static bool is_argument(const char *text, size_t len, size_t at, size_t word_len)
{
	size_t before = at, after = at + word_len;

	while (before > 0 && text[before - 1] == ' ')
		before--;
	while (after < len && text[after] == ' ')
		after++;
	return before > 0 && strchr("(,)", text[before - 1]) && after < len && text[after] == ',';
}

/* An argument is a variable, and one after it is sizeof that variable: of a pointer, that is 8. */
static bool names_own_size(const char *text, size_t len)
{
	size_t at = 0, word, n;

	while (at < len && (word_at(text, len, at) != 6 || memcmp(text + at, "sizeof", 6) != 0))
		at += word_at(text, len, at) + 1;
	for (word = at + 6; word < len && (text[word] == '(' || text[word] == ' '); word++)
		;
	n = word < len ? word_at(text, len, word) : 0;
	if (n == 0 || (word + n < len && strchr(".[-", text[word + n])))
		return false;
	for (size_t i = 0; i < at; i += word_at(text, len, i) + 1)
		if (word_at(text, len, i) == n && memcmp(text + i, text + word, n) == 0 &&
		    is_argument(text, len, i, n))
			return true;
	return false;
}

/* A caller's line says so, where the source can be read. */
static bool is_size(struct finder *f, const struct trace_site *flush)
{
	const char *known = map_get(&f->sizes, flush->id);
	const struct frame *list;
	size_t n = known ? 0 : locate_stack(f->locator, flush, &list);

	for (size_t i = 0; i < n && !known; i++) {
		const struct bug_frame frame = locate_bug_frame(list[i].symbol);
		size_t len = 0;
		const char *text = frame.line ? report_source_line(f->report, &frame, &len) : NULL;

		if (text && names_own_size(text, len))
			known = IS_SIZE;
	}
	known = known ? known : IS_NONE;
	map_set(&f->sizes, flush->id, (void *)known);
	return known == IS_SIZE;
}

/* ---- what is proposed ---- */

/* Is it the same call? Of a helper's own fault, it is the instruction that counts. */
static bool is_same(const struct handed *h, const struct suspect *s)
{
	if (h->how != s->how)
		return false;
	return h->how == HANDED_CALL || h->how == HANDED_SIZE ? h->flush == s->flush :
								h->flush->pc == s->flush->pc;
}

static struct handed *proposal(struct finder *f, const struct suspect *s, const struct dirty *d)
{
	for (size_t i = 0; i < f->out->n; i++)
		if (is_same(&f->out->at[i], s))
			return &f->out->at[i];
	if (f->out->n >= LIST_MAX)
		return NULL;
	*vec_add(f->out) = (struct handed){ .how = s->how,
					    .flush = s->flush,
					    .store = d->stores[0],
					    .shown = SIZE_MAX,
					    .first_seq = s->line.seq };
	return &f->out->at[f->out->n - 1];
}

static void suspect(struct finder *f, enum handed_how how, const struct run *run, uint64_t line)
{
	if (f->suspects.n < LINES_MAX)
		*vec_add(&f->suspects) = (struct suspect){
		how, run->site, { run->seq, line * PMT_LINE_BYTES, run->stream, run->thread, run->kind }
	};
}

static void leave_out(struct finder *f, const struct suspect *s, const struct dirty *d)
{
	struct handed *h = proposal(f, s, d);

	if (h && h->lines.n < LINES_MAX)
		*vec_add(&h->lines) = s->line;
	for (uint32_t i = 0; h && i < d->nstores; i++)
		if (!handed_has_store(h, d->stores[i]->id))
			*vec_add(&h->stores) = d->stores[i]->id;
}

/* The thread waits now: what it has not flushed, it does not wait for. */
static void settle(struct finder *f, const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < f->suspects.n; i++) {
		const struct suspect *s = &f->suspects.at[i];
		const struct dirty *d = line_of(f, LINE_OF(s->line.addr));

		if (s->line.stream != run->stream || s->line.thread != run->thread)
			f->suspects.at[n++] = *s;
		else if (d && d->is_dirty)
			leave_out(f, s, d);
	}
	f->suspects.n = n;
}

/* ---- runs ---- */

/* NULL: the thread has nothing there that waits for a flush. */
static const struct dirty *left_by(const struct finder *f, const struct run *run, uint64_t line)
{
	const struct dirty *d = line_of(f, line);

	return d && d->is_dirty && d->stream == run->stream && d->thread == run->thread ? d : NULL;
}

/* As many lines as it was flushed times. Once at least, the last of them must be there: a caller may
 * flush the words of a line one by one, too. */
static bool look_if_stuck(struct finder *f, const struct run *run)
{
	const uint64_t first = LINE_OF(run->first);

	if (!run->is_stuck || run->n < 2 || map_get(&f->advancing, run->site->pc))
		return false;
	for (uint64_t i = 1; i < run->n; i++)
		if (left_by(f, run, first + i))
			suspect(f, HANDED_STUCK, run, first + i);
	if (left_by(f, run, first + run->n - 1))
		map_set(&f->fitting, run->site->pc, f);
	return true;
}

/* The range may end in the line after, as far from its begin as the address is from its line's. */
static bool look_if_steps(struct finder *f, const struct run *run)
{
	const uint64_t next = LINE_OF(run->last) + 1;
	const struct dirty *d = left_by(f, run, next);

	if (!run->is_stepping || run->n < 2 || run->first % PMT_LINE_BYTES == 0 || !d ||
	    d->low >= run->last + PMT_LINE_BYTES || !crosses(f, &run->before, d))
		return false;
	suspect(f, HANDED_STEPS, run, next);
	return true;
}

/* What a statement stored from the flushed line on. That the instruction flushes more elsewhere says
 * that it is of a helper that takes a length. */
static bool look_if_short(struct finder *f, const struct run *run)
{
	const uint64_t last = LINE_OF(run->last);
	const struct dirty *before = &run->before, *d;
	uint64_t i = 1;

	if (!map_get(&f->advancing, run->site->pc))
		return false;
	for (; (d = left_by(f, run, last + i)) && crosses(f, before, d); i++, before = d)
		suspect(f, HANDED_CALL, run, last + i);
	return i > 1;
}

static void look_if_size(struct finder *f, const struct run *run)
{
	const uint64_t last = LINE_OF(run->last);

	for (uint64_t i = 1; run->n == 1 && run->before.nstores > 0 && i <= REACH; i++) {
		const struct dirty *d = left_by(f, run, last + i);

		if (d && is_size(f, run->site) &&
		    frame_in_common(f, run->site, d->stores[0]) != SIZE_MAX)
			suspect(f, HANDED_SIZE, run, last + i);
	}
}

static void end_run(struct finder *f, struct run *run)
{
	if (!run->site)
		return;
	if (!f->is_looking && LINE_OF(run->first) != LINE_OF(run->last))
		map_set(&f->advancing, run->site->pc, run);
	if (f->is_looking && !look_if_stuck(f, run) && !look_if_steps(f, run) &&
	    !look_if_short(f, run))
		look_if_size(f, run);
	run->site = NULL;
}

static struct run *run_of(struct finder *f, const struct trace_event *ev)
{
	for (size_t i = 0; i < f->runs.n; i++)
		if (f->runs.at[i].stream == ev->stream && f->runs.at[i].thread == ev->thread)
			return &f->runs.at[i];
	*vec_add(&f->runs) = (struct run){ .stream = ev->stream, .thread = ev->thread };
	return &f->runs.at[f->runs.n - 1];
}

static void note_flush(struct finder *f, struct run *run, const struct trace_event *ev)
{
	struct dirty *d = line_of(f, LINE_OF(ev->addr));

	if (run->site != ev->site)
		end_run(f, run);
	if (!run->site)
		*run = (struct run){ .stream = ev->stream,
				     .thread = ev->thread,
				     .site = ev->site,
				     .kind = ev->kind,
				     .first = ev->addr,
				     .last = ev->addr,
				     .is_stuck = true,
				     .is_stepping = true };
	else
		run->is_stepping &= ev->addr == run->last + PMT_LINE_BYTES;
	run->is_stuck &= ev->addr == run->first;
	if (run->n == 0 || LINE_OF(run->last) != LINE_OF(ev->addr)) {
		run->before = d ? *d : (struct dirty){ 0 };
		run->before.nstores = d && d->is_dirty ? d->nstores : 0;
	}
	run->n++;
	run->last = ev->addr;
	run->seq = ev->seq;
	if (d)
		d->is_dirty = false;
}

static void note_store(struct finder *f, const struct trace_event *ev, uint64_t line)
{
	const uint64_t begin = line * PMT_LINE_BYTES, low = ev->addr > begin ? ev->addr : begin;
	struct dirty *d = &f->lines[line % KEPT];

	if (!d->is_dirty || d->line != line)
		*d = (struct dirty){ .line = line, .low = low, .is_dirty = true };
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

static void step(struct finder *f, const struct trace_event *ev)
{
	struct run *run = run_of(f, ev);

	if (trace_is_flush(ev->kind) && ev->site) {
		note_flush(f, run, ev);
		return;
	}
	end_run(f, run);
	if (is_fence(ev->kind))
		settle(f, run);
	if (!f->is_looking || !trace_is_store(ev->kind) || ev->kind == PMT_STORE_NT ||
	    !ev->size_bytes || !ev->site)
		return;
	for (uint64_t line = LINE_OF(ev->addr); line <= LINE_OF(ev->addr + ev->size_bytes - 1); line++)
		note_store(f, ev, line);
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
	f->runs.n = 0;
	trace_close(t);
}

static int compare_lines(const void *a, const void *b)
{
	const struct whatif_flush *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* The times that it was short, by events: several lines may be of one. */
static uint64_t count_times(const struct handed *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->lines.n; i++)
		n += i == 0 || h->lines.at[i].seq != h->lines.at[i - 1].seq;
	return n;
}

/* A cure that is not whole proves nothing. */
static void finish(struct finder *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++) {
		struct handed *h = &f->out->at[i];

		if (h->lines.n >= LINES_MAX ||
		    (h->how == HANDED_STUCK && !map_get(&f->fitting, h->flush->pc))) {
			vec_release(&h->lines);
			vec_release(&h->stores);
			continue;
		}
		if (h->how == HANDED_CALL || h->how == HANDED_SIZE)
			h->shown = frame_in_common(f, h->flush, h->store);
		qsort(h->lines.at, h->lines.n, sizeof *h->lines.at, compare_lines);
		h->count = count_times(h);
		f->out->at[n++] = *h;
	}
	f->out->n = n;
}

void handed_find(handed_list *out, const struct trace *t, struct locator *l, struct report *r)
{
	struct finder f = { .locator = l, .report = r, .out = out };

	f.lines = xcalloc(KEPT, sizeof *f.lines);
	pass(&f, t);
	f.is_looking = true;
	pass(&f, t);
	finish(&f);
	free(f.lines);
	map_release(&f.advancing);
	map_release(&f.fitting);
	map_release(&f.sizes);
	vec_release(&f.suspects);
	vec_release(&f.runs);
}
