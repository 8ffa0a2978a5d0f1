/* Numbers the call paths of a trace, and finds out what each did: only stores that a transaction
 * undoes, other stores, or libpmemobj's own stores. */
#include "repair/verify/call_paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t h, const char *text)
{
	for (text = text ? text : "?"; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	return (h ^ 0xff) * 0x100000001b3u;
}

static uint64_t hash_frame(uint64_t h, const char *function, uint32_t line, uint32_t column)
{
	return ((hash_text(h, function) ^ line) * 0x100000001b3u ^ column) * 0x100000001b3u;
}

/* Adds the instruction to a path's key if the path ends at a line that makes several stores
 * (call_paths_split()), so that the line does not tell them apart. */
static uint64_t split_key(const struct call_paths *p, uint64_t key, uint64_t offset)
{
	for (size_t i = 0; i < p->split.n; i++)
		if (p->split.at[i] == key)
			return (key ^ offset) * 0x100000001b3u;
	return key;
}

static uint64_t key_of_stack(const struct call_paths *p, const struct frame *list, size_t n)
{
	size_t shown = n ? locate_shown(p->locator, list, n) : 0;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = shown; i < n; i++)
		h = hash_frame(h, list[i].symbol->function, list[i].symbol->line,
			       list[i].symbol->column);
	return shown < n ? split_key(p, h, list[shown].symbol->offset) : h;
}

static uint64_t key_of_location(const struct bug_location *l)
{
	const struct bug_frame *first = bug_location_origin(l);
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = first ? (size_t)(first - l->frames) : 0; i < l->nframes; i++)
		h = hash_frame(h, l->frames[i].function, l->frames[i].line, l->frames[i].column);
	return h;
}

static uint32_t number_of(const struct call_paths *p, uint64_t key)
{
	return (uint32_t)(uintptr_t)map_get(&p->numbers, key);
}

uint32_t call_paths_number(const struct call_paths *p, const struct bug_location *l)
{
	const struct bug_frame *shown = bug_location_origin(l);
	uint64_t key = key_of_location(l);

	return number_of(p, shown ? split_key(p, key, shown->offset) : key);
}

bool call_paths_is_split(const struct call_paths *p, const struct bug_location *l)
{
	uint64_t key = key_of_location(l);

	return split_key(p, key, 0) != key;
}

bool call_paths_is_same_line(const struct bug_location *a, const struct bug_location *b)
{
	return key_of_location(a) == key_of_location(b);
}

/* Asks whether the text is a macro use, NAME(…). A function would have a frame of its own. */
static bool is_use(const char *text)
{
	size_t len = 0;

	while (text && (isalnum((unsigned char)text[len]) || text[len] == '_'))
		len++;
	return len > 0 && text[len] == '(';
}

/* Asks whether a crash keeps this store and loses another one of the same line. */
static bool is_lost_beside(const struct report *report, const struct bug_location *survived)
{
	for (size_t i = 0; i < report_nbugs(report); i++) {
		const struct bug *b = report_bug(report, i);

		for (size_t k = 0; k < b->nlocations; k++) {
			const struct bug_frame *lost = bug_location_origin(&b->locations[k]),
					       *kept = bug_location_origin(survived);

			if ((call_paths_is_unflushed(b, &b->locations[k]) ||
			     strcmp(b->locations[k].role, "lost") == 0) &&
			    lost && kept && lost->offset != kept->offset && is_use(lost->text) &&
			    call_paths_is_same_line(&b->locations[k], survived))
				return true;
		}
	}
	return false;
}

bool call_paths_is_unflushed(const struct bug *b, const struct bug_location *l)
{
	return (strcmp(b->kind, "missing-flush") == 0 ||
		strcmp(b->kind, "missing-flush-fence") == 0) &&
	       strcmp(l->role, "store") == 0;
}

void call_paths_split(struct call_paths *p, const struct report *report)
{
	for (size_t i = 0; i < report_nbugs(report); i++) {
		const struct bug *b = report_bug(report, i);

		for (size_t k = 0; strcmp(b->kind, "ordering") == 0 && k < b->nlocations; k++)
			if (strcmp(b->locations[k].role, "survived") == 0 &&
			    !call_paths_is_split(p, &b->locations[k]) &&
			    is_lost_beside(report, &b->locations[k]))
				*vec_add(&p->split) = key_of_location(&b->locations[k]);
	}
}

static struct repair_place place_of_stack(const struct locator *l, const struct frame *list,
					  size_t n)
{
	size_t shown = n ? locate_shown(l, list, n) : 0;
	struct repair_place p = { .role = "other", .nframes = n - shown };
	struct repair_frame *frames = xcalloc(p.nframes + 1, sizeof *frames);

	for (size_t i = 0; i < p.nframes; i++) {
		const struct symbol *s = list[shown + i].symbol;

		frames[i] = (struct repair_frame){ s->function, s->file, NULL, s->line, s->column };
	}
	p.frames = frames;
	return p;
}

/* Asks whether libpmemobj stored on its own (allocation, commit), and not as a copy that it was
 * asked for. */
static bool is_by_library(const struct locator *l, const struct frame *list, size_t n)
{
	size_t shown = locate_shown(l, list, n);
	const struct symbol *s = shown > 0 ? list[shown - 1].symbol : NULL;

	return s && s->object && strstr(s->object, "libpmemobj") &&
	       !(s->function && strncmp(s->function, "pmemobj_mem", 11) == 0);
}

static void number_sites(struct call_paths *p, const struct plan *plan)
{
	for (size_t i = 0; i < plan->sites.n; i++) {
		const struct trace_site *site = plan->sites.at[i];
		const struct frame *list;
		size_t n = site ? locate_stack(p->locator, site, &list) : 0;
		uint64_t key = n ? key_of_stack(p, list, n) : 0;
		uint32_t number = n ? number_of(p, key) : 0;

		if (n && !number) {
			*vec_add(&p->observed) = place_of_stack(p->locator, list, n);
			number = (uint32_t)p->observed.n;
			map_set(&p->numbers, key, (void *)(uintptr_t)number);
		}
		/* until a store is seen that no transaction undoes */
		if (n && trace_is_store(site->kind))
			p->observed.at[number - 1].role =
				is_by_library(p->locator, list, n) ? "library" : "logged";
		*vec_add(&p->by_site) = number;
	}
}

struct tx_range {
	uint64_t addr, len_bytes;
};

/* What the open transaction of a thread has logged or allocated. */
struct open_tx {
	uint32_t stream, thread;
	int depth;
	VEC(struct tx_range) ranges;
};

struct open_txs {
	VEC(struct open_tx) list;
};

static struct open_tx *open_tx_of(struct open_txs *all, const struct trace_event *ev)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].stream == ev->stream && all->list.at[i].thread == ev->thread)
			return &all->list.at[i];
	*vec_add(&all->list) = (struct open_tx){ .stream = ev->stream, .thread = ev->thread };
	return &all->list.at[all->list.n - 1];
}

static bool is_undone(const struct open_tx *t, const struct trace_event *ev)
{
	for (size_t i = 0; t->depth > 0 && i < t->ranges.n; i++)
		if (t->ranges.at[i].addr <= ev->addr &&
		    ev->addr + ev->size_bytes <= t->ranges.at[i].addr + t->ranges.at[i].len_bytes)
			return true;
	return false;
}

static void note_tx(struct open_tx *t, const struct trace_event *ev)
{
	if (ev->kind == PMT_TX_BEGIN && t->depth++ == 0)
		t->ranges.n = 0;
	else if (ev->kind == PMT_TX_END && t->depth > 0)
		t->depth--;
	else if (ev->kind == PMT_TX_ADD)
		*vec_add(&t->ranges) = (struct tx_range){ ev->addr, ev->arg[0] };
}

/* Finds places that store outside of logged ranges. A place that always stores inside them needs no
 * other log. */
static void find_unlogged(struct call_paths *p, const struct plan *plan)
{
	struct trace *t = trace_cursor(plan->trace);
	struct open_txs all = { 0 };
	struct trace_event ev;

	while (trace_next(t, &ev)) {
		struct open_tx *tx = open_tx_of(&all, &ev);
		uint32_t place =
			trace_is_store(ev.kind) && ev.site ? p->by_site.at[ev.site->id] : 0;

		note_tx(tx, &ev);
		if (place && strcmp(p->observed.at[place - 1].role, "logged") == 0 &&
		    !is_undone(tx, &ev))
			p->observed.at[place - 1].role = "store";
	}
	trace_close(t);
	for (size_t i = 0; i < all.list.n; i++)
		vec_release(&all.list.at[i].ranges);
	vec_release(&all.list);
}

void call_paths_find(struct call_paths *p, const struct plan *plan,
		     const struct libraries *libraries)
{
	p->locator = locator_new(plan->trace, libraries);
	number_sites(p, plan);
	find_unlogged(p, plan);
}

void call_paths_release(struct call_paths *p)
{
	if (p->locator)
		locator_free(p->locator);
	for (size_t i = 0; i < p->observed.n; i++)
		free((struct repair_frame *)p->observed.at[i].frames);
	vec_release(&p->observed);
	vec_release(&p->by_site);
	vec_release(&p->split);
	map_release(&p->numbers);
	*p = (struct call_paths){ 0 };
}
