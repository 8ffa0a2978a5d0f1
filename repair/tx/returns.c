/* Moves returns out of a transaction: the value goes to a variable, control goes to the
 * transaction's end, and the return is done behind it. A return that is the last statement needs no
 * jump. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* Returns the function's return type as it is written. */
static const char *return_type(struct repair *r, const struct tx *t)
{
	static const char *const words[] = { "static", "inline", "extern", "__inline",
					     "__inline__" };
	const struct source_function *f = t->x.function;
	const char *text = t->x.file->text + f->begin, *end = strstr(text, f->name);
	bool is_cut = true;

	if (!end || end >= t->x.file->text + f->body->begin)
		return NULL;
	while (is_cut) {
		is_cut = false;
		while (isspace((unsigned char)*text))
			text++;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (strncmp(text, words[i], strlen(words[i])) == 0 &&
			    isspace((unsigned char)text[strlen(words[i])])) {
				text += strlen(words[i]);
				is_cut = true;
			}
	}
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	return end > text && end[-1] != ':' ? text_copy(r->code, text, (size_t)(end - text)) : NULL;
}

static void rewrite_return(struct repair *r, struct tx *t, const struct source_node *n)
{
	uint32_t end = statement_end(t->x.file, n), value = n->child ? n->child->begin : end;
	const char *leave =
		n == t->last ? "" : text_format(r->code, "%s = 1; goto %s; }", t->flag, t->label);

	if (!n->child) {
		*vec_add(&t->changes) = (struct tx_change){
			n->begin, end, n == t->last ? ";" : text_format(r->code, "{ %s", leave)
		};
		return;
	}
	*vec_add(&t->changes) =
		(struct tx_change){ n->begin, value,
				    text_format(r->code, "%s%s = ", n == t->last ? "" : "{ ",
						t->result) };
	if (n != t->last)
		*vec_add(&t->changes) =
			(struct tx_change){ end, end, text_format(r->code, " %s", leave) };
}

/* Asks whether the transaction contains a declaration. In C++, no jump may cross an
 * initialisation. */
static bool has_declarations(const struct tx *t)
{
	for (const struct source_node *s = t->first;; s = s->next) {
		if (s->kind == SOURCE_DECL)
			return true;
		if (s == t->last)
			return false;
	}
}

int tx_redirect_returns(struct repair *r, struct tx *t)
{
	const struct source_node *body = t->x.function->body;
	size_t n_inside = 0;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		if (n->kind == SOURCE_RETURN && tx_holds(t, n) && node_is_in_lambda(t->first)) {
			t->why = text_format(r->code,
					     "line %u returns out of the transaction, in a lambda",
					     n->line);
			return -1;
		}
		if (n->kind != SOURCE_RETURN || !tx_holds(t, n) || node_is_in_lambda(n))
			continue;
		if (t->wrapper) {
			t->why = text_format(
				r->code,
				"line %u returns out of the transaction, which would be a lambda",
				n->line);
			return -1;
		}
		if (macro_use(t->x.unit, t->x.file->path, n)) {
			t->why = text_format(r->code,
					     "a macro in line %u returns out of the transaction",
					     n->line);
			return -1;
		}
		if (n == t->last)
			t->returns_at_end = true;
		else
			n_inside++;
	}
	if (!n_inside && !t->returns_at_end)
		return 0;
	if (!t->x.function->returns_void) {
		t->result_type = return_type(r, t);
		t->result = tx_free_name(r, t, "result");
	}
	if ((!t->x.function->returns_void && !t->result_type) ||
	    (n_inside && t->x.unit->is_cplusplus && has_declarations(t))) {
		t->why = "a return inside the transaction cannot be moved after it";
		return -1;
	}
	if (n_inside) {
		t->flag = tx_free_name(r, t, "is_returning");
		t->label = tx_free_name(r, t, "tx_done");
	}
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_RETURN && tx_holds(t, n) && !node_is_in_lambda(n))
			rewrite_return(r, t, n);
	return 0;
}
