/* Adds a log to a macro that is used in transactions and stores to its argument. The report only
 * names the line that uses the macro. The store that is meant is found by elimination: the only one
 * that neither the macro nor its user logs or allocates. */
#include <string.h>

#include "repair/tx/internal.h"

enum { STORES_MAX = 32 };

/* ---- whether the macro stores ---- */

/* Asks whether the store is in an argument of the macro, and not in its text. */
static bool is_argument(const struct fix *x, const struct repair_frame *at,
			const struct source_use *use)
{
	const struct source_node *store =
		store_at(x->unit, x->function, x->file, at->line, at->column);

	return store && store->text_begin > use->begin && store->text_end < use->end;
}

/* ---- which store ---- */

static void log_of(struct repair *r, const char *lvalue, struct tx_log *l)
{
	*l = (struct tx_log){ 0 };
	tx_set_range(r, l, lvalue);
	tx_log_split(r, l);
}

/* Asks whether the store is always after the log: no block that contains the log has ended. */
static bool is_always_before(const struct file *f, uint32_t log, uint32_t store)
{
	int depth = 0;

	for (; log < store; log++) {
		depth += (f->text[log] == '{') - (f->text[log] == '}');
		if (depth < 0)
			return false;
	}
	return true;
}

static bool is_logged_inside(struct repair *r, const struct tx_add_calls *all,
			     const struct macro_store *s)
{
	struct tx_log l;

	log_of(r, tx_bare(r, s->lvalue), &l);
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].begin < s->begin &&
		    is_always_before(all->file, all->list.at[i].begin, s->begin) &&
		    tx_add_call_covers(r, &all->list.at[i], &l))
			return true;
	return false;
}

/* Returns the argument that this use passes for the parameter; NULL: no parameter has this name. */
static const char *passed_for(struct repair *r, const struct fix *x, const struct source_macro *m,
			      const struct source_use *use, const char *name)
{
	struct file definition = { .text = (char *)m->text,
				   .len_bytes = (uint32_t)strlen(m->text) };
	const char **names = text_arguments(r->code, &definition, 0, definition.len_bytes),
		   **args = text_arguments(r->code, x->file, use->begin, use->end);

	for (size_t i = 0; names && args && names[i] && args[i]; i++)
		if (strcmp(names[i], name) == 0)
			return args[i];
	return NULL;
}

/* Asks whether the function that uses the macro has logged the object, or allocated it. */
static bool is_logged_outside(struct repair *r, const struct fix *x, const struct source_macro *m,
			      const struct source_use *use, const struct macro_store *s)
{
	const struct tx_add_calls *all = tx_add_calls_of(r, x->unit, x->file);
	const char *root, *what;
	struct tx_log l;

	log_of(r, tx_bare(r, s->lvalue), &l);
	root = l.handle ? l.handle : l.object;
	what = root && text_is_identifier(root) ? passed_for(r, x, m, use, root) : NULL;
	if (!what)
		return false;
	for (size_t i = 0; i < all->list.n; i++)
		if (x->function->begin <= all->list.at[i].begin &&
		    all->list.at[i].end <= use->begin && tx_add_call_is_whole(&all->list.at[i]) &&
		    strcmp(all->list.at[i].args[all->list.at[i].how.first], what) == 0)
			return true;
	return tx_is_new(x->function, what);
}

/* ---- the text of the log ---- */

/* Returns the member as other macros of the file log it: "field" for "field.next". */
static const char *member_like(const struct tx_add_calls *all, const char *member)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const char *other = all->list.at[i].how.form == FORM_FIELD ||
						    all->list.at[i].how.form == FORM_MEMBER
					    ? all->list.at[i].args[1]
					    : "";
		size_t len = strlen(other);

		if (len && strncmp(member, other, len) == 0 &&
		    (member[len] == '.' || member[len] == '['))
			return other;
	}
	return member;
}

static bool has_form(const struct tx_add_calls *all, enum tx_form form, bool is_whole)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i].how.form == form &&
		    tx_add_call_is_whole(&all->list.at[i]) == is_whole)
			return true;
	return false;
}

/* Returns an argument without parentheses around a name. */
static const char *argument(struct repair *r, const char *text)
{
	const char *bare = tx_bare(r, text);

	return text_is_identifier(bare) ? bare : text;
}

/* Returns the call that logs the lvalue, written as other macros of this file log. */
static const char *call_text(struct repair *r, const struct tx_add_calls *like, const char *lvalue)
{
	bool has_macros = has_form(like, FORM_OBJECT, true) || has_form(like, FORM_FIELD, false) ||
			  has_form(like, FORM_POINTER, true) ||
			  has_form(like, FORM_POINTER, false) || has_form(like, FORM_MEMBER, false);
	struct tx_log l;

	log_of(r, lvalue, &l);
	if (l.handle && l.member)
		return has_form(like, FORM_OBJECT, true) && !has_form(like, FORM_FIELD, false)
			       ? text_format(r->code, "TX_ADD(%s)", argument(r, l.handle))
			       : text_format(r->code, "TX_ADD_FIELD(%s, %s)", argument(r, l.handle),
					     member_like(like, l.member));
	if (has_macros && l.object && !l.is_dot &&
	    (!l.member || has_form(like, FORM_POINTER, true)))
		return text_format(r->code, "TX_ADD_DIRECT(%s)", argument(r, l.object));
	if (has_form(like, FORM_POINTER, false) && !has_form(like, FORM_MEMBER, false) &&
	    text_is_postfix(lvalue))
		return text_format(r->code, "TX_ADD_DIRECT(&%s)", lvalue);
	if (has_macros && l.object && !l.is_dot)
		return text_format(r->code, "TX_ADD_FIELD_DIRECT(%s, %s)", argument(r, l.object),
				   member_like(like, l.member));
	return text_format(r->code, "pmemobj_tx_add_range_direct(%s, %s)", l.addr, l.len);
}

/* ---- plan and edit ---- */

static void note(struct repair *r, const struct fix *x, const struct source_macro *m,
		 struct file *f, const struct macro_store *s, const char *text)
{
	struct tx_macro_log l = {
		.bug = x->bug, .file = f, .store = *s, .name = m->name, .text = text
	};

	for (size_t i = 0; i < r->tx->macro_logs.n; i++)
		if (r->tx->macro_logs.at[i].file == f &&
		    r->tx->macro_logs.at[i].store.begin == s->begin) {
			l.is_again = true;
			group_join(r, r->tx->macro_logs.at[i].bug, x->bug);
		}
	*vec_add(&r->tx->macro_logs) = l;
}

int tx_macro_log(struct repair *r, const struct fix *x, const struct repair_frame *at,
		 const char **why)
{
	const struct source_use *use = macro_use_at(x->unit, x->file, at->line, at->column);
	const struct source_macro *m = use ? macro_defined(x->unit, use->name) : NULL;
	struct file *f = m ? file_open(r->code, m->file) : NULL;
	struct tx_add_calls own = { .file = f }, like = { .file = f };
	struct macro_store stores[STORES_MAX];
	size_t n = f ? macro_stores(r->code, m, f, stores, STORES_MAX) : 0, nleft = 0, left = 0;
	int result = 0;

	if (n == 0 || is_argument(x, at, use))
		return 0;
	tx_add_calls_of_macro(r, m, f, &own);
	for (size_t i = 0; i < x->unit->nmacros; i++)
		if (strcmp(x->unit->macros[i].file, m->file) == 0)
			tx_add_calls_of_macro(r, &x->unit->macros[i], f, &like);
	for (size_t i = 0; i < n; i++)
		if (!is_logged_inside(r, &own, &stores[i]) &&
		    !is_logged_outside(r, x, m, use, &stores[i])) {
			left = i;
			nleft++;
		}
	if (own.list.n > 0) { /* the macro logs, so only transactions use it */
		result = nleft == 1 && stores[left].is_plain &&
					 (!r->options->root ||
					  path_is_below(f->path, r->options->root))
				 ? 1
				 : -1;
		*why = text_format(r->code, "the store is not found in macro %s; check by hand",
				   m->name);
	}
	if (result == 1)
		note(r, x, m, f, &stores[left], call_text(r, &like, stores[left].lvalue));
	vec_release(&own.list);
	vec_release(&like.list);
	return result;
}

const struct tx_macro_log *tx_macro_log_of(const struct repair *r, size_t bug)
{
	for (size_t i = 0; i < r->tx->macro_logs.n; i++)
		if (r->tx->macro_logs.at[i].bug == bug)
			return &r->tx->macro_logs.at[i];
	return NULL;
}

void tx_emit_macro_logs(struct repair *r)
{
	for (size_t i = 0; i < r->tx->macro_logs.n; i++) {
		const struct tx_macro_log *l = &r->tx->macro_logs.at[i];

		if (!l->is_again && macro_insert(r->code, l->file, &l->store,
						 text_format(r->code, "%s;", l->text), false))
			r->nlogs++;
	}
}
