/* Names for what a transaction adds to a function: not used in it, nor given to another transaction of it. */
#include "repair/tx/internal.h"

/* Names that transactions of the function get. */
static const char *names_given(struct repair *r, const struct tx *t)
{
	const char *text = "";

	for (size_t i = 0; i < r->tx->list.n + 1; i++) {
		const struct tx *o = i < r->tx->list.n ? r->tx->list.at[i] : t;

		if (o->x.function != t->x.function)
			continue;
		text = text_format(r->code, "%s %s %s %s %s", text, o->result ? o->result : "", o->flag ? o->flag : "", o->label ? o->label : "",
				   o->aborted ? o->aborted : "");
		for (size_t k = 0; k < o->declarations.n; k++)
			text = text_format(r->code, "%s %s", text, o->declarations.at[k]);
	}
	return text;
}

const char *tx_free_name(struct repair *r, const struct tx *t, const char *name)
{
	const struct source_function *f = t->x.function;
	const char *body = text_copy(r->code, t->x.file->text + f->begin, f->end - f->begin), *given = names_given(r, t), *free_name = name;

	for (unsigned i = 2; text_has_word(body, free_name) || text_has_word(given, free_name); i++)
		free_name = text_format(r->code, "%s%u", name, i);
	return free_name;
}
