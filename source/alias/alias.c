/* Answers questions about places of the source: to which persistent and volatile objects may a
 * store or call there write? It uses what the solver has computed: what each pointer points to. */
#include "source/alias/internal.h"

#include <stdlib.h>
#include <string.h>

#include "source/alias/set.h"

static void on_call(void *owner, uint32_t call, uint32_t object)
{
	struct alias *a = owner;
	uintptr_t index = (uintptr_t)map_get(&a->function_of_object, object);
	struct function f = a->functions.at[index - 1];

	ir_bind(a, call, &f);
}

struct alias *alias_new(void)
{
	struct alias *a = xcalloc(1, sizeof *a);

	a->context = LLVMContextCreate();
	a->solver = solver_new(on_call, a);
	return a;
}

void alias_close(struct alias *a)
{
	for (size_t i = 0; i < a->modules.n; i++)
		LLVMDisposeModule(a->modules.at[i]);
	LLVMContextDispose(a->context);
	solver_free(a->solver);
	vec_release(&a->modules);
	vec_release(&a->functions);
	vec_release(&a->symbols);
	vec_release(&a->calls);
	vec_release(&a->sites);
	vec_release(&a->by_line);
	map_release(&a->reached);
	map_release(&a->nodes);
	map_release(&a->objects);
	map_release(&a->function_of_object);
	map_release(&a->paths);
	arena_release(&a->arena);
	free(a);
}

void alias_add(struct alias *a, LLVMModuleRef m)
{
	*vec_add(&a->modules) = m;
	ir_declare(a, m);
}

static int by_name(const void *x, const void *y)
{
	const struct symbol *a = x, *b = y;
	int names = strcmp(a->name, b->name);

	return names ? names : a->object < b->object ? -1 : a->object > b->object;
}

static int by_line(const void *x, const void *y, void *arg)
{
	const struct site *sites = arg, *a = &sites[*(const uint32_t *)x],
			  *b = &sites[*(const uint32_t *)y];

	return a->line != b->line ? (a->line > b->line) - (a->line < b->line) : (a > b) - (a < b);
}

static void index_sites(struct alias *a)
{
	for (size_t i = 0; i < a->sites.n; i++)
		*vec_add(&a->by_line) = (uint32_t)i;
	if (a->sites.n)
		qsort_r(a->by_line.at, a->by_line.n, sizeof a->by_line.at[0], by_line, a->sites.at);
}

bool alias_solve(struct alias *a)
{
	if (a->symbols.n)
		qsort(a->symbols.at, a->symbols.n, sizeof a->symbols.at[0], by_name);
	for (size_t i = 0; i < a->modules.n; i++)
		ir_constrain(a, a->modules.at[i]);
	index_sites(a);
	return solver_run(a->solver);
}

/* ---- questions ---- */

static bool is_before(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column)
{
	return line < other_line || (line == other_line && column < other_column);
}

static bool is_at(const struct site *s, const struct alias_place *p)
{
	if (is_before(s->line, s->column, p->line, p->column) ||
	    is_before(p->end_line, p->end_column, s->line, s->column))
		return false;
	if (p->callee ? !s->callee || strcmp(s->callee, p->callee) != 0 : !s->is_store)
		return false;
	return strcmp(s->file, p->file) == 0;
}

/* Gives the next site at the place, beginning at index *at of a->by_line, and moves *at behind it.
 * NULL if there is no more site. */
static const struct site *next_site(const struct alias *a, const struct alias_place *p, size_t *at)
{
	while (*at < a->by_line.n) {
		const struct site *s = &a->sites.at[a->by_line.at[(*at)++]];

		if (s->line > p->end_line)
			break;
		if (is_at(s, p))
			return s;
	}
	return NULL;
}

/* Gives the index in a->by_line from which to look for sites at the place: that of the first site
 * on its line or a later one. */
static size_t first_site(const struct alias *a, const struct alias_place *p)
{
	size_t low = 0, high = a->by_line.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->sites.at[a->by_line.at[middle]].line < p->line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_targets(struct alias *a, uint32_t node, struct set *to)
{
	const uint32_t *objects;
	struct set found = { .n = solver_objects(a->solver, node, &objects) };

	found.at = (uint32_t *)objects;
	set_join(to, &found, NULL);
}

/* Collects the objects that the stores at the place write to. False if no store is there. */
static bool store_targets(struct alias *a, const struct alias_place *p, struct set *to)
{
	size_t at = first_site(a, p);
	const struct site *s;
	bool is_found = false;

	while ((s = next_site(a, p, &at)))
		if (s->npointers) {
			add_targets(a, s->pointers[0], to);
			is_found = true;
		}
	return is_found;
}

void alias_seed(struct alias *a, const struct alias_place *store)
{
	struct set to = { 0 };
	bool is_known = false;

	store_targets(a, store, &to);
	for (size_t i = 0; i < to.n; i++)
		is_known |= solver_kind(a->solver, to.at[i]) == SOLVE_PM;
	for (size_t i = 0; i < to.n && !is_known; i++)
		if (solver_kind(a->solver, to.at[i]) == SOLVE_UNKNOWN)
			solver_set_kind(a->solver, to.at[i], SOLVE_PM);
	set_release(&to);
}

static bool bit_set(uint64_t *bits, uint32_t i)
{
	bool is_new = !(bits[i / 64] >> i % 64 & 1);

	bits[i / 64] |= UINT64_C(1) << i % 64;
	return is_new;
}

/* Gives a set of bits: a bit for each object that can be reached from the node by loads. Computed
 * once per node, because every bug of a function asks for it. */
static const uint64_t *reach(struct alias *a, uint32_t node)
{
	uint64_t *bits = map_get(&a->reached, node);
	VEC(uint32_t) todo = { 0 };
	const uint32_t *objects;
	size_t n;

	if (bits)
		return bits;
	bits = arena_alloc(&a->arena, (solver_nobjects(a->solver) / 64 + 1) * sizeof *bits);
	memset(bits, 0, (solver_nobjects(a->solver) / 64 + 1) * sizeof *bits);
	n = solver_objects(a->solver, node, &objects);
	for (size_t i = 0; i < n; i++)
		if (bit_set(bits, objects[i]))
			*vec_add(&todo) = objects[i];
	while (todo.n) {
		n = solver_content(a->solver, todo.at[--todo.n], &objects);
		for (size_t i = 0; i < n; i++)
			if (bit_set(bits, objects[i]))
				*vec_add(&todo) = objects[i];
	}
	vec_release(&todo);
	map_set(&a->reached, node, bits);
	return bits;
}

static bool leads_to(struct alias *a, uint32_t node, const struct set *targets)
{
	const uint64_t *bits = reach(a, node);

	for (size_t i = 0; i < targets->n; i++)
		if (bits[targets->at[i] / 64] >> targets->at[i] % 64 & 1)
			return true;
	return false;
}

static void call_targets(struct alias *a, const struct alias_place *p, const struct set *targets,
			 struct set *to, struct alias_counts *out)
{
	size_t at = first_site(a, p);
	const struct site *s;

	while ((s = next_site(a, p, &at))) {
		out->is_found = true;
		for (size_t k = 0; k < s->npointers; k++)
			if (s->pointers[k] && (!targets || leads_to(a, s->pointers[k], targets))) {
				out->has_pointers = true;
				add_targets(a, s->pointers[k], to);
			}
	}
}

void alias_count(struct alias *a, const struct alias_place *p, const struct alias_place *store,
		 struct alias_counts *out)
{
	struct set to = { 0 }, targets = { 0 };

	*out = (struct alias_counts){ 0 };
	if (p->callee) {
		if (store)
			store_targets(a, store, &targets);
		call_targets(a, p, store ? &targets : NULL, &to, out);
	} else {
		out->is_found = out->has_pointers = store_targets(a, p, &to);
	}
	for (size_t i = 0; i < to.n; i++)
		switch (solver_kind(a->solver, to.at[i])) {
		case SOLVE_PM: out->npm++; break;
		case SOLVE_STACK:
		case SOLVE_GLOBAL:
		case SOLVE_HEAP: out->nvolatile++; break;
		case SOLVE_UNKNOWN:
		case SOLVE_FUNCTION:
		case SOLVE_VARARGS: break;
		}
	set_release(&to);
	set_release(&targets);
}

static bool may_write_pm(struct alias *a, const struct site *s)
{
	struct set to = { 0 };
	bool may = false;

	if (!s->npointers || (!s->is_store && !(s->callee && external_is_store(s->callee))))
		return false;
	add_targets(a, s->pointers[0], &to);
	for (size_t i = 0; i < to.n; i++)
		may |= solver_kind(a->solver, to.at[i]) == SOLVE_PM;
	set_release(&to);
	return may;
}

void alias_each(struct alias *a, void (*found)(void *arg, const char *file, uint32_t line),
		void *arg)
{
	for (size_t i = 0; i < a->sites.n; i++)
		if (a->sites.at[i].file && may_write_pm(a, &a->sites.at[i]))
			found(arg, a->sites.at[i].file, a->sites.at[i].line);
}
