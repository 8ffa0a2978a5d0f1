/* Finds how a file logs ranges: its calls of libpmemobj's macros and functions, and of the
 * program's own functions and macros that only pass a range on to these. Each call has a form,
 * which says what its arguments mean and so what it logs: TX_ADD_FIELD(o, f) has FORM_FIELD. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

static const struct known {
	const char *name;
	enum tx_form form;
} known[] = {
	{ "TX_ADD", FORM_OBJECT },
	{ "TX_ADD_FIELD", FORM_FIELD },
	{ "TX_ADD_DIRECT", FORM_POINTER },
	{ "TX_ADD_FIELD_DIRECT", FORM_MEMBER },
	{ "pmemobj_tx_add_range", FORM_HANDLE },
	{ "pmemobj_tx_add_range_direct", FORM_RANGE },
};

static const struct known *known_find(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

/* ---- what a function or macro passes on ---- */

static bool is_word(const char *text, const char *word)
{
	return word && strcmp(text, word) == 0;
}

/* Returns the text without blanks, and without parentheses around a name. */
const char *tx_bare(struct repair *r, const char *text)
{
	char *out = arena_alloc(&r->code->arena, strlen(text) + 1), *to = out;

	for (const char *p = text; *p; p++) {
		const char *end = p + 1;

		if (isspace((unsigned char)*p))
			continue;
		while (*p == '(' && (isalnum((unsigned char)*end) || *end == '_'))
			end++;
		if (*p == '(' && *end == ')' &&
		    (p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'))) {
			memcpy(to, p + 1, (size_t)(end - p - 1));
			to += end - p - 1;
			p = end;
			continue;
		}
		*to++ = *p;
	}
	*to = 0;
	return out;
}

/* Finds the form of a function from the address and length that it passes on, if they are made of
 * its parameters. */
static bool form_of_range(const char *const *args, const char *const *names, size_t nnames,
			  struct tx_how *how)
{
	for (size_t i = 0; i < nnames; i++) {
		size_t len = strlen(names[i]);

		if (is_word(args[0], names[i]) && strncmp(args[1], "sizeof", 6) == 0) {
			*how = (struct tx_how){ FORM_POINTER, i, 0 };
			return true;
		}
		if (args[0][0] == '&' && is_word(args[0] + 1, names[i])) {
			*how = (struct tx_how){ FORM_LVALUE, i, 0 };
			return true;
		}
		for (size_t k = 0; k < nnames; k++) {
			if (is_word(args[0], names[i]) && is_word(args[1], names[k])) {
				*how = (struct tx_how){ FORM_RANGE, i, k };
				return true;
			}
			if (args[0][0] == '&' && strncmp(args[0] + 1, names[i], len) == 0 &&
			    strncmp(args[0] + 1 + len, "->", 2) == 0 &&
			    is_word(args[0] + len + 3, names[k])) {
				*how = (struct tx_how){ FORM_MEMBER, i, k };
				return true;
			}
		}
	}
	return false;
}

/* Like form_of_range(), for a call of a known macro to which the parameters are passed
 * unchanged. */
static bool form_of_known(const struct known *k, const char *const *args, size_t nargs,
			  const char *const *names, size_t nnames, struct tx_how *how)
{
	struct tx_how h = { k->form, SIZE_MAX, SIZE_MAX };

	for (size_t i = 0; i < nnames; i++) {
		if (is_word(args[0], names[i]))
			h.first = i;
		if (nargs > 1 && is_word(args[1], names[i]))
			h.second = i;
	}
	*how = h;
	return h.first != SIZE_MAX && (nargs < 2 || h.second != SIZE_MAX);
}

static bool form_of_call(struct repair *r, const struct known *k, const char **args,
			 const char *const *names, size_t nnames, struct tx_how *how)
{
	const char *bares[3];
	size_t n = 0;

	for (; args && n < 3 && args[n]; n++)
		bares[n] = tx_bare(r, args[n]);
	if (n == 0 || k->form == FORM_HANDLE)
		return false;
	return k->form == FORM_RANGE ? n == 2 && form_of_range(bares, names, nnames, how)
				     : form_of_known(k, bares, n, names, nnames, how);
}

/* ---- functions of the program ---- */

enum { NAMES_MAX = 8 };

/* Reads the parameters' names from the text; for templates there is no other source. */
static size_t parameters_of(struct repair *r, const struct file *in,
			    const struct source_function *f, const char *names[NAMES_MAX])
{
	uint32_t at = clone_declarator(in, f->begin, f->body->begin, f->name);
	const char **args =
		at == UINT32_MAX ? NULL : text_arguments(r->code, in, at, f->body->begin);
	size_t n = 0;

	for (; args && args[n] && n < NAMES_MAX; n++) {
		size_t end = strcspn(args[n], "="), begin;

		while (end > 0 && isspace((unsigned char)args[n][end - 1]))
			end--;
		for (begin = end; begin > 0 && (isalnum((unsigned char)args[n][begin - 1]) ||
						args[n][begin - 1] == '_');)
			begin--;
		names[n] = text_copy(r->code, args[n] + begin, end - begin);
	}
	return n;
}

/* Finds the known function that is called. In a template the call is not resolved yet, so the text
 * is read. */
static const struct known *known_call(struct repair *r, const struct file *in,
				      const struct source_node *call)
{
	size_t len = 0;

	if (call->kind != SOURCE_CALL)
		return NULL;
	if (call->name && call->name[0])
		return known_find(call->name);
	while (isalnum((unsigned char)in->text[call->begin + len]) ||
	       in->text[call->begin + len] == '_')
		len++;
	return known_find(text_copy(r->code, in->text + call->begin, len));
}

static bool function_how(struct repair *r, const struct source_function *f, struct tx_how *how)
{
	const struct file *in = f->is_system ? NULL : file_open(r->code, f->file);
	const char *names[NAMES_MAX];
	size_t n = in ? parameters_of(r, in, f, names) : 0, ncalls = 0;
	bool is_found = false;

	for (const struct source_node *c = f->body; in && c; c = node_next(c, f->body)) {
		const struct known *k = known_call(r, in, c);

		if (node_is_assignment(c) && c->child && !node_is_own_variable(c->child))
			return false; /* it does more than log */
		if (!k)
			continue;
		ncalls++;
		is_found |=
			form_of_call(r, k, text_arguments(r->code, in, c->text_begin, c->text_end),
				     names, n, how);
	}
	return is_found && ncalls == 1;
}

/* ---- functions that remember what they have logged ---- */

/* Asks whether the function stores to a part of the parameter. */
static bool stores_through(struct repair *r, const struct file *in, const struct source_function *f,
			   const char *name)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (node_is_assignment(n) && n->child &&
		    text_has_word(text_of(r->code, in, n->child), name))
			return true;
	return false;
}

/* Asks whether the function logs the object of one parameter unless it did so before in this
 * transaction. It remembers that somewhere outside of the object. */
static bool remembers(struct repair *r, const struct source_unit *u,
		      const struct source_function *f, struct tx_how *how)
{
	const struct file *in =
		f->is_system || !f->returns_void ? NULL : file_open(r->code, f->file);
	bool is_found = false;
	size_t nlogs = 0;

	for (size_t i = 0; in && i < u->nuses; i++) {
		const struct source_use *use = &u->uses[i];
		const struct known *k = use->begin >= f->body->begin && use->end <= f->body->end &&
							strcmp(use->file, f->file) == 0
						? known_find(use->name)
						: NULL;
		const char **args = k && (k->form == FORM_OBJECT || k->form == FORM_POINTER)
					    ? text_arguments(r->code, in, use->begin, use->end)
					    : NULL;

		nlogs += k != NULL;
		for (size_t p = 0; args && args[0] && p < f->nparameters; p++)
			if (is_word(args[0], f->parameters[p].name) &&
			    !node_assigns(f->body, NULL, args[0]) &&
			    !stores_through(r, in, f, args[0])) {
				*how = (struct tx_how){ k->form, p, 0 };
				is_found = true;
			}
	}
	return nlogs == 1 && is_found;
}

/* ---- macros of the program ---- */

/* Asks whether the statement that contains p names one of these names before `end`. */
static bool names_one(struct repair *r, const char *text, const char *p, const char *end,
		      const char **names)
{
	const char *from = p, *statement;

	while (from > text && !strchr(";{}", from[-1]))
		from--;
	statement = text_copy(r->code, from, (size_t)(end - from));
	for (size_t i = 0; names[i]; i++)
		if (text_has_word(statement, names[i]))
			return true;
	return false;
}

/* Asks whether the macro stores to one of its arguments. Then it is no way to log. */
static bool stores(struct repair *r, const char *text, const char **names)
{
	for (const char *p = text; *p; p++) {
		bool is_step = strncmp(p, "++", 2) == 0 || strncmp(p, "--", 2) == 0;

		if ((is_step && names_one(r, text, p, p + strcspn(p, ";}"), names)) ||
		    (*p == '=' && p[1] != '=' && (p == text || !strchr("=!<>", p[-1])) &&
		     names_one(r, text, p, p, names)))
			return true;
	}
	return false;
}

/* Finds out how a macro logs: reads its definition from its name on, as if that were a source
 * file. */
static bool macro_how(struct repair *r, const struct source_unit *u, const struct source_macro *m,
		      struct tx_how *how)
{
	struct file text = { .text = (char *)m->text, .len_bytes = (uint32_t)strlen(m->text) };
	const char **names = m->is_function && !m->is_system
				     ? text_arguments(r->code, &text, 0, text.len_bytes)
				     : NULL;
	const char *body = names ? strchr(m->text, ')') : NULL;
	size_t n = 0;

	while (names && names[n])
		n++;
	if (body && stores(r, body, names))
		return false;
	for (const char *p = body; p && *p;) {
		size_t len = 0;
		const char *name;
		const struct known *k;
		const struct source_function *f;
		struct tx_how own;

		while (isalnum((unsigned char)p[len]) || p[len] == '_')
			len++;
		if (len == 0) {
			p++;
			continue;
		}
		name = text_copy(r->code, p, len);
		k = known_find(name);
		f = k ? NULL : function_named(u, name);
		if (k && form_of_call(r, k,
				      text_arguments(r->code, &text, (uint32_t)(p - m->text),
						     text.len_bytes),
				      names, n, how))
			return true;
		if (f && function_how(r, f, &own) && own.form == FORM_RANGE && own.first == 0 &&
		    own.second == 1)
			return form_of_call(r, known_find("pmemobj_tx_add_range_direct"),
					    text_arguments(r->code, &text, (uint32_t)(p - m->text),
							   text.len_bytes),
					    names, n, how);
		p += len;
	}
	return false;
}

static const struct source_macro *macro_named(const struct source_unit *u, const char *name)
{
	for (size_t i = 0; i < u->nmacros; i++)
		if (strcmp(u->macros[i].name, name) == 0)
			return &u->macros[i];
	return NULL;
}

/* ---- the calls of a file ---- */

static void add_call(struct repair *r, struct tx_add_calls *all, struct file *f, uint32_t begin,
		     uint32_t end, struct tx_how how, bool is_own)
{
	const char **args = text_arguments(r->code, f, begin, end);
	const char *open = memchr(f->text + begin, '(', end - begin);
	size_t n = 0;

	while (args && args[n])
		n++;
	if (!open || n <= how.first ||
	    (how.form != FORM_OBJECT && how.form != FORM_POINTER && how.form != FORM_LVALUE &&
	     n <= how.second))
		return;
	*vec_add(&all->list) =
		(struct tx_add_call){ .begin = begin,
				      .end = end,
				      .how = how,
				      .callee = text_copy(r->code, f->text + begin,
							  (size_t)(open - f->text - begin)),
				      .args = args,
				      .nargs = n,
				      .is_own = is_own };
}

static void add_macros(struct repair *r, struct tx_add_calls *all, const struct source_unit *u,
		       struct file *f)
{
	for (size_t i = 0; i < u->nuses; i++) {
		const struct source_use *use = &u->uses[i];
		const struct known *k = known_find(use->name);
		const struct source_macro *m = k ? NULL : macro_named(u, use->name);
		struct tx_how how = { k ? k->form : FORM_RANGE, 0, 1 };

		if (strcmp(use->file, f->path) == 0 && use->end <= f->len_bytes &&
		    strncmp(f->text + use->begin, use->name, strlen(use->name)) == 0 &&
		    (k || (m && macro_how(r, u, m, &how))))
			add_call(r, all, f, use->begin, use->end, how, !k);
	}
}

static void add_functions(struct repair *r, struct tx_add_calls *all, const struct source_unit *u,
			  struct file *f, const struct source_function *in)
{
	struct tx_how how;

	if (function_how(r, in, &how))
		return; /* this function is one of the ways to log */
	for (const struct source_node *n = in->body; n; n = node_next(n, in->body)) {
		const struct known *k =
			n->kind == SOURCE_CALL && n->name ? known_find(n->name) : NULL;
		const struct source_function *own =
			n->kind == SOURCE_CALL && n->name && !k ? function_named(u, n->name) : NULL;
		bool is_snapshot =
			n->kind == SOURCE_CALL && n->name && strcmp(n->name, "snapshot") == 0 &&
			!own &&
			memmem(f->text + n->begin, n->end - n->begin, "transaction::snapshot", 21);

		bool is_once = false;

		how = (struct tx_how){ k ? k->form : FORM_POINTER, 0, k ? 1 : 0 };
		if (!k && !is_snapshot && own && !function_how(r, own, &how)) {
			is_once = remembers(r, u, own, &how);
			own = is_once ? own : NULL;
		}
		if ((!k && !is_snapshot && !own) || macro_use(u, f->path, n))
			continue;
		add_call(r, all, f, n->begin, n->end, how, !k);
		if (is_once && all->list.n > 0)
			all->list.at[all->list.n - 1].once = own;
	}
}

const struct tx_add_calls *tx_add_calls_of(struct repair *r, const struct source_unit *u,
					   struct file *f)
{
	struct tx_add_calls *all;

	for (size_t i = 0; i < r->tx->add_calls.n; i++)
		if (r->tx->add_calls.at[i]->file == f)
			return r->tx->add_calls.at[i];
	all = xcalloc(1, sizeof *all);
	all->file = f;
	*vec_add(&r->tx->add_calls) = all;
	add_macros(r, all, u, f);
	for (size_t i = 0; i < u->nfunctions; i++)
		if (u->functions[i].body && strcmp(u->functions[i].file, f->path) == 0)
			add_functions(r, all, u, f, &u->functions[i]);
	return all;
}

void tx_add_calls_of_macro(struct repair *r, const struct source_macro *m, struct file *f,
			   struct tx_add_calls *all)
{
	uint32_t end = m->begin + (uint32_t)strlen(m->text);

	for (uint32_t at = m->begin, len; at < end; at += len ? len : 1) {
		const struct known *k;
		size_t n;

		for (len = 0;
		     isalnum((unsigned char)f->text[at + len]) || f->text[at + len] == '_';)
			len++;
		k = len ? known_find(text_copy(r->code, f->text + at, len)) : NULL;
		n = all->list.n;
		if (k)
			add_call(r, all, f, at, end, (struct tx_how){ k->form, 0, 1 }, false);
		for (size_t i = 0; all->list.n > n && i < all->list.at[n].nargs; i++)
			all->list.at[n].args[i] = tx_bare(r, all->list.at[n].args[i]);
	}
}

bool tx_add_call_is_whole(const struct tx_add_call *c)
{
	const char *what = c->args[c->how.first];

	switch (c->how.form) {
	case FORM_OBJECT: return true;
	case FORM_FIELD:
	case FORM_MEMBER: return false;
	case FORM_HANDLE: return strcmp(c->args[1], "0") == 0;
	case FORM_POINTER:
	case FORM_RANGE: return what[0] != '&' && !strchr(what, '[');
	case FORM_LVALUE: return what[0] == '*';
	}
	return false;
}
