/* Finds function, file and line for the sites of a trace. Memory grows with the number of different
 * sites and code addresses, not of events. */
#include "source/locate.h"

#include <string.h>

#include "source/setters.h"
#include "trace/import.h"
#include "trace/owner.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

struct locator {
	const struct trace *t;
	const struct libraries *libraries; /* NULL: only the system's libraries */
	struct symbols *symbols;
	struct map imported;  /* pc → struct symbol */
	struct map by_site;   /* site id → struct frame to show */
	struct map same_line; /* two site ids → yes or no */
	/* functions, by function_key(), that flush what their callers stored */
	struct map flushers;
	/* functions, by function_key(), that flush what they stored, or have it flushed */
	struct map owners;
	struct setters setters; /* found when somebody asks */
	struct arena arena;
	VEC(struct frame) stack;
};

static const struct frame nothing; /* the frame of a site about which nothing is known */

struct locator *locator_new(const struct trace *t, const struct libraries *libraries)
{
	struct locator *l = xcalloc(1, sizeof *l);

	l->t = t;
	l->libraries = libraries;
	l->symbols = symbols_new();
	return l;
}

void locator_free(struct locator *l)
{
	symbols_free(l->symbols);
	map_release(&l->imported);
	map_release(&l->by_site);
	map_release(&l->same_line);
	map_release(&l->flushers);
	map_release(&l->owners);
	setters_release(&l->setters);
	arena_release(&l->arena);
	vec_release(&l->stack);
	free(l);
}

/* Gives the symbol that an imported log has for the code address; NULL if it names none. */
static const struct symbol *imported_find(struct locator *l, uint64_t pc)
{
	static const struct symbol unnamed;
	const struct symbol *known = map_get(&l->imported, pc);
	struct symbol *s;

	if (!known) {
		s = arena_alloc(&l->arena, sizeof *s);
		if (!import_frame_find(l->t, pc, s, &l->arena))
			*s = unnamed;
		map_set(&l->imported, pc, s);
		known = s;
	}
	return known->offset ? known : NULL;
}

static void stack_add(struct locator *l, const struct trace_object *object, uint64_t pc,
		      bool is_return, bool is_signal)
{
	const struct symbol *list = object ? NULL : imported_find(l, pc);
	size_t n = 1, i;

	if (!list)
		n = symbols_find(l->symbols, object, pc, is_return, &list);
	for (i = 0; i < n; i++)
		*vec_add(&l->stack) = (struct frame){ &list[i], pc, is_signal && i == 0 };
}

/* Is the frame in code that the user did not write: intrinsics, the C and C++ libraries (also
 * inside a static program), PMDK, annotations? */
static bool is_library(const struct locator *l, const struct symbol *s)
{
	return s->is_linked_in ||
	       owner_of_code(l->libraries, s->object, s->file, s->function) != OWNER_USER;
}

bool locate_has_shown(const struct locator *l, const struct frame *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_library(l, list[i].symbol))
			return true;
	return false;
}

/* Builds the site's stack. Unless is_whole, it ends at the frame that is shown: frames of the C
 * library further out have much debug information, which takes long to read. */
static size_t stack_find(struct locator *l, const struct trace_site *site, bool is_whole)
{
	l->stack.n = 0;
	if (!site)
		return 0;
	if (site->pc)
		stack_add(l, site->object, site->pc, false, false);
	for (const struct trace_node *node = site->node;
	     node && (is_whole || !locate_has_shown(l, l->stack.at, l->stack.n));
	     node = node->parent)
		stack_add(l, node->object, node->pc, !node->is_signal, node->is_signal);
	return l->stack.n;
}

size_t locate_stack(struct locator *l, const struct trace_site *site, const struct frame **list)
{
	size_t n = stack_find(l, site, true);

	*list = l->stack.at;
	return n;
}

struct code_place locate_code(struct locator *l, const struct trace_site *site,
			      const struct frame *list, size_t i)
{
	const struct trace_object *object = site->object;
	struct code_place out = { .pc = list[i].pc };

	while (out.depth < i && list[i - out.depth - 1].symbol->is_inlined &&
	       list[i - out.depth - 1].pc == out.pc)
		out.depth++;
	if (i > out.depth) { /* a return address, not the site's instruction */
		const struct trace_node *node = site->node;

		while (node && node->pc != out.pc)
			node = node->parent;
		object = node ? node->object : NULL;
		out.pc -= node && !node->is_signal;
	}
	out.module = object ? symbols_module(l->symbols, object, &out.pc) : NULL;
	return out;
}

size_t locate_shown(const struct locator *l, const struct frame *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_library(l, list[i].symbol))
			return i;
	for (i = 0; i < n; i++)
		if (list[i].symbol->line)
			return i;
	return 0;
}

static size_t stack_of(const struct trace_site *site, const struct frame **list, size_t *shown,
		       void *arg)
{
	const size_t n = locate_stack(arg, site, list);

	*shown = n ? locate_shown(arg, *list, n) : 0;
	return n;
}

size_t locate_place(struct locator *l, const struct frame *list, size_t n)
{
	const size_t shown = n ? locate_shown(l, list, n) : 0;
	size_t found;

	if (n == 0 || !setters_is_in_header(&list[shown]))
		return shown;
	if (!l->setters.is_complete) {
		struct locator other = *l; /* keeps `list`, which may be our own stack */

		l->stack.at = NULL;
		l->stack.n = l->stack.room = 0;
		setters_find(&l->setters, l->t, stack_of, l);
		vec_release(&l->stack);
		l->stack = other.stack;
	}
	found = setters_caller(&l->setters, list, n, shown);
	return is_library(l, list[found].symbol) ? shown : found;
}

static char yes[1], no[1]; /* values of maps */

static bool is_same_function(const struct symbol *a, const struct symbol *b)
{
	return a->function && b->function && strcmp(a->function, b->function) == 0;
}

/* Asks whether both symbols belong to one call of a function in a library without debug
 * information. (The caller knows that the frames outside them are equal.) PMDK 1.13 of Debian 13
 * unrolls the loop that flushes, so one call has several places. */
static bool is_lineless_call(const struct symbol *a, const struct symbol *b)
{
	return !a->line && !b->line && (is_same_function(a, b) || (!a->function && !b->function));
}

static bool has_same_line(struct locator *l, const struct trace_site *a, const struct trace_site *b)
{
	const struct trace_site alone[] = { { .object = a->object, .pc = a->pc },
					    { .object = b->object, .pc = b->pc } };
	VEC(struct frame) list = { 0 };
	size_t n = stack_find(l, &alone[0], true), m;
	bool is_same;

	for (size_t i = 0; i < n; i++)
		*vec_add(&list) = l->stack.at[i];
	m = stack_find(l, &alone[1], true);
	is_same = n > 0 && n == m;
	for (size_t i = 0; is_same && i < n; i++)
		is_same = list.at[i].symbol->line &&
			  list.at[i].symbol->line == l->stack.at[i].symbol->line &&
			  is_same_function(list.at[i].symbol, l->stack.at[i].symbol);
	is_same |= n == 1 && m == 1 && is_lineless_call(list.at[0].symbol, l->stack.at[0].symbol);
	vec_release(&list);
	return is_same;
}

bool locate_is_same_line(const struct trace_site *a, const struct trace_site *b, void *arg)
{
	struct locator *l = arg;
	const uint64_t key = (uint64_t)a->id << 32 | b->id;
	/* the names of an imported log may come later in the trace */
	char *known = a->object ? map_get(&l->same_line, key) : no;

	if (!known) {
		known = has_same_line(l, a, b) ? yes : no;
		map_set(&l->same_line, key, known);
	}
	return known == yes;
}

/* ---- functions that flush for others ---- */

/* Do the frames a and b stand for the same call? Inlined functions share the address of the
 * function around them, so for these line and names are compared. */
static bool is_same_call(const struct frame *a, const struct frame *b, bool has_inside)
{
	if (a->symbol->line != b->symbol->line)
		return false;
	return a->pc == b->pc ||
	       (has_inside && a[-1].symbol->is_inlined && b[-1].symbol->is_inlined &&
		is_same_function(a->symbol, b->symbol) &&
		is_same_function(a[-1].symbol, b[-1].symbol));
}

size_t locate_common(const struct frame *flush, size_t nflush, const struct frame *store,
		     size_t nstore)
{
	size_t i = nflush, k = nstore;

	for (; i > 0 && k > 0; i--, k--)
		if (!is_same_call(&flush[i - 1], &store[k - 1], i > 1 && k > 1))
			break;
	return i > 0 && k > 0 && is_same_function(flush[i - 1].symbol, store[k - 1].symbol)
		       ? i - 1
		       : SIZE_MAX;
}

/* Makes a key for maps of functions, from name and file; 0 if the function has no name. */
static uint64_t function_key(const struct symbol *s)
{
	return s->function ? hash_text(s->function) ^ (s->file ? 31 * hash_text(s->file) : 0) : 0;
}

static void function_note(struct map *to, const struct frame *f)
{
	if (function_key(f->symbol))
		map_set(to, function_key(f->symbol), yes);
}

void locate_note_served(struct locator *l, const struct trace_site *flush,
			const struct trace_site *store)
{
	size_t n = stack_find(l, flush, true), m, common;
	VEC(struct frame) list = { 0 };

	for (size_t i = 0; i < n; i++)
		*vec_add(&list) = l->stack.at[i];
	m = stack_find(l, store, true);
	common = locate_common(list.at, n, l->stack.at, m);
	for (size_t i = 0; common != SIZE_MAX && i <= common; i++)
		function_note(i < common ? &l->flushers : &l->owners, &list.at[i]);
	vec_release(&list);
}

size_t locate_call(const struct locator *l, const struct frame *list, size_t n, size_t shown)
{
	size_t i = shown;

	while (i + 1 < n && map_get(&l->flushers, function_key(list[i].symbol)) &&
	       !map_get(&l->owners, function_key(list[i].symbol)))
		i++;
	return is_library(l, list[i].symbol) || !list[i].symbol->line ? shown : i;
}

const struct frame *locate(struct locator *l, const struct trace_site *site)
{
	const struct frame *known = site ? map_get(&l->by_site, site->id) : &nothing;
	struct frame *found;
	size_t n;

	if (!known) {
		n = stack_find(l, site, false);
		found = arena_alloc(&l->arena, sizeof *found);
		*found = n ? l->stack.at[locate_shown(l, l->stack.at, n)] : nothing;
		map_set(&l->by_site, site->id, found);
		known = found;
	}
	return known->symbol ? known : NULL;
}

/* Asks whether the program's call came to the frame `entry` of PMDK by a jump, so that the called
 * function is not on the stack. pmemobj_persist and the like jump to an unnamed function that calls
 * libpmem, so no other frame of the library is on the stack. */
static bool is_jump(const struct frame *list, size_t entry)
{
	return !list[entry].symbol->function &&
	       (entry == 0 || !owner_decider(list[entry - 1].symbol->object, NULL));
}

/* Looks at the frames inside the shown one. The outermost frame of PMDK among them is the function
 * that the program called; it tells whether PMDK or the program decided. */
const char *locate_decider(const struct frame *list, size_t shown)
{
	while (shown-- > 0)
		if (list[shown].symbol->object &&
		    owner_of_object(list[shown].symbol->object) == OWNER_PMDK)
			return is_jump(list, shown) ? NULL
						    : owner_decider(list[shown].symbol->object,
								    list[shown].symbol->function);
	return NULL;
}

bool locate_makes_pool(const struct frame *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (owner_makes_pool(list[i].symbol->object, list[i].symbol->function))
			return true;
	return false;
}
