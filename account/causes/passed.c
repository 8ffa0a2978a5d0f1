/* Finds the function to which a flush's call passes a length, and the function that passes it. Both
 * are between the flush and the function that also made the store; functions inside of that one are
 * helpers. */
#include "account/causes/passed.h"

#include <stdlib.h>
#include <string.h>

#include "trace/owner.h"
#include "util/hash.h"
#include "util/vec.h"
#include "util/str.h"

static char yes[1], no[1]; /* values in maps */

/* ---- comparing places ---- */

typedef VEC(struct frame) frames;

static void frames_copy(struct passing *p, const struct trace_site *site, frames *out)
{
	const struct frame *list;
	size_t n = locate_stack(p->locator, site, &list);

	for (size_t i = 0; i < n; i++)
		*vec_add(out) = list[i];
}

static bool is_same_line(const struct symbol *x, const struct symbol *y)
{
	return x->line && x->line == y->line && str_same_known(x->function, y->function) &&
	       str_same_known(x->file, y->file);
}

/* Are both sites on the same source line, with the same callers? A copy in the C library consists
 * of many instructions. */
static bool is_same_place(struct passing *p, const struct trace_site *a, const struct trace_site *b)
{
	frames x = { 0 }, y = { 0 };
	bool is_same = false;

	frames_copy(p, a, &x);
	frames_copy(p, b, &y);
	if (x.n > 0 && y.n > 0) {
		size_t i = locate_shown(p->locator, x.at, x.n),
		       k = locate_shown(p->locator, y.at, y.n);

		is_same = x.n - i == y.n - k && is_same_line(x.at[i].symbol, y.at[k].symbol);
		while (is_same && ++i < x.n)
			is_same = x.at[i].pc == y.at[++k].pc || x.at[i - 1].symbol->is_inlined;
	}
	vec_release(&x);
	vec_release(&y);
	return is_same;
}

bool passing_same_statement(struct passing *p, const struct trace_site *a,
			    const struct trace_site *b)
{
	const uint64_t key = (uint64_t)a->id << 32 | b->id;
	char *known = a == b ? yes : map_get(&p->same, key);

	if (!known) {
		known = is_same_place(p, a, b) ? yes : no;
		map_set(&p->same, key, known);
	}
	return known == yes;
}

static size_t frame_in_common(const frames *flush, const frames *store)
{
	return locate_common(flush->at, flush->n, store->at, store->n);
}

/* ---- calls ---- */

static bool is_pmdk(const struct frame *f)
{
	return f->symbol->object && owner_of_object(f->symbol->object) == OWNER_PMDK;
}

static bool is_libc(const struct frame *f)
{
	return f->symbol->object && owner_of_object(f->symbol->object) == OWNER_RUNTIME;
}

static enum call_takes takes_of(struct passing *p, const struct trace_site *flush,
				const frames *list, size_t i)
{
	struct code_place code;

	if (is_pmdk(&list->at[i]))
		return CALL_TAKES_LENGTH;
	code = locate_code(p->locator, flush, list->at, i);
	return call_takes(&code);
}

/* Handles a flush for which no function passes a length on: the caller of msync chose it. */
static void find_sync(struct call *c, size_t outside)
{
	if (outside == 0)
		return;
	c->takes = CALL_TAKES_LENGTH;
	c->is_library = true;
	c->from = outside;
}

/* Finds the helper. All functions between the flush and the one that also leads to the store are
 * helpers. This takes the innermost that has a length parameter, and those around it that pass
 * theirs on. */
static void find_helper(struct passing *p, struct call *c, const struct trace_site *flush,
			const frames *list, size_t common)
{
	size_t i = 0, outside;

	while (i < common && is_libc(&list->at[i]))
		i++;
	outside = i;
	c->takes = CALL_TAKES_NO_LENGTH;
	for (; i < common; i++) {
		const enum call_takes takes = takes_of(p, flush, list, i);

		if (takes == CALL_TAKES_LENGTH)
			break;
		if (takes == CALL_TAKES_UNKNOWN)
			c->takes = CALL_TAKES_UNKNOWN;
	}
	c->helper = i < common ? i : 0;
	c->from = common;
	if (i == common) {
		find_sync(c, outside);
		return;
	}
	c->takes = CALL_TAKES_LENGTH;
	c->is_library = is_pmdk(&list->at[i]);
	for (i++; i < common && takes_of(p, flush, list, i) == CALL_TAKES_LENGTH; i++)
		;
	c->from = i;
}

static void read_call(struct passing *p, struct call *c, const struct trace_site *flush,
		      const frames *list)
{
	const struct bug_frame frame = bug_frame_of(list->at[c->from].symbol);
	const struct code_place code = locate_code(p->locator, flush, list->at, c->from);
	size_t len = 0;
	const char *text = frame.line ? report_source_line(p->report, &frame, &len) : NULL;

	if (text)
		c->given = call_given(&code, text, len, &c->bytes);
}

/* Hashes the source line of a frame, so that copies of an inlined function are one. */
static uint64_t key_of(const struct frame *f)
{
	const struct symbol *s = f->symbol;
	char *text = s->line ? xasprintf("%s:%u:%s", s->file ? s->file : "", s->line,
					 s->function ? s->function : "")
			     : NULL;
	const uint64_t key = text ? hash_text(text) : f->pc;

	free(text);
	return key;
}

const struct call *passing_call(struct passing *p, const struct trace_site *flush,
				const struct trace_site *store)
{
	struct call *c = map_get(&p->calls, flush->id);
	frames list = { 0 }, other = { 0 };
	size_t common;

	if (c)
		return c;
	c = arena_alloc(&p->arena, sizeof *c);
	*c = (struct call){ .from = SIZE_MAX, .helper_key = flush->pc, .from_key = flush->id };
	map_set(&p->calls, flush->id, c);
	frames_copy(p, flush, &list);
	frames_copy(p, store, &other);
	common = frame_in_common(&list, &other);
	if (list.n > 0 && locate_decider(list.at, locate_shown(p->locator, list.at, list.n)))
		c->takes = CALL_TAKES_NO_LENGTH;
	else if (common != SIZE_MAX)
		find_helper(p, c, flush, &list, common);
	else if (list.n > 0 && list.at[0].symbol->function)
		c->takes = CALL_TAKES_NO_LENGTH;
	if (c->takes == CALL_TAKES_LENGTH)
		read_call(p, c, flush, &list);
	if (list.n > 0)
		c->helper_key = key_of(&list.at[c->helper]);
	if (c->from < list.n)
		c->from_key = key_of(&list.at[c->from]);
	vec_release(&list);
	vec_release(&other);
	return c;
}

bool passing_is_callers(struct passing *p, const struct trace_site *flush,
			const struct trace_site *store)
{
	const uint64_t key = (uint64_t)flush->id << 32 | store->id;
	const struct call *c = passing_call(p, flush, store);
	char *known = map_get(&p->callers, key);

	if (!known) {
		frames list = { 0 }, other = { 0 };

		frames_copy(p, flush, &list);
		frames_copy(p, store, &other);
		known = c->from != SIZE_MAX && frame_in_common(&list, &other) == c->from ? yes : no;
		map_set(&p->callers, key, known);
		vec_release(&list);
		vec_release(&other);
	}
	return known == yes;
}

static const char *line_of(struct passing *p, const struct frame *f, size_t *len)
{
	const struct bug_frame frame = bug_frame_of(f->symbol);

	return frame.line ? report_source_line(p->report, &frame, len) : NULL;
}

bool passing_is_same_range(struct passing *p, const struct trace_site *flush,
			   const struct trace_site *store)
{
	const struct call *c = passing_call(p, flush, store);
	frames list = { 0 }, other = { 0 };
	const char *flushes, *stores;
	size_t flush_len, store_len;
	bool is_same = false;

	frames_copy(p, flush, &list);
	frames_copy(p, store, &other);
	if (c->from != SIZE_MAX && frame_in_common(&list, &other) == c->from) {
		stores = line_of(p, &other.at[other.n - (list.n - c->from)], &store_len);
		flushes = stores ? line_of(p, &list.at[c->from], &flush_len) : NULL;
		is_same = flushes && call_is_same_range(stores, store_len, flushes, flush_len);
	}
	vec_release(&list);
	vec_release(&other);
	return is_same;
}

void passing_release(struct passing *p)
{
	map_release(&p->calls);
	map_release(&p->same);
	map_release(&p->callers);
	arena_release(&p->arena);
}
