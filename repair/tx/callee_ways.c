/* Functions that a transaction calls and that must log, too. If only transactions call them, they are changed themselves. If others do, the transaction
 * calls copies (`give_tx` for `give`). If one cannot be copied, it logs only when a transaction is open. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* ---- who calls it ---- */

/* Behind what cannot be code: a comment, a string, a character. The same place if it is none of these. */
static const char *skip_text(const char *p)
{
	const char *end;
	char quote = *p;

	if (p[0] == '/' && (p[1] == '*' || p[1] == '/')) {
		end = strstr(p + 2, p[1] == '*' ? "*/" : "\n");
		return end ? end + (p[1] == '*' ? 2 : 1) : p + strlen(p);
	}
	if (quote != '"' && quote != '\'')
		return p;
	for (p++; *p && *p != quote && *p != '\n'; p++)
		p += *p == '\\' && p[1];
	return *p ? p + 1 : p;
}

static size_t count_words(const char *text, const char *word)
{
	size_t n = 0, len = strlen(word);

	for (const char *p = text; *p;) {
		const char *behind = skip_text(p);
		size_t letters = 0;

		if (behind != p) {
			p = behind;
			continue;
		}
		while (isalnum((unsigned char)p[letters]) || p[letters] == '_')
			letters++;
		n += letters == len && strncmp(p, word, len) == 0;
		p += letters ? letters : 1;
	}
	return n;
}

static size_t count_declarations(const struct source_unit *u, const struct source_function *f)
{
	size_t n = 0;

	for (size_t i = 0; i < u->nfunctions; i++)
		n += strcmp(u->functions[i].name, f->name) == 0 && strcmp(u->functions[i].file, f->file) == 0;
	return n;
}

/* Is this place inside a transaction, or in a function that only those call? */
static bool is_inside(struct repair *r, const struct use *u)
{
	const struct tx_callee *c = tx_callee_find(r, u->in);

	if ((c && c->way == TX_INSIDE) || tx_is_in_work(u->unit, u->in, u->node))
		return true;
	for (size_t i = 0; i < r->tx->list.n; i++) {
		const struct tx *t = r->tx->list.at[i];

		if (!t->why && function_is_same(t->x.function, u->in) && tx_holds(t, u->node))
			return true;
	}
	return false;
}

/* A static function of one file, all of whose uses are calls from inside. A name in the text that is none of these is one that nobody follows. */
static bool is_only_inside(struct repair *r, const struct tx_callee *c)
{
	size_t n, seen = 0;
	const struct use *uses = names_find(r->code, c->x.function->name, &n);

	for (size_t i = 0; i < n; i++) {
		if (!uses[i].node || uses[i].unit != c->x.unit)
			continue;
		if (!uses[i].node->parent || uses[i].node->parent->kind != SOURCE_CALL || uses[i].node->parent->child != uses[i].node || !is_inside(r, &uses[i]))
			return false;
		seen++;
	}
	return seen > 0 && count_words(c->x.file->text, c->x.function->name) == seen + count_declarations(c->x.unit, c->x.function);
}

static bool is_of_one_file(const struct tx_callee *c)
{
	return c->x.function->is_static && !c->x.unit->is_cplusplus && strcmp(c->x.unit->main_file, c->x.file->path) == 0;
}

static bool gets_volatile(struct repair *r, const struct tx_callee *c)
{
	size_t n;
	const struct use *uses = names_find(r->code, c->x.function->name, &n);

	for (size_t i = 0; i < n; i++)
		if (uses[i].node && uses[i].node->parent && uses[i].node->parent->kind == SOURCE_CALL && call_passes_volatile(uses[i].node->parent))
			return true;
	return false;
}

/* ---- which way ---- */

static int list_path(struct repair *r, const struct tx_path *p, const char **why)
{
	for (size_t k = 0; k < p->at; k++) {
		struct fix x = { 0 };

		if (fix_enter_frame(r, &x, p->place, k, why) < 0)
			return -1;
		if (!tx_callee_find(r, x.function))
			*vec_add(&r->tx->callees) = (struct tx_callee){ .x = x };
	}
	return 0;
}

/* The copy must be callable where the path calls it: in the transaction, or in what is inside or a copy itself. */
static bool may_copy(struct repair *r, const struct tx_path *p, size_t k, const struct tx_callee *c)
{
	struct fix caller = { 0 };
	const char *why;
	const struct source_node *call = call_of_frame(r, &caller, p->place, k + 1, c->x.function->name, &why);
	const struct tx_callee *by = call && k + 1 < p->at ? tx_callee_find(r, caller.function) : NULL;

	return call && !(by && by->way == TX_GUARDED) && !tx_is_redirected(r, caller.file, call) &&
	       clone_function_check(r, c->x.unit, c->x.file, c->x.function, &why) == 0 &&
	       clone_call_check(r, caller.unit, caller.file, call, c->x.function, &why) == 0;
}

static bool guard_some(struct repair *r, const struct tx *t)
{
	bool is_changed = false;

	for (size_t i = 0; i < t->paths.n; i++)
		for (size_t k = t->paths.at[i].at; k-- > 0;) {
			struct fix x = { 0 };
			struct tx_callee *c;
			const char *why;

			if (fix_enter_frame(r, &x, t->paths.at[i].place, k, &why) < 0)
				continue;
			c = tx_callee_find(r, x.function);
			if (c->way == TX_COPIED && !may_copy(r, &t->paths.at[i], k, c)) {
				c->way = TX_GUARDED;
				is_changed = true;
			}
		}
	return is_changed;
}

/* What they allocate and release must be undone, too. */
static void find_allocations(struct repair *r)
{
	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = 0; !r->tx->list.at[i]->why && !r->tx->list.at[i]->is_there && k < r->tx->list.at[i]->paths.n; k++)
			for (size_t n = 0; n < r->tx->list.at[i]->paths.at[k].at; n++) {
				struct fix x = { 0 };
				struct tx_callee *c;
				const char *why;

				if (fix_enter_frame(r, &x, r->tx->list.at[i]->paths.at[k].place, n, &why) < 0)
					continue;
				c = tx_callee_find(r, x.function);
				if (!c->inner)
					c->inner = tx_callee_allocations(r, c);
				if (c->inner && c->inner->why)
					r->tx->list.at[i]->why = c->inner->why;
			}
}

void tx_callees_find(struct repair *r)
{
	bool is_changed = true;
	const char *why;

	tx_callees_release(r);
	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = 0; !r->tx->list.at[i]->why && k < r->tx->list.at[i]->paths.n; k++)
			if (list_path(r, &r->tx->list.at[i]->paths.at[k], &why) < 0)
				r->tx->list.at[i]->why = why;
	for (size_t i = 0; i < r->tx->callees.n; i++)
		r->tx->callees.at[i].way = is_of_one_file(&r->tx->callees.at[i]) ? TX_INSIDE : TX_COPIED;
	while (is_changed) {
		is_changed = false;
		for (size_t i = 0; i < r->tx->callees.n; i++)
			if (r->tx->callees.at[i].way == TX_INSIDE && !is_only_inside(r, &r->tx->callees.at[i])) {
				r->tx->callees.at[i].way = TX_COPIED;
				is_changed = true;
			}
	}
	do {
		is_changed = false;
		for (size_t i = 0; i < r->tx->list.n; i++)
			if (!r->tx->list.at[i]->why)
				is_changed |= guard_some(r, r->tx->list.at[i]);
	} while (is_changed);
	for (size_t i = 0; i < r->tx->callees.n; i++)
		r->tx->callees.at[i].gets_volatile = gets_volatile(r, &r->tx->callees.at[i]);
	find_allocations(r);
}
