/* Finds functions in headers that only store for their callers, by the call stacks of all events.
 * The number of callers is that of this recording: a function with one caller keeps its line. */
#include "source/setters.h"

#include <string.h>

#include "trace/position.h"
#include "util/hash.h"

enum {
	LINES_MAX = 8, /* of a setter that store */
	GAP_MAX = 2,   /* from one of them to the next */
};

struct setter {
	uint32_t lines[LINES_MAX]; /* sorted */
	size_t nlines;
	uint64_t caller; /* a hash of one caller's function and line */
	bool has_several_callers;
	bool is_more; /* it does more than store */
};

bool setters_is_in_header(const struct frame *f)
{
	static const char *const endings[] = { ".h",   ".hh",  ".hpp", ".hxx",
					       ".h++", ".inl", ".ipp", ".tcc" };
	const char *file = f->symbol->file, *slash = file ? strrchr(file, '/') : NULL,
		   *dot = file ? strrchr(slash ? slash : file, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(dot, endings[i]) == 0)
			return f->symbol->function && f->symbol->line;
	return false;
}

/* All instances of a template are one function: they have the line of its declaration in common,
 * and names with other arguments. */
static uint64_t key_of(const struct symbol *s)
{
	const bool is_instance = s->function_line && strchr(s->function, '<');

	return (is_instance ? 0 : hash_text(s->function)) ^ 31 * hash_text(s->file) ^
	       (uint64_t)s->function_line * 0x9e3779b97f4a7c15u;
}

static struct setter *setter_of(struct setters *s, const struct frame *f)
{
	const uint64_t key = key_of(f->symbol);
	struct setter *known = map_get(&s->functions, key);

	if (!known) {
		known = arena_alloc(&s->arena, sizeof *known);
		*known = (struct setter){ 0 };
		map_set(&s->functions, key, known);
	}
	return known;
}

static void note_line(struct setter *f, uint32_t line)
{
	size_t i = f->nlines;

	for (size_t k = 0; k < f->nlines; k++)
		if (f->lines[k] == line)
			return;
	if (f->nlines == LINES_MAX) {
		f->is_more = true;
		return;
	}
	for (; i > 0 && f->lines[i - 1] > line; i--)
		f->lines[i] = f->lines[i - 1];
	f->lines[i] = line;
	f->nlines++;
}

static void note_caller(struct setter *f, const struct frame *caller)
{
	const struct symbol *s = caller->symbol;
	const uint64_t hash = (hash_text(s->function ? s->function : "?") ^
			       (s->line ? s->line : s->offset) * 0x9e3779b97f4a7c15u) |
			      1;

	if (!f->caller)
		f->caller = hash;
	else if (f->caller != hash)
		f->has_several_callers = true;
}

/* Notes what the site does for the functions in headers that are on its stack: a store shows where
 * they store; anything else that matters to PM shows that they do more than store. */
static void note_site(struct setters *s, const struct trace_site *site, setters_stack *stack,
		      void *arg)
{
	const bool is_store = trace_is_store(site->kind);
	const struct frame *list;
	size_t shown;
	const size_t n = stack(site, &list, &shown, arg);

	for (size_t i = shown; i < n; i++) {
		if (!setters_is_in_header(&list[i]))
			continue;
		if (!is_store) {
			setter_of(s, &list[i])->is_more = true;
			continue;
		}
		note_line(setter_of(s, &list[i]), list[i].symbol->line);
		if (i + 1 < n)
			note_caller(setter_of(s, &list[i]), &list[i + 1]);
	}
}

/* Asks whether an event of this kind does more than store: makes stores durable, logs them, or
 * decides what is PM. */
static bool is_more(enum pmt_kind k)
{
	return trace_is_flush(k) || trace_is_barrier(k) || k == PMT_FLUSH_VOLATILE ||
	       (k >= PMT_MSYNC && k <= PMT_FDATASYNC) || k == PMT_SYNC_RANGE ||
	       (k >= PMT_MAP && k <= PMT_NOTE_FENCE) || k == PMT_TX_ADD_CALL;
}

void setters_find(struct setters *s, const struct trace *t, setters_stack *stack, void *arg)
{
	const struct trace_site *site;

	for (uint64_t id = 1; (site = trace_site(t, id)); id++)
		if (trace_is_store(site->kind) || is_more(site->kind))
			note_site(s, site, stack, arg);
	s->is_complete = true;
}

void setters_release(struct setters *s)
{
	map_release(&s->functions);
	arena_release(&s->arena);
}

static bool only_stores(const struct setter *f)
{
	for (size_t i = 1; i < f->nlines; i++)
		if (f->lines[i] - f->lines[i - 1] > GAP_MAX)
			return false;
	return !f->is_more && f->nlines > 0;
}

size_t setters_caller(const struct setters *s, const struct frame *list, size_t n, size_t shown)
{
	size_t found = shown;

	for (size_t i = shown; i + 1 < n && setters_is_in_header(&list[i]); i++) {
		const struct setter *f = map_get(&s->functions, key_of(list[i].symbol));

		if (!f || !only_stores(f))
			break;
		if (f->has_several_callers && list[i + 1].symbol->line)
			found = i + 1;
	}
	return found;
}
