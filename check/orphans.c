/* Keeps the stores that lost their mapping (orphans.h). Each file has a list of the lines that were
 * stored to since its last unmap. If the list becomes much longer than the number of lines in the
 * model, it is given up: at the next unmap, looking at all lines that the model has of the file
 * costs no more than the stores before it did. */
#include "check/orphans.h"

#define LINES_LEAST 1024u /* a list may always have this many lines */

struct stored_lines {
	VEC(uint64_t) lines; /* their addresses */
	bool is_given_up;    /* the list is empty, and any line may have been stored to */
};

struct unmap {
	struct orphans *o;
	struct stored_lines *stored;
	struct range range;
	orphans_judge *judge;
	void *arg;
};

static struct stored_lines *stored_of(struct orphans *o, uint64_t addr)
{
	const uint32_t file = PMT_FILE(addr);
	struct stored_lines *s = map_get(&o->stored, file);

	if (!s) {
		s = xcalloc(1, sizeof *s);
		map_set(&o->stored, file, s);
		*vec_add(&o->all_stored) = s;
	}
	o->last_file = file;
	return o->last_stored = s;
}

static void line_add(struct stored_lines *s, uint64_t line)
{
	if (s->lines.n == 0 || s->lines.at[s->lines.n - 1] != line)
		*vec_add(&s->lines) = line;
}

void orphans_note_store(struct orphans *o, const struct model *m, const struct trace_event *ev)
{
	struct stored_lines *s = o->last_stored && PMT_FILE(ev->addr) == o->last_file
					 ? o->last_stored
					 : stored_of(o, ev->addr);
	const uint64_t end = ev->addr + ev->data_len;

	if (s->is_given_up)
		return;
	for (uint64_t line = ev->addr & -(uint64_t)o->line_bytes; line < end; line += o->line_bytes)
		line_add(s, line);
	if (s->lines.n <= LINES_LEAST || s->lines.n / 2 <= model_nlines(m))
		return;
	s->is_given_up = true;
	vec_release(&s->lines);
}

/* Gives the key for a piece of a store. The pieces of one store are in different words, and at most
 * two lines apart. */
static uint64_t store_key(const struct model_store *s)
{
	return s->seq << 4 | (s->addr >> 3 & 15);
}

static uint64_t page_of(uint64_t addr)
{
	return addr / PMT_PAGE_BYTES;
}

/* The index + 1 of the first orphan that begins on the page; 0: none. */
static uint32_t first_on_page(const struct orphans *o, uint64_t page)
{
	return (uint32_t)((uintptr_t)map_get(&o->pages, page) >> 1);
}

/* Stores the index with bit 0 set, because a map cannot store NULL. */
static void set_first_on_page(struct orphans *o, uint64_t page, uint32_t first)
{
	map_set(&o->pages, page, (void *)((uintptr_t)first << 1 | 1));
}

static void link_to_page(struct orphans *o, size_t i)
{
	const uint64_t page = page_of(o->list.at[i].addr);

	o->list.at[i].next = first_on_page(o, page);
	set_first_on_page(o, page, (uint32_t)i + 1);
}

/* Adds an orphan. Orphans that are mapped again are met at each unmap, so known ones are
 * skipped. */
static void add_orphan(const struct model_store *s, void *arg)
{
	const struct unmap *u = arg;
	struct finding f;

	if (map_get(&u->o->known, store_key(s)) || !u->judge(s, &f, u->arg))
		return;
	map_set(&u->o->known, store_key(s), u->o);
	*vec_add(&u->o->list) = (struct orphan){ .finding = f,
						 .addr = s->addr,
						 .len_bytes = s->size_bytes,
						 .seq = s->seq,
						 .stream = s->stream,
						 .thread = s->thread };
	link_to_page(u->o, u->o->list.n - 1);
}

/* Adds a store of the file: as an orphan if its mapping is removed, as a line of the new list if it
 * is still mapped. */
static void add_orphan_or_line(const struct model_store *s, void *arg)
{
	const struct unmap *u = arg;
	const uint64_t end = s->addr + s->size_bytes;

	if (s->addr < u->range.to && end > u->range.from)
		add_orphan(s, arg);
	if (s->addr < u->range.from || end > u->range.to)
		for (uint64_t line = s->addr & -(uint64_t)u->o->line_bytes; line < end;
		     line += u->o->line_bytes)
			line_add(u->stored, line);
}

static int line_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Goes through the lines in ascending order, like the model. */
static void unmap_lines(struct unmap *u, const struct model *m)
{
	struct stored_lines *s = u->stored;
	const struct range r = u->range;
	size_t kept = 0;

	if (s->lines.n == 0)
		return;
	qsort(s->lines.at, s->lines.n, sizeof *s->lines.at, line_compare);
	for (size_t i = 0; i < s->lines.n; i++) {
		const uint64_t line = s->lines.at[i], end = line + u->o->line_bytes;
		const uint64_t from = line > r.from ? line : r.from, to = end < r.to ? end : r.to;

		if (i > 0 && line == s->lines.at[i - 1])
			continue;
		if (from < to)
			model_each(m, from, to - from, add_orphan, u);
		if (line < r.from || end > r.to)
			s->lines.at[kept++] = line;
	}
	s->lines.n = kept;
}

void orphans_unmap(struct orphans *o, const struct model *m, uint64_t addr, uint64_t len_bytes,
		   orphans_judge *judge, void *arg)
{
	struct unmap u = { o, stored_of(o, addr), { addr, addr + len_bytes }, judge, arg };
	const uint64_t file = PMT_ADDR(PMT_FILE(addr), 0);

	if (u.stored->is_given_up) {
		u.stored->is_given_up = false;
		model_each(m, file, (uint64_t)1 << PMT_OFFSET_BITS, add_orphan_or_line, &u);
	} else if (len_bytes / o->line_bytes < u.stored->lines.n) {
		model_each(m, addr, len_bytes, add_orphan, &u); /* a small part of the file */
	} else {
		unmap_lines(&u, m);
	}
}

/* ---- write-back ---- */

static bool is_synced(const struct orphan *o, struct range synced)
{
	return o->addr >= synced.from && o->addr + o->len_bytes <= synced.to;
}

static void forget_on_page(struct orphans *o, uint64_t page, struct range synced)
{
	uint32_t *link, first = first_on_page(o, page);

	for (link = &first; *link != 0;) {
		struct orphan *orphan = &o->list.at[*link - 1];

		if (is_synced(orphan, synced)) {
			orphan->is_gone = true;
			*link = orphan->next;
		} else {
			link = &orphan->next;
		}
	}
	if (first != first_on_page(o, page))
		set_first_on_page(o, page, first);
}

/* Handles a sync of more pages than there are orphans. */
static void forget_everywhere(struct orphans *o, struct range synced)
{
	size_t kept = 0;

	map_release(&o->pages);
	for (size_t i = 0; i < o->list.n; i++) {
		if (o->list.at[i].is_gone || is_synced(&o->list.at[i], synced))
			continue;
		o->list.at[kept] = o->list.at[i];
		link_to_page(o, kept++);
	}
	o->list.n = kept;
}

void orphans_forget(struct orphans *o, struct range synced)
{
	if (synced.from >= synced.to || o->list.n == 0)
		return;
	if (page_of(synced.to - 1) - page_of(synced.from) >= o->list.n)
		forget_everywhere(o, synced);
	else
		for (uint64_t page = page_of(synced.from); page <= page_of(synced.to - 1); page++)
			forget_on_page(o, page, synced);
}

void orphans_forget_gone(struct orphans *o)
{
	forget_everywhere(o, (struct range){ 0, 0 });
}

void orphans_release(struct orphans *o)
{
	for (size_t i = 0; i < o->all_stored.n; i++) {
		vec_release(&o->all_stored.at[i]->lines);
		free(o->all_stored.at[i]);
	}
	vec_release(&o->all_stored);
	map_release(&o->stored);
	map_release(&o->known);
	map_release(&o->pages);
	vec_release(&o->list);
}
